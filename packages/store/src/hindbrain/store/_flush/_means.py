"""What a flush works with, and where it ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import frozen

from hindbrain.contracts import Backend, RetainJob
from hindbrain.store._flush._backoff import Backoff
from hindbrain.store._flush._policy import FlushPolicy
from hindbrain.store._flush._report import ReceiptSink
from hindbrain.store._queue import DurableQueue
from hindbrain.store._worker import Worker

Gate = Callable[[RetainJob], Awaitable[bool]]
"""Whether a merge may be made. Source: spec/memory.md section 6.7 (the merged candidate is checked)."""


@frozen(kw_only=True)
class Means:
    """What a round works with."""

    queue: DurableQueue
    backend: Backend
    worker: Worker
    policy: FlushPolicy
    backoff: Backoff
    receipts: ReceiptSink | None
    gate: Gate | None
    clock: Callable[[], float]
    now: Callable[[], str]


@frozen(kw_only=True)
class Bounds:
    """Where a round ends: jobs, a moment of the clock, the first failure. ``force`` waits for nothing."""

    max_jobs: int | None = None
    deadline: float | None = None
    stop_on_first_failure: bool = False
    force: bool = False

    def check_time(self, now: float) -> None:
        """End the round where its time is up.

        Raises:
            Stopped: it is.
        """
        if self.deadline is not None and now >= self.deadline:
            raise Stopped("elapsed")


class Stopped(Exception):  # noqa: N818 - a signal within the round, never seen by a caller
    """The round ends here."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
