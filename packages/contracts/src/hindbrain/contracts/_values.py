"""What goes into and comes out of the four verbs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from attrs import Factory, field, frozen

from hindbrain.contracts._errors import BackendRequestError
from hindbrain.contracts._ids import check_document_id
from hindbrain.contracts._tags import TagGroup, TagLeaf, TagsMatch, check_tags


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


def _tags(tags: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tags))


@frozen(kw_only=True)
class RetainItem:
    """One text to remember, and what is known about it.

    ``content`` must not be blank. An ``append`` overwrites the document's tags and metadata on a real server, so always
    pass the full set. ``timestamp`` is ISO 8601 with a zone; None means now. ``observation_scopes`` is one of the
    server's words (``per_tag``, ``combined``, ``all_combinations``, ``shared``) or rows of tags; None is ``combined``.

    Raises:
        BackendRequestError: the content is blank, the document id is not one, or a list of scopes is empty.

    Source: spec/hindsight-server.md section 4.1.
    """

    content: str = field(repr=False)
    document_id: str
    context: str | None = field(default=None, repr=False)
    timestamp: str | None = None
    metadata: Mapping[str, str] = field(factory=dict, repr=False)
    tags: tuple[str, ...] = field(default=(), converter=_tags)
    update_mode: UpdateMode = field(default=UpdateMode.REPLACE, converter=UpdateMode)
    observation_scopes: str | tuple[tuple[str, ...], ...] | None = None
    strategy: str | None = None

    def __attrs_post_init__(self) -> None:
        check_document_id(self.document_id)
        if not self.content.strip():
            raise BackendRequestError("The content to retain is blank; nothing was sent.", next_step="Give it text.")
        if self.observation_scopes is not None and not self.observation_scopes:
            raise BackendRequestError(
                "An empty list of observation scopes is refused: a server takes it as 'combined'.",
                next_step="Leave it out, or name at least one scope.",
            )


@frozen(kw_only=True)
class Retained:
    """The acknowledgement of a retain: accepted, not yet searchable.

    ``operation_id`` is the backend's own id, which may differ from the one sent. ``items`` and ``tokens`` are None
    where the backend does not tell.
    """

    operation_id: str
    operation_ids: tuple[str, ...] = ()
    items: int | None = None
    tokens: int | None = None


@frozen(kw_only=True)
class Operation:
    """The state of one retain. ``facts`` is the number of facts stored, None where the backend does not tell."""

    operation_id: str
    status: OperationStatus
    facts: int | None = None


@frozen(kw_only=True)
class MinScores:
    """Floors per stage, passed to the backend as they are; None means no floor."""

    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None
    final: float | None = None


@frozen(kw_only=True)
class RecallQuery:
    """One question to a bank.

    Either ``tags`` with ``tags_match`` or ``tag_groups``, not both (a server answers 422). ``tags`` None means no tag
    filter. ``types`` None means every type. ``max_tokens`` bounds the returned texts, in the backend's token count.
    ``source_fact_tokens`` None leaves source facts out. ``timestamp`` anchors relative time, ISO 8601.

    Raises:
        BackendRequestError: both filters are given, a tag list is empty without ``exact``, or a bound is below 1.
    """

    text: str = field(repr=False)
    tags: tuple[str, ...] | None = None
    tags_match: TagsMatch = field(default=TagsMatch.ANY_STRICT, converter=TagsMatch)
    tag_groups: tuple[TagGroup, ...] = ()
    types: tuple[FactType, ...] | None = (FactType.OBSERVATION,)
    budget: Budget = field(default=Budget.MID, converter=Budget)
    max_tokens: int = 4096
    prefer_observations: bool | None = None
    source_fact_tokens: int | None = None
    min_scores: MinScores | None = None
    timestamp: str | None = None

    def __attrs_post_init__(self) -> None:
        if self.tags is not None:
            check_tags(self.tags, self.tags_match)
            if self.tag_groups:
                raise BackendRequestError("Give tags or tag groups, not both; nothing was sent.")
        if self.max_tokens < 1 or (self.source_fact_tokens is not None and self.source_fact_tokens < 1):
            raise BackendRequestError("A token bound below 1 is refused.", next_step="Use a whole number from 1 up.")

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
