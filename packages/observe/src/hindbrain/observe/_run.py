"""What one run of the workers did, as values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from attrs import field, frozen


class Stage(StrEnum):
    """A worker. They run in this order; the enforcer asks no model."""

    OBSERVER = "observer"
    REFLECTOR = "reflector"
    DROPPER = "dropper"
    ENFORCER = "enforcer"


@frozen(kw_only=True)
class StageFailure:
    """A stage that failed: its error's code, and a sentence for the user that repeats nothing of the session."""

    stage: Stage
    code: str
    text: str


@frozen(kw_only=True)
class ConsolidationRun:
    """One run of the workers.

    The numbers count ledger records: ``observed``, ``reflected``, ``superseded`` and ``dropped`` are the workers',
    ``reclaimed`` the enforcer's.

    Attributes:
        empty: the observer looked at its chunk and found nothing to record; coverage moved past the chunk.
        unavailable: a worker was due and there was no model.
        moved: the conversation went to another branch, and the run ended there.
        calls: model calls of each stage, retries among them.
        cost_usd: what they cost, as far as the model told.
        input_tokens: what they read, as far as the model told; ``output_tokens`` what they wrote.
    """

    run_id: str
    observed: int = 0
    reflected: int = 0
    superseded: int = 0
    dropped: int = 0
    reclaimed: int = 0
    empty: bool = False
    unavailable: bool = False
    moved: bool = False
    failures: tuple[StageFailure, ...] = ()
    calls: Mapping[Stage, int] = field(factory=dict)
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def changed(self) -> bool:
        """Whether memory is another one now."""
        return any((self.observed, self.reflected, self.superseded, self.dropped, self.reclaimed))
