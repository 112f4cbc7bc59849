"""What goes into and comes out of the four verbs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from attrs import Factory, field, frozen

from hindbrain.contracts._checks import check_bound, check_floor, check_time, choice, clean_tags, clean_text, refusal
from hindbrain.contracts._errors import BackendRequestError
from hindbrain.contracts._ids import check_document_id
from hindbrain.contracts._tags import TagGroup, TagLeaf, TagsMatch, check_tags, to_groups, to_match


class UpdateMode(StrEnum):
    """What a retain does to a document that exists."""

    REPLACE = "replace"
    APPEND = "append"


class FactType(StrEnum):
    """The kinds of fact a bank holds."""

    WORLD = "world"
    EXPERIENCE = "experience"
    OBSERVATION = "observation"


class Budget(StrEnum):
    """How hard a recall searches."""

    LOW = "low"
    MID = "mid"
    HIGH = "high"


class OperationStatus(StrEnum):
    """Where an asynchronous retain stands. Source: spec/hindsight-server.md section 4.2."""

    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    NOT_FOUND = "not_found"

    @property
    def terminal(self) -> bool:
        """Whether it can no longer change. ``not_found`` is not terminal: acceptance may be late."""
        return self in {OperationStatus.COMPLETED, OperationStatus.FAILED, OperationStatus.CANCELLED}


_SCOPE_WORDS = frozenset({"per_tag", "combined", "all_combinations", "shared"})
Scopes = str | tuple[tuple[str, ...], ...]


def _mode(value: str) -> UpdateMode:
    return choice(UpdateMode, value, "update_mode")


def _budget(value: str) -> Budget:
    return choice(Budget, value, "budget")


def _content(value: str) -> str:
    return clean_text(value, "content")


def _query(value: str) -> str:
    return clean_text(value, "query")


def _optional(value: str | None) -> str | None:
    return None if value is None else clean_text(value, "context")


def _metadata(values: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(values, Mapping) or not all(isinstance(t, str) for pair in values.items() for t in pair):
        raise refusal("metadata", "strings as keys and as values")
    return {clean_text(key, "metadata"): clean_text(value, "metadata") for key, value in values.items()}


def _scopes(value: str | Iterable[Iterable[str]] | None) -> Scopes | None:
    if value is None or (isinstance(value, str) and value in _SCOPE_WORDS):
        return value
    rows = () if isinstance(value, str) else tuple(clean_tags(row, "observation_scopes") for row in value)
    if not rows or not all(rows):
        # A server takes an empty list as 'combined' and an empty row as an observation without any tag.
        raise refusal("observation_scopes", f"one of {', '.join(sorted(_SCOPE_WORDS))}, or rows of at least one tag")
    return rows


def _types(values: Iterable[str] | None) -> tuple[FactType, ...] | None:
    if values is None:
        return None
    names = () if isinstance(values, str) else tuple(dict.fromkeys(values))
    if not names:
        # A server takes an empty list as every type.
        raise refusal("types", "None for every type, or a list of at least one type")
    return tuple(choice(FactType, name, "types") for name in names)


def _query_tags(values: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if values is None else clean_tags(values)


@frozen(kw_only=True)
class RetainItem:
    """One text to remember, and what is known about it.

    ``content`` must not be blank; lone surrogates in it become U+FFFD. An ``append`` overwrites the document's tags and
    metadata on a real server, so always pass the full set. ``timestamp`` is ISO 8601 with a zone; None means now.
    ``observation_scopes`` is one of the server's words (``per_tag``, ``combined``, ``all_combinations``, ``shared``) or
    rows of tags; None is ``combined``, the only one under which an observation surely keeps all tags.

    Raises:
        BackendRequestError: the content is blank, or another value does not have the form its field asks for.

    Source: spec/hindsight-server.md section 4.1; captures a077 to a093.
    """

    content: str = field(repr=False, converter=_content)
    document_id: str
    context: str | None = field(default=None, repr=False, converter=_optional)
    timestamp: str | None = None
    metadata: Mapping[str, str] = field(factory=dict, repr=False, converter=_metadata)
    tags: tuple[str, ...] = field(default=(), converter=clean_tags)
    update_mode: UpdateMode = field(default=UpdateMode.REPLACE, converter=_mode)
    observation_scopes: Scopes | None = field(default=None, converter=_scopes)
    strategy: str | None = None

    def __attrs_post_init__(self) -> None:
        check_document_id(self.document_id)
        check_time(self.timestamp, "timestamp")
        if not self.content.strip():
            raise BackendRequestError("The content to retain is blank; nothing was sent.", next_step="Give it text.")
        if self.strategy is not None and not (isinstance(self.strategy, str) and self.strategy.strip()):
            raise refusal("strategy", "a name, or None for the bank's own")


@frozen(kw_only=True)
class Retained:
    """The acknowledgement of a retain: accepted, not yet searchable.

    ``operation_id`` is the backend's own id, which may differ from the one sent. ``items`` and ``tokens`` are None
    where the backend does not tell. ``status`` is where the operation stands: one that is not completed may still fail,
    and only :meth:`Backend.status` tells.
    """

    operation_id: str
    operation_ids: tuple[str, ...] = ()
    items: int | None = None
    tokens: int | None = None
    status: OperationStatus = OperationStatus.COMPLETED


@frozen(kw_only=True)
class Operation:
    """The state of one retain. ``facts`` is the number of facts stored, None where the backend does not tell."""

    operation_id: str
    status: OperationStatus
    facts: int | None = None


@frozen(kw_only=True)
class MinScores:
    """Floors per stage, passed to the backend as they are; None means no floor.

    Raises:
        BackendRequestError: a floor is not a finite number.
    """

    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None
    final: float | None = None

    def __attrs_post_init__(self) -> None:
        for name in ("semantic", "keyword", "reranker", "final"):
            check_floor(getattr(self, name), f"min_scores.{name}")


@frozen(kw_only=True)
class RecallQuery:
    """One question to a bank.

    Either ``tags`` with ``tags_match`` or ``tag_groups``, not both (a server answers 422). ``tags`` None means no tag
    filter. ``types`` None means every type. ``max_tokens`` bounds the returned texts, in the backend's token count.
    ``source_fact_tokens`` None leaves source facts out. ``timestamp`` anchors relative time, ISO 8601 with a zone.

    Raises:
        BackendRequestError: both filters are given, a tag list is empty without ``exact``, a list of types is empty, a
            bound is not a whole number from 1 up, or another value does not have the form its field asks for.

    Source: spec/hindsight-server.md section 4.3; captures a134 to a169.
    """

    text: str = field(repr=False, converter=_query)
    tags: tuple[str, ...] | None = field(default=None, converter=_query_tags)
    tags_match: TagsMatch = field(default=TagsMatch.ANY_STRICT, converter=to_match)
    tag_groups: tuple[TagGroup, ...] = field(default=(), converter=to_groups)
    types: tuple[FactType, ...] | None = field(default=(FactType.OBSERVATION,), converter=_types)
    budget: Budget = field(default=Budget.MID, converter=_budget)
    max_tokens: int = 4096
    prefer_observations: bool | None = None
    source_fact_tokens: int | None = None
    min_scores: MinScores | None = None
    timestamp: str | None = None

    def __attrs_post_init__(self) -> None:
        if self.tags is not None:
            check_tags(self.tags, self.tags_match)
            if self.tag_groups:
                raise BackendRequestError(
                    "Tags and tag groups were given together; nothing was sent.", next_step="Use one of the two."
                )
        if self.max_tokens is None:
            raise refusal("max_tokens", "a whole number from 1 up")
        check_bound(self.max_tokens, "max_tokens")
        check_bound(self.source_fact_tokens, "source_fact_tokens")
        check_time(self.timestamp, "timestamp")

    @property
    def filter(self) -> tuple[TagGroup, ...]:
        """The tag filter in one form, AND-ed; empty means none."""
        return self.tag_groups if self.tags is None else (TagLeaf(self.tags, self.tags_match),)

    @property
    def askable(self) -> bool:
        """Whether the text holds a word character. Without one a backend answers nothing and sends nothing."""
        return any(c.isalnum() for c in self.text)


@frozen(kw_only=True)
class Scores:
    """Scores of one fact per stage; None where the stage did not run. Not comparable between queries."""

    final: float | None = None
    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None


@frozen(kw_only=True)
class Fact:
    """One recalled fact. An observation has no document; its ``source_fact_ids`` name the facts it rests on."""

    id: str
    text: str = field(repr=False)
    type: FactType | None = None
    document_id: str | None = None
    context: str | None = field(default=None, repr=False)
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(factory=dict, repr=False)
    mentioned_at: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    chunk_id: str | None = None
    source_fact_ids: tuple[str, ...] = ()
    scores: Scores = Factory(Scores)


@frozen(kw_only=True)
class Recall:
    """What a recall found, best first, and the source facts that came with it, by id."""

    facts: tuple[Fact, ...] = ()
    source_facts: Mapping[str, Fact] = field(factory=dict, repr=False)


@frozen(kw_only=True)
class Deleted:
    """The result of a delete. ``found`` False means the document was not there (any more)."""

    found: bool
    facts: int = 0
