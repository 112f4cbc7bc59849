"""What a settled turn came to."""

from __future__ import annotations

from attrs import field, frozen

from hindbrain.contracts import RetainJob
from hindbrain.generic._outbox import Flush


@frozen(kw_only=True)
class SettledTurn:
    """What a settled turn came to: the jobs made of its new entries, and what the flush did.

    ``passed_over`` counts messages the user kept out for good. ``skipped`` says why there is no job.
    """

    jobs: tuple[RetainJob, ...] = ()
    passed_over: int = 0
    flush: Flush = field(factory=Flush)
    skipped: str | None = None
