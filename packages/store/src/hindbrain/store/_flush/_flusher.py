"""Empties the queue into the backend, one flusher at a time over all processes."""

from __future__ import annotations

import random as _random
import time
from collections.abc import Callable
from datetime import UTC, datetime

from hindbrain.contracts import Backend
from hindbrain.store._flush._backoff import Backoff
from hindbrain.store._flush._means import Bounds, Gate, Means
from hindbrain.store._flush._policy import FlushPolicy
from hindbrain.store._flush._report import FlushReport, ReceiptSink, Tally
from hindbrain.store._flush._round import SERVER, Round
from hindbrain.store._lock import Lock, LockBusyError
from hindbrain.store._queue import DurableQueue, QueueCounts
from hindbrain.store._worker import Worker


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Flusher:
    """Delivers at least once, under an operation id that stays the same over every try: in effect once.

    An unreachable backend spends no attempt and ends the flush; until it has been given time, further flushes end at
    once. A definite refusal spends one; after the last the job goes to the dead letters. What the backend took stays in
    the queue until it is done there: what fails there spends an attempt and is sent again under a fresh id. The lock of
    the queue is never held over the network.

    Source: decisions.md, "Durability"; seed "Flush"; spec/memory.md section 7.4.
    """

    def __init__(
        self,
        queue: DurableQueue,
        backend: Backend,
        worker: Worker,
        *,
        policy: FlushPolicy | None = None,
        receipts: ReceiptSink | None = None,
        before_enqueue: Gate | None = None,
        lease: Lock | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], str] = _now,
        random: Callable[[], float] = _random.random,
    ) -> None:
        """Compose a flusher; it owns none of its parts.

        Args:
            queue: what is to be emptied.
            backend: where it goes.
            worker: the queue's thread.
            policy: patience and coalescing.
            receipts: where deliveries are noted.
            before_enqueue: is asked before jobs are merged; False leaves them as they are.
            lease: in place of the one in ``<queue>.flush.lock``.
            clock: seconds, for waits and the bound on time.
            now: ISO 8601 in UTC, for what is noted.
            random: a number from 0 up to 1.
        """
        policy = policy or FlushPolicy()
        self._queue = queue
        self._worker = worker
        self._lease = lease if lease is not None else queue.flush_lease()
        self._clock = clock
        self._backoff = Backoff(policy, clock, random)
        self._told: str | None = None
        self._means = Means(
            queue=queue,
            backend=backend,
            worker=worker,
            policy=policy,
            backoff=self._backoff,
            receipts=receipts,
            gate=before_enqueue,
            clock=clock,
            now=now,
        )

    async def flush(
        self,
        *,
        max_jobs: int | None = None,
        max_elapsed: float | None = None,
        stop_on_first_failure: bool = False,
        force: bool = False,
    ) -> FlushReport:
        """Send what waits.

        Args:
            max_jobs: how many jobs are sent at most; a merge counts as one.
            max_elapsed: seconds after which it ends; a request that still runs is cancelled, and its job waits on.
            stop_on_first_failure: end with the first job that is refused.
            force: do not wait for a backend that failed a moment ago, and ask after all that it has taken.

        Raises:
            StoreError: the queue could not be read; what waits, waits.
        """
        if force:
            self._backoff.worked(SERVER)
        if left := self._backoff.left(SERVER):
            counts = await self._counts()
            return FlushReport(
                remaining=counts.waiting, unconfirmed=counts.unconfirmed, stopped_by="backoff", retry_in=left
            )
        deadline = None if max_elapsed is None else self._clock() + max_elapsed
        bounds = Bounds(max_jobs=max_jobs, deadline=deadline, stop_on_first_failure=stop_on_first_failure, force=force)
        before = await self._counts()
        try:
            with self._lease.held(0) as hold:
                tally = await Round(self._means, bounds, hold).run()
        except LockBusyError as error:
            if error.path != self._lease.folder:
                raise
            return FlushReport(remaining=before.waiting, unconfirmed=before.unconfirmed, busy=True)
        return self._report(tally, before, await self._counts())

    def answered(self) -> None:
        """The backend has just answered something else: what waits for it need wait no longer."""
        self._backoff.answered(SERVER)

    async def _counts(self) -> QueueCounts:
        return await self._worker.run(lambda _: self._queue.counts())

    def _report(self, tally: Tally, before: QueueCounts, after: QueueCounts) -> FlushReport:
        aside = after.malformed + after.unsealed - before.malformed - before.unsealed
        return FlushReport(
            sent=len(tally.deliveries),
            remaining=after.waiting,
            unconfirmed=after.unconfirmed,
            returned=tally.returned,
            dead_lettered=tally.dead_lettered,
            malformed=max(0, aside),
            job_ids=tuple(tally.job_ids),
            operation_ids=tally.operation_ids,
            outcome=tally.outcome,
            stopped_by=tally.stopped_by,
            notice=self._notice(tally),
            retry_in=self._backoff.left(SERVER) or None,
        )

    def _notice(self, tally: Tally) -> str | None:
        """The failure's code, the first time only."""
        if tally.deliveries:
            self._told = None
        told, self._told = self._told, tally.failure or self._told
        return tally.failure if tally.failure != told else None
