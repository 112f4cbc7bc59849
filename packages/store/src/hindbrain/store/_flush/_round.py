"""One flush: everything between taking the lease and giving it back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from attrs import define, field

from hindbrain.contracts import BackendError, OperationStatus, Retained, RetainJob
from hindbrain.store._errors import StoreError
from hindbrain.store._flush._confirm import confirm
from hindbrain.store._flush._groups import Group, candidates, groups
from hindbrain.store._flush._means import Bounds, Means, Stopped
from hindbrain.store._flush._report import Delivery, Tally
from hindbrain.store._flush._verdict import Verdict, verdict
from hindbrain.store._lock import Hold, LockLostError
from hindbrain.store._queue import JobDamagedError, QueuedJob, UnknownJobError, candidate

T = TypeVar("T")
_PAGE = 64
_ENOUGH = "max-jobs"
SERVER = "server"
"""The backoff key of the backend as a whole; a document's own is its bank and id."""
_TAKEN = {OperationStatus.PENDING, OperationStatus.PROCESSING, OperationStatus.COMPLETED}


@define
class Round:
    """Sends what waits, oldest first. A job that fails holds back only later jobs of its document."""

    means: Means
    bounds: Bounds
    hold: Hold
    tally: Tally = field(factory=Tally)
    _passed: set[str] = field(factory=set)
    _blocked: set[tuple[str, str]] = field(factory=set)
    _asked: set[str] = field(factory=set)

    async def run(self) -> Tally:
        """Go on until nothing is left that can be sent, or a bound is reached; then ask what became of what was."""
        try:
            while await self._all_sent() and await self._confirmed():
                pass  # what came to nothing waits again
        except Stopped as stop:
            self.tally.stopped_by = stop.why
        except LockLostError:
            self.tally.stopped_by = LockLostError.code
        except StoreError as error:
            self.tally.stopped_by = self.tally.failure = error.code
        return self.tally

    async def _all_sent(self) -> bool:
        """Send; True at the end of what waits, False after as many jobs as there may be."""
        try:
            while jobs := await self._next():
                for group in await self._planned(jobs):
                    await self._deliver(group)
        except Stopped as stop:
            if stop.why != _ENOUGH:
                raise
            self.tally.stopped_by = stop.why
            await self._confirmed()
            return False
        return True

    async def _confirmed(self) -> bool:
        """Whether something waits again of what the backend had taken."""
        before = self.tally.returned
        await confirm(self.means, self.bounds, self.tally, self._status, self._asked)
        return self.tally.returned > before

    async def _next(self) -> tuple[QueuedJob, ...]:
        """Jobs that may be sent now; those that may not are passed over in this round."""
        while True:
            self._check_bounds()
            jobs = await self._run(lambda: self.means.queue.waiting(_PAGE, skip=self._passed))
            free = []
            for job in jobs:
                if job.line in self._blocked or self.means.backoff.left(job.line):
                    self._passed.add(job.id)
                    self._blocked.add(job.line)
                else:
                    free.append(job)
            if free or not jobs:
                return tuple(free)

    async def _planned(self, jobs: Sequence[QueuedJob]) -> tuple[QueuedJob, ...]:
        """The jobs as they go out, written down before the first of them is sent."""
        ready = await self._coalesced(jobs) if self.means.policy.coalesce else [(job,) for job in jobs]
        if self.bounds.max_jobs is not None:
            ready = ready[: self.bounds.max_jobs - self.tally.sends]
        self.hold.renew()
        try:
            return await self._run(lambda: self.means.queue.plan([[job.id for job in group] for group in ready]))
        except UnknownJobError:
            # A job was dropped or proved damaged meanwhile: what is left is looked at anew.
            return ()

    async def _coalesced(self, jobs: Sequence[QueuedJob]) -> list[Group]:
        loaded: dict[str, RetainJob] = {}
        for job in candidates(jobs):
            with suppress(UnknownJobError, JobDamagedError):
                loaded[job.id] = await self._load(job.id)
        found: list[Group] = []
        for group in groups(jobs, loaded, self.means.policy):
            if len(group) > 1 and not await self._is_admitted([loaded[job.id] for job in group]):
                found += [(job,) for job in group]
            else:
                found.append(group)
        return found

    async def _is_admitted(self, jobs: Sequence[RetainJob]) -> bool:
        return self.means.gate is None or await self.means.gate(candidate(jobs))

    async def _deliver(self, job: QueuedJob) -> None:
        self._check_bounds()
        if job.line in self._blocked:
            self._passed.add(job.id)
            return
        if job.retries >= self.means.policy.max_attempts:
            await self._bury(job)
            return
        try:
            whole = await self._load(job.id)
        except (UnknownJobError, JobDamagedError):
            return
        self.hold.renew()
        self.tally.sends += 1
        try:
            retained = await self._send(whole)
        except BackendError as error:
            await self._failed(job, error)
            return
        if retained is None:
            await self._refuse(job, "conflict", renew=True)
        else:
            await self._delivered(job, whole, retained)

    async def _send(self, job: RetainJob) -> Retained | None:
        """Send it; None where the backend had the id and yet did not take the job under it."""
        backend = self.means.backend
        try:
            return await self._bounded(backend.retain(job.bank, job.item, operation_id=job.operation_id))
        except BackendError as error:
            judged = verdict(error)
            if judged is Verdict.ASK:
                found = await self._status(job.bank, job.operation_id)
                return Retained(operation_id=job.operation_id, status=found) if found in _TAKEN else None
            if judged is Verdict.PROBE:
                await self._status(job.bank, job.operation_id)
            raise

    async def _status(self, bank: str, operation_id: str) -> OperationStatus:
        """Where an operation stands. A backend that cannot even tell that cannot be used at all."""
        self.hold.renew()
        try:
            return (await self._bounded(self.means.backend.status(bank, operation_id))).status
        except BackendError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: BackendError) -> Stopped:
        self.tally.failure = error.code
        self.means.backoff.failed(SERVER, at_least=error.retry_after)
        return Stopped(error.code)

    async def _failed(self, job: QueuedJob, error: BackendError) -> None:
        if verdict(error) is Verdict.STOP:
            raise self._unusable(error) from error
        await self._refuse(job, error.code)

    async def _refuse(self, job: QueuedJob, code: str, *, renew: bool = False) -> None:
        await self._run(lambda: self.means.queue.attempt(job.id, code, renew=renew))
        self.tally.failure = code
        self.means.backoff.worked(SERVER)
        if job.retries + 1 >= self.means.policy.max_attempts:
            await self._bury(job)
        else:
            self._passed.add(job.id)
            self._blocked.add(job.line)
            self.means.backoff.failed(job.line)
        if self.bounds.stop_on_first_failure:
            raise Stopped(code)

    async def _bury(self, job: QueuedJob) -> None:
        await self._run(lambda: self.means.queue.bury(job.id))
        self.means.backoff.worked(job.line)
        self.tally.dead_lettered += 1

    async def _delivered(self, job: QueuedJob, whole: RetainJob, retained: Retained) -> None:
        self.hold.renew()
        if retained.status is OperationStatus.COMPLETED:
            await self._run(lambda: self.means.queue.ack([job.id]))
        else:
            operations = retained.operation_ids or (retained.operation_id,)
            await self._run(lambda: self.means.queue.taken(job.id, operations))
            self.means.backoff.failed(job.id)
        self.tally.deliveries.append(retained)
        self.tally.job_ids.append(job.id)
        self.means.backoff.worked(SERVER)
        self.means.backoff.worked(job.line)
        receipts = self.means.receipts
        if receipts is not None:
            delivery = Delivery(job=whole, retained=retained, at=self.means.now())
            with suppress(StoreError):
                await self._run(lambda: receipts.record(delivery))

    def _check_bounds(self) -> None:
        if self.bounds.max_jobs is not None and self.tally.sends >= self.bounds.max_jobs:
            raise Stopped(_ENOUGH)
        self.bounds.check_time(self.means.clock())

    async def _bounded(self, call: Awaitable[T]) -> T:
        """Await a call of the backend, and cancel it when the time is up: its outcome is then unknown."""
        left = None if self.bounds.deadline is None else self.bounds.deadline - self.means.clock()
        try:
            async with asyncio.timeout(left) as limit:
                return await call
        except TimeoutError:
            if not limit.expired():
                raise
            raise Stopped("elapsed") from None

    async def _load(self, job_id: str) -> RetainJob:
        return await self._run(lambda: self.means.queue.load(job_id))

    async def _run(self, work: Callable[[], T]) -> T:
        return await self.means.worker.run(lambda _: work())
