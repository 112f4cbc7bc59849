"""The queue that decided retains wait in: what it has taken is on the disk, and stays there until it is acked."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from hindbrain.contracts import Coverage, RetainJob, UpdateMode
from hindbrain.store._errors import StoreClosedError, StoreError
from hindbrain.store._files import FileLayer, OsFileLayer, ReadOnlyLayer, StateDir, disk_errors
from hindbrain.store._lock import Hold, Lock, Unlocked
from hindbrain.store._queue._aside import Quarantine, as_text
from hindbrain.store._queue._compact import is_worth_it, remaining
from hindbrain.store._queue._dead import Graveyard, revived
from hindbrain.store._queue._errors import UnknownJobError
from hindbrain.store._queue._index import Index
from hindbrain.store._queue._journal import Journal
from hindbrain.store._queue._line import read_job, write_job
from hindbrain.store._queue._log import Log
from hindbrain.store._queue._merge import merge_of
from hindbrain.store._queue._reader import Reader
from hindbrain.store._queue._record import Ack, Attempt, Merge, Plan, Taken, write_record
from hindbrain.store._queue._values import (
    DeadLetter,
    Head,
    QueueCounts,
    QueuedJob,
    Reason,
    SetAside,
    TakenJob,
    Verification,
)
from hindbrain.store._seal import SealKey

BeforeDrop = Callable[[Sequence[Coverage]], None]
"""Makes cursors durable that stand on jobs which are about to leave the log. Called under the lock of the queue."""


def _now() -> datetime:
    return datetime.now(UTC)


class DurableQueue:
    """A queue of retain jobs in a file, for several threads and processes at once.

    Everything that changes it is durable when it returns, and raises a ``StoreError`` when it is not: then nothing is
    promised, though a job that was to be appended may turn up all the same. The same job twice counts once.

    Open it with :meth:`open`. Each method also raises ``LockBusyError`` where another process does not let go in time.

    Source: decisions.md, "Durability"; seed "Queue"; spec/memory.md section 7.
    """

    def __init__(
        self,
        path: Path,
        *,
        key: SealKey,
        layer: FileLayer,
        lock: Lock,
        before_drop: BeforeDrop | None,
        wait: float,
        now: Callable[[], datetime],
    ) -> None:
        self.path = path
        self._layer = layer
        self._key = key
        self._lock = lock
        self._before_drop = before_drop
        self._wait = wait
        self._now = now
        self._log = Log(layer, path)
        self._acks = Journal(layer, _beside(path, "acks"))
        self._dead_file = Journal(layer, _beside(path, "dead"))
        self._aside_file = Journal(layer, _beside(path, "malformed"))
        self._dead = Graveyard(self._dead_file, key)
        self._aside = Quarantine(self._aside_file, path.name)
        self._index = Index(self._log, self._acks, key)
        self._reader = Reader(self._log, self._index, key)
        self._leases: list[Lock] = []
        self._closed = False

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        key: SealKey,
        layer: FileLayer | None = None,
        before_drop: BeforeDrop | None = None,
        lock: Lock | None = None,
        wait: float = 5.0,
        now: Callable[[], datetime] = _now,
    ) -> DurableQueue:
        """Open the queue in this file, which comes to be with the first job; its folder is made at once.

        Args:
            path: the queue's file, such as ``retain-queue.jsonl``; its siblings begin with this whole name.
            key: this user's seal.
            layer: the disk; tests pass another.
            before_drop: called with the ranges of jobs before they leave the log for good.
            lock: in place of the one in ``<path>.lock``.
            wait: seconds to wait for other processes, in every method.
            now: the clock of what is written down; nothing is decided by it.

        Raises:
            StateDirError, StateFileError: a link, or another user's, lies there; nothing of it was used.
            StoreError: the disk refused.
        """
        disk = layer if layer is not None else OsFileLayer()
        with disk_errors(path):
            StateDir.open(disk, path.parent)
        if lock is None:
            lock = Lock(disk, path.with_name(f"{path.name}.lock"))
        queue = cls(path, key=key, layer=disk, lock=lock, before_drop=before_drop, wait=wait, now=now)
        with queue._fresh():
            return queue

    @classmethod
    def look(cls, path: Path, *, key: SealKey, layer: ReadOnlyLayer) -> DurableQueue:
        """The queue in this file, to look at: nothing is made, changed or locked, and whoever writes is not disturbed.

        Lines that have no business there are counted and left where they are. What would change the queue raises
        StoreReadOnlyError. The folder is there.

        Raises:
            StoreError: as ``open``.
        """
        lock = Unlocked(layer, path.with_name(f"{path.name}.lock"))
        queue = cls(path, key=key, layer=layer, lock=lock, before_drop=None, wait=0, now=_now)
        with queue._fresh():
            return queue

    def append(self, job: RetainJob) -> None:
        """Take a job: one write, one sync, however much waits.

        Raises:
            JobRefusedError: the file cannot carry it.
            StoreError: it is not durable.
        """
        self.append_many((job,))

    def append_many(self, jobs: Iterable[RetainJob]) -> None:
        """Take several jobs with one write and one sync; all or none of them are promised.

        Raises:
            JobRefusedError: the file cannot carry one of them; none was taken.
            StoreError: they are not durable.
        """
        self.append_lines([(job.id, self.line(job)) for job in jobs])

    def line(self, job: RetainJob) -> bytes:
        """The job as ``append_lines`` takes it.

        Raises:
            JobRefusedError: the file cannot carry it.
        """
        return write_job(self._key, job)

    def append_lines(self, lines: Sequence[tuple[str, bytes]]) -> None:
        """Take jobs by id and line, with one write and one sync.

        Raises:
            StoreError: they are not durable.
        """
        if not lines:
            return
        with self._shared() as hold, disk_errors(self.path):
            data = b"".join([line for _, line in lines])
            segment, offset = self._log.append(data, alone=hold.was_mine)
            self._index.appended(segment, offset, [(job_id, len(line)) for job_id, line in lines])

    def waiting(self, limit: int | None = None, *, skip: Container[str] = ()) -> tuple[QueuedJob, ...]:
        """What waits, in order: at most ``limit`` of it, and nothing whose id is in ``skip``. Seals are not checked."""
        found: list[QueuedJob] = []
        with self._fresh():
            for unit in self._index.state.units():
                if limit is not None and len(found) >= limit:
                    break
                if unit not in skip:
                    job = self._reader.queued(unit)
                    found += [job] if job is not None else []
        return tuple(found)

    def load(self, job_id: str) -> RetainJob:
        """The whole job, or the merge, as it is to be sent now. Its seal is checked.

        Raises:
            UnknownJobError: it does not wait.
            JobDamagedError: it does not bear the seal; it was set aside.
        """
        with self._fresh():
            return self._reader.load(job_id)

    def plan(self, groups: Iterable[Sequence[str]]) -> tuple[QueuedJob, ...]:
        """Write down what is about to be sent: a group of several ids is one from now on, and nothing joins it later.

        Call it before the first send of each; one write and one sync for all. Source: decisions.md, "Durability".

        Raises:
            UnknownJobError: one of them does not wait, or may have been sent already.
        """
        with self._fresh():
            units, plan = self._plan_of(groups)
            if plan.merges or plan.singles:
                self._index.record(plan)
                self._index.refresh()
            planned = [self._reader.queued(each) for each in units]
        return tuple(job for job in planned if job is not None)

    def ack(self, ids: Iterable[str]) -> None:
        """These were delivered: one write, one sync. An id that does not wait is no error."""
        with self._shared(), disk_errors(self.path):
            self._index.record(Ack(tuple(ids)))
        self._tidy()

    def taken(self, job_id: str, operations: Sequence[str]) -> None:
        """The backend took this one and works on it in these operations: it is kept, and waits no longer."""
        with self._shared(), disk_errors(self.path):
            self._index.record(Taken(job_id, tuple(operations), self._at()))

    def unconfirmed(
        self, limit: int | None = None, *, wanted: Callable[[str], bool] = lambda _id: True
    ) -> tuple[TakenJob, ...]:
        """What the backend took, oldest first, of which it is not known yet whether it came to anything.

        At most ``limit`` of it, and only what is ``wanted`` by its id: nothing else is read.
        """
        with self._fresh():
            taken = [record for unit, record in self._index.state.taken.items() if wanted(unit)][:limit]
            found = [(self._reader.queued(record.id), record) for record in taken]
        return tuple(
            TakenJob(job=job, operations=record.operations, at=record.at) for job, record in found if job is not None
        )

    def attempt(self, job_id: str, code: str, *, renew: bool = False) -> None:
        """This one was definitely refused. ``renew`` gives it a fresh operation id: the old one is never run again."""
        with self._shared(), disk_errors(self.path):
            self._index.record(Attempt(job_id, code, renewals=int(renew)))

    def bury(self, job_id: str, code: str | None = None) -> None:
        """Give a job up: it goes to the dead letters, exactly once, and then leaves the queue.

        ``code`` is why, by default that of its last attempt.

        Raises:
            UnknownJobError, JobDamagedError: as ``load``.
        """
        with self._fresh():
            state = self._index.state
            job = self._reader.load(job_id)
            retries = self._reader.retries(job_id)
            why = code if code is not None else state.codes.get(job_id, "")
            self._dead.add(job, code=why, retries=retries, at=self._at())
            self._index.record(Ack((job_id,)))
        self._tidy()

    def counts(self) -> QueueCounts:
        """How much lies where, without reading content."""
        with self._fresh():
            reasons = [row.reason for row in self._aside.rows()] + [odd.reason for odd in self._index.odd]
            unsealed = reasons.count(Reason.UNSEALED)
            return QueueCounts(
                waiting=self._index.state.waiting,
                unconfirmed=self._index.state.unconfirmed,
                dead=self._dead.verify()[0],
                malformed=len(reasons) - unsealed,
                unsealed=unsealed,
                bytes=self._index.state.waiting_bytes,
                oldest=self._reader.oldest(),
            )

    def covers(self, lineage: str | None = None) -> tuple[Coverage, ...]:
        """The ranges of every sealed job in the log, done or not, in its order; of one lineage if it is named."""
        with self._fresh():
            return self._reader.covers(self._index.state.places(), lineage)

    def jobs_of(self, bank: str, document_id: str) -> tuple[Head, ...]:
        """Every sealed job of a document that is still in the log, done or not, in its order and without its item."""
        with self._fresh():
            return self._reader.heads(self._index.state.places(), bank, document_id)

    def set_aside(self) -> tuple[SetAside, ...]:
        """The lines that are no jobs of this user, oldest first, with their text."""
        with self._fresh():
            left = (SetAside(reason=odd.reason, at="", text=as_text(odd.line)) for odd in self._index.odd)
            return (*self._aside.rows(), *left)

    def adopt(self) -> int:
        """Take the jobs that lack this user's seal for one's own; how many there were. They wait from now on."""
        with self._fresh(alone=True):
            rows = [row.text for row in self._aside.rows() if row.reason is Reason.UNSEALED]
            jobs = [(text, read_job(text.encode("utf-8", "surrogateescape"))) for text in rows]
            lines = [(job.id, self.line(job)) for _, job in jobs if job is not None]
            if lines:
                self._log.append(b"".join(line for _, line in lines))
                self._aside.remove([text for text, job in jobs if job is not None])
        return len(lines)

    def dead(self) -> tuple[DeadLetter, ...]:
        """The dead letters, oldest first, without content."""
        with self._fresh():
            return self._dead.letters()

    def show_dead(self, job_id: str) -> RetainJob:
        """A dead letter with its content.

        Raises:
            UnknownJobError, JobDamagedError: there is none, or it does not bear the seal.
        """
        with self._fresh():
            return self._dead.take(job_id)

    def requeue(self, job_id: str) -> str:
        """Let a dead letter wait again, with no attempts spent and a fresh operation id; its new id is returned.

        Raises:
            UnknownJobError, JobDamagedError: as ``show_dead``.
        """
        with self._fresh(alone=True):
            job = revived(self._dead.take(job_id))
            self._log.append(self.line(job))
            self._leave(job_id)
        return job.id

    def drop(self, job_id: str) -> None:
        """Forget a dead letter for good.

        Raises:
            UnknownJobError: there is none.
        """
        with self._fresh(alone=True):
            self._leave(job_id)

    def verify(self) -> Verification:
        """Check every seal. Nothing is changed but what opening would change too."""
        with self._fresh():
            state = self._index.state
            jobs, damaged = self._reader.verify(state.places())
            dead, damaged_dead = self._dead.verify()
            return Verification(
                jobs=jobs,
                damaged=damaged,
                records=self._index.records,
                damaged_records=self._index.damaged,
                dead=dead,
                damaged_dead=damaged_dead,
            )

    def compact(self) -> None:
        """Rewrite the log without what is done. It happens by itself once more than half is."""
        with self._fresh(alone=True):
            self._reader.look_at_done()
            self._put_aside()
            if self._index.state.done or self._index.state.asides:
                try:
                    self._rewrite()
                finally:
                    self._index.forget()

    def flush_lease(self) -> Lock:
        """The lock that makes one flusher of many: in ``<path>.flush.lock``, a new one with each call.

        It is closed with the queue.
        """
        lease = Lock(self._layer, self.path.with_name(f"{self.path.name}.flush.lock"))
        self._leases.append(lease)
        return lease

    def close(self) -> None:
        """Give all descriptors back. Idempotent; everything else fails afterwards."""
        self._closed = True
        for each in (self._log, self._acks, self._dead_file, self._aside_file):
            each.close()
        for lock in (self._lock, *self._leases):
            lock.close()

    def _shared(self, *, alone: bool = False) -> AbstractContextManager[Hold]:
        """Hold the lock; ``alone`` for what rewrites."""
        if self._closed:
            raise StoreClosedError
        return self._lock.held(self._wait) if alone else self._lock.light(self._wait)

    @contextmanager
    def _fresh(self, *, alone: bool = False) -> Iterator[None]:
        """Hold the lock with the index true to the files. Lines that have no business there are set aside.

        Where that fails they are neither sent nor lost, and it is tried again the next time.
        """
        with self._shared(alone=alone), disk_errors(self.path):
            self._index.refresh()
            self._try_to_put_aside()
            try:
                yield
            finally:
                self._try_to_put_aside()

    def _leave(self, job_id: str) -> None:
        """Take a dead letter away. Where its burial was cut short it still waits too, and would be buried again."""
        if self._index.state.members(job_id) and self._dead.holds(job_id):
            self._index.record(Ack((job_id,)))
        self._dead.remove(job_id)

    def _plan_of(self, groups: Iterable[Sequence[str]]) -> tuple[list[str], Plan]:
        """The ids of what goes out, and what is to be written down first. Only an append could be merged later."""
        units: list[str] = []
        merges: list[Merge] = []
        singles: list[str] = []
        for group in groups:
            jobs = [job for each in group if (job := self._reader.queued(each)) is not None]
            if len(jobs) < len(group) or (len(jobs) > 1 and any(job.is_fixed for job in jobs)):
                raise UnknownJobError
            if len(jobs) > 1:
                merges.append(merge_of([(job.id, job.operation_id) for job in jobs]))
                units.append(merges[-1].id)
            else:
                units += group
                singles += [job.id for job in jobs if job.update_mode is UpdateMode.APPEND and not job.is_fixed]
        return units, Plan(tuple(merges), tuple(singles))

    def _rewrite(self) -> None:
        state = self._index.state
        covers = self._reader.covers(state.done, None)
        if self._before_drop is not None and covers:
            self._before_drop(covers)
        lines = [line for job_id in state.live for line in self._reader.lines_to_keep(job_id)]
        self._log.rewrite(b"".join(lines))
        self._acks.replace(b"".join(write_record(self._key, record) for record in remaining(state)))

    def _try_to_put_aside(self) -> None:
        with suppress(StoreError, OSError):
            self._put_aside()

    def _put_aside(self) -> None:
        odd = self._index.odd
        if odd:
            self._aside.add(odd, self._at())
            self._index.record(*(each.aside for each in odd))
            odd.clear()

    def _tidy(self) -> None:
        """Compact if it is worth it. What was asked for is done already, so that a failure waits for the next time."""
        if is_worth_it(self._index.state):
            with suppress(StoreError, OSError):
                self.compact()

    def _at(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name}.{what}.jsonl")
