"""What a memory is made of: observations with their sources, reflections with the observations they rest on.

Source: 004_d1a6c9e182f889a8.txt, "Core features"; spec/observe.md section 1.2; decisions.md, "Observational memory".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from enum import StrEnum

from attrs import field, frozen

from hindbrain.contracts import neutralise
from hindbrain.observe._errors import EmptyRecordError
from hindbrain.observe._times import instant, written
from hindbrain.observe._tokens import cut_units, tokens, units

ID = re.compile(r"[0-9a-f]{12}")
LONGEST = 10_000
"""The units of a record's content; what is longer is cut and says so."""


class Relevance(StrEnum):
    """How much it would cost to forget this."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Kind(StrEnum):
    """What an observation is: the user's own word, a choice, a fact, or work that was done."""

    USER = "user"
    DECISION = "decision"
    FACT = "fact"
    PROGRESS = "progress"


KIND_RANK = {Kind.DECISION: 0, Kind.USER: 1, Kind.FACT: 2, Kind.PROGRESS: 3}
RELEVANCE_RANK = {Relevance.CRITICAL: 0, Relevance.HIGH: 1, Relevance.MEDIUM: 2, Relevance.LOW: 3}
"""0 is what is kept longest."""
_RANKS = {(k, r): (KIND_RANK[k], RELEVANCE_RANK[r]) for k in Kind for r in Relevance}


@frozen(kw_only=True, eq=True)
class Observation:
    """One event, with the entries it was seen in.

    ``timestamp`` is shown as it is; ``at`` is its moment in milliseconds since 1970 UTC, None where nobody knows.
    ``token_count`` is what its writer counted. ``line`` and ``cost`` are the line a model reads and its tokens.
    ``rank`` is how long its kind and then its relevance are kept; 0 the longest.
    """

    id: str
    content: str
    timestamp: str
    relevance: Relevance
    kind: Kind
    source_ids: tuple[str, ...]
    token_count: float
    at: int | None = None
    line: str = field(init=False, repr=False, eq=False)
    cost: int = field(init=False, repr=False, eq=False)
    rank: tuple[int, int] = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "rank", _RANKS[self.kind, self.relevance])
        line = neutralise(f"[{self.id}] {self.timestamp} [{self.relevance.value}] {self.content}")
        object.__setattr__(self, "line", line)
        object.__setattr__(self, "cost", tokens(line + "\n"))


@frozen(kw_only=True, eq=True)
class Reflection:
    """One statement that lasts, on one line, with the observations it was distilled from."""

    id: str
    content: str
    support_ids: tuple[str, ...]
    token_count: float
    line: str = field(init=False, repr=False, eq=False)
    cost: int = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        line = neutralise(f"[{self.id}] {self.content}")
        object.__setattr__(self, "line", line)
        object.__setattr__(self, "cost", tokens(line + "\n"))


def record_id(content: str) -> str:
    """The id of a record: the first 12 hex digits of its content's SHA-256."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def is_record_id(text: object) -> bool:
    """Whether this is the id of a record: 12 lower-case hex digits and nothing else."""
    return isinstance(text, str) and ID.fullmatch(text) is not None


def bounded(content: str) -> str:
    """One line of at most 10 000 units, and a note of how many were left out."""
    line = neutralise(content)
    if (length := units(line)) <= LONGEST:
        return line
    kept = cut_units(line, LONGEST)
    return f"{kept} … [{length - units(kept)} characters left out]"


def _said(content: str, rests_on: Sequence[str]) -> str:
    line = bounded(content)
    if not line or not rests_on or not all(rests_on):
        raise EmptyRecordError
    return line


def make_observation(
    content: str, *, at: int | None, sources: Sequence[str], relevance: Relevance, kind: Kind, zone: str = "UTC"
) -> Observation:
    """Make an observation as we write them: one line, its id from its content, its time in the ledger's zone.

    Args:
        content: what happened; whatever it holds, the record is one line.
        at: its moment, as :func:`hindbrain.observe.moment_of` finds it.
        sources: ids of the entries it was seen in, at least one.
        relevance: what forgetting it would cost.
        kind: what it is.
        zone: the ledger's zone.

    Raises:
        EmptyRecordError: there is nothing to see in ``content``, or no source.
    """
    line = _said(content, sources)
    key, time = record_id(line), written(at, zone)
    return Observation(
        id=key,
        content=line,
        timestamp=time,
        relevance=relevance,
        kind=kind,
        source_ids=tuple(dict.fromkeys(sources)),
        token_count=tokens(f"[{key}] {time} [{relevance.value}] {line}"),
        at=at if at is not None else instant(time),
    )


def make_reflection(content: str, *, supports: Sequence[str]) -> Reflection:
    """Make a reflection as we write them: one line, trimmed, its id from its content.

    Args:
        content: the statement.
        supports: ids of the observations it rests on, at least one.

    Raises:
        EmptyRecordError: there is nothing to see in ``content``, or no support.
    """
    line = _said(content, supports)
    return Reflection(
        id=record_id(line), content=line, support_ids=tuple(dict.fromkeys(supports)), token_count=tokens(line)
    )
