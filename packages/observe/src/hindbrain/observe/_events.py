"""What a ledger entry says, once it is read.

Source: spec/observe.md section 1.1; decisions.md, "Observational memory".
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import frozen

from hindbrain.observe._records import Observation, Reflection

OBSERVED = "om.observations.recorded"
REFLECTED = "om.reflections.recorded"
DROPPED = "om.observations.dropped"
SUPERSEDED = "om.reflections.dropped"
GATE = "om.gate"
FOLDED = "om.folded"


@frozen(kw_only=True)
class Observed:
    """Observations of one chunk. ``covers`` is the last entry of it; ``zone`` that of the ledger, None in old ones.

    Without any observation it is the verdict that the chunk held nothing to record.
    """

    observations: tuple[Observation, ...]
    covers: str
    zone: str | None = None


@frozen(kw_only=True)
class Reflected:
    """Reflections, made when observations reached ``covers``.

    Without any it is the verdict that there was nothing lasting to say.
    """

    reflections: tuple[Reflection, ...]
    covers: str


@frozen(kw_only=True)
class Dropped:
    """Observations that left active memory."""

    ids: tuple[str, ...]
    covers: str


@frozen(kw_only=True)
class Superseded:
    """Reflections that others replaced."""

    ids: tuple[str, ...]
    covers: str


@frozen(kw_only=True)
class Gate:
    """Whether memory runs in this session from here on."""

    enabled: bool


@frozen(kw_only=True)
class RenderBudget:
    """What a compaction had to work with and what it used, in tokens and lines."""

    max_tokens: float
    rendered_tokens: float
    tail_tokens: float
    soft_limit: float
    trimmed_observations: float
    trimmed_reflections: float


@frozen(kw_only=True)
class Unobserved:
    """Sources before a cut that no observer had seen yet: the first and the last, their number and their tokens."""

    id: str
    first: str
    last: str
    entries: int
    tokens: int


@frozen(kw_only=True)
class Folded:
    """The details of a compaction that was made from memory: the records that were shown."""

    full_fold: bool
    observations: tuple[Observation, ...]
    reflections: tuple[Reflection, ...]
    budget: RenderBudget | None = None
    unobserved: Unobserved | None = None


Event: TypeAlias = Observed | Reflected | Dropped | Superseded | Gate
