"""What a session hands its turns to: which entries are new, keeping the job, sending what waits.

Two kinds: one that lives in this process, for replays and tests, and one on the disk, where nothing that was kept is
lost (``_disk_outbox``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from attrs import frozen

from hindbrain.contracts import Backend, BackendError, Branch, Deleted, Entry, Outcome, Retained, RetainJob
from hindbrain.store import Cursor, Move, move, new_entries


@frozen(kw_only=True)
class Flush:
    """What one flush did: acknowledged jobs, those refused for good, and the code of what stopped it.

    ``sent`` counts jobs and ``jobs`` are their ids; ``operations`` are the backend's ids of those sent now, with their
    banks. ``waiting`` is what is left for later.
    """

    sent: int = 0
    jobs: tuple[str, ...] = ()
    operations: tuple[tuple[str, str], ...] = ()
    documents: tuple[str, ...] = ()
    refused: int = 0
    waiting: int = 0
    code: str | None = None


@frozen(kw_only=True)
class Forgotten:
    """What became of a document: what the backend deleted, and how many jobs that waited for it were given up."""

    deleted: Deleted
    given_up: int = 0


class Outbox(Protocol):
    """Keeps a session's turns until a memory has taken them."""

    async def new_entries(self, lineage: str, bank: str, branch: Branch) -> tuple[Entry, ...]:
        """The messages of the branch that were never kept for this bank."""
        ...

    async def plan(self, lineage: str, bank: str, branch: Branch, entries: tuple[Entry, ...]) -> Move | None:
        """The cursor's move over these entries, for the job to carry."""
        ...

    async def keep(self, lineage: str, bank: str, moved: Move, job: RetainJob | None) -> None:
        """Keep the job, as durably as this outbox can, and only then count its entries. No job: count them only."""
        ...

    async def enqueue(self, job: RetainJob) -> None:
        """Keep a job that stands for no entries, as durably as this outbox can."""
        ...

    async def pass_over(self, lineage: str, bank: str, moved: Move, branch: Branch, entries: tuple[Entry, ...]) -> None:
        """Count entries that are never to be retained, as durably as this outbox can."""
        ...

    async def flush(self, *, max_jobs: int | None = None, max_seconds: float | None = None) -> Flush:
        """Send what waits, in order, within the bounds."""
        ...

    async def forget(self, bank: str, document_id: str) -> Forgotten:
        """Delete a document, and give up what waits for it, so that nothing brings it back.

        Raises:
            BackendError: it was not deleted; nothing was given up.
        """
        ...

    async def tick(self) -> Flush:
        """Send a little of what waits, as a host's timer asks for now and then."""
        ...

    async def last_flush(self) -> Flush:
        """Send what waits at the end of a session, within the bounds of a shutdown."""
        ...

    def answered(self) -> None:
        """The backend has just answered something else: what waits after an outage need wait no longer."""
        ...

    async def close(self) -> None:
        """Make durable what is kept in memory only, and let go of files."""
        ...


class Progress:
    """Cursors by lineage and bank, as they stand in this process.

    Args:
        load: gives the cursor of a lineage and bank that was not asked for before.
    """

    def __init__(self, load: Callable[[str, str], Cursor] = lambda _lineage, _bank: Cursor()) -> None:
        self._load = load
        self._cursors: dict[tuple[str, str], Cursor] = {}

    def cursor(self, lineage: str, bank: str) -> Cursor:
        """Where the lineage stands for the bank."""
        key = (lineage, bank)
        if key not in self._cursors:
            self._cursors[key] = self._load(lineage, bank)
        return self._cursors[key]

    def moved(self, lineage: str, bank: str, to: Move) -> None:
        """Stand where the move leads."""
        self._cursors[lineage, bank] = to.cursor


_SLOW = frozenset({"timeout", "store-busy"})
"""Answers that cost a whole deadline each."""


class MemoryOutbox:
    """An outbox in this process, straight to a backend. What waits at the end is lost with the process.

    Order is kept, so a document's turns arrive as they were said. A job whose outcome is unknown, or that may succeed
    later, stays first in line under the same operation id; one refused for good does not block those behind it.

    Args:
        backend: where jobs go.
        gives_up: send nothing more once the backend has let a whole deadline pass, so that a session of many turns
            does not wait it out at each of them. For replays: a live session tries again at its next turn.
    """

    def __init__(self, backend: Backend, *, gives_up: bool = False) -> None:
        self._backend = backend
        self._gives_up = gives_up
        self._given_up: str | None = None
        self._progress = Progress()
        self._jobs: list[RetainJob] = []

    async def new_entries(self, lineage: str, bank: str, branch: Branch) -> tuple[Entry, ...]:
        """See :class:`Outbox`."""
        return new_entries(branch, self._progress.cursor(lineage, bank))

    async def plan(self, lineage: str, bank: str, branch: Branch, entries: tuple[Entry, ...]) -> Move | None:
        """See :class:`Outbox`."""
        return move(self._progress.cursor(lineage, bank), branch, entries)

    async def keep(self, lineage: str, bank: str, moved: Move, job: RetainJob | None) -> None:
        """See :class:`Outbox`."""
        if job is not None:
            self._jobs.append(job)
        self._progress.moved(lineage, bank, moved)

    async def pass_over(
        self,
        lineage: str,
        bank: str,
        moved: Move,
        branch: Branch,  # noqa: ARG002  (the port's)
        entries: tuple[Entry, ...],  # noqa: ARG002  (the port's)
    ) -> None:
        """See :class:`Outbox`."""
        self._progress.moved(lineage, bank, moved)

    async def flush(self, *, max_jobs: int | None = None, max_seconds: float | None = None) -> Flush:  # noqa: ARG002  (the port's bound)
        """See :class:`Outbox`."""
        sent: list[tuple[RetainJob, Retained]] = []
        refused = 0
        code = self._given_up
        while self._jobs and self._given_up is None and (max_jobs is None or len(sent) < max_jobs):
            job = self._jobs[0]
            try:
                ack = await self._backend.retain(job.bank, job.item, operation_id=job.operation_id)
            except BackendError as error:
                code = error.code
                if error.retryable or error.outcome is Outcome.UNKNOWN or code == "unauthorized":
                    self._given_up = code if self._gives_up and code in _SLOW else None
                    break
                refused += 1
            else:
                sent.append((job, ack))
            self._jobs.pop(0)
        return Flush(
            sent=len(sent),
            jobs=tuple(job.id for job, _ in sent),
            operations=tuple((job.bank, ack.operation_id) for job, ack in sent),
            documents=tuple(dict.fromkeys(job.item.document_id for job, _ in sent)),
            refused=refused,
            waiting=len(self._jobs),
            code=code,
        )

    async def enqueue(self, job: RetainJob) -> None:
        """See :class:`Outbox`."""
        self._jobs.append(job)

    async def forget(self, bank: str, document_id: str) -> Forgotten:
        """See :class:`Outbox`."""
        deleted = await self._backend.delete(bank, document_id)
        left = [job for job in self._jobs if (job.bank, job.item.document_id) != (bank, document_id)]
        given_up = len(self._jobs) - len(left)
        self._jobs = left
        return Forgotten(deleted=deleted, given_up=given_up)

    async def tick(self) -> Flush:
        """See :class:`Outbox`. One job."""
        return await self.flush(max_jobs=1)

    async def last_flush(self) -> Flush:
        """See :class:`Outbox`. Unbounded: nothing that waits here outlives the process."""
        return await self.flush()

    def answered(self) -> None:
        """See :class:`Outbox`. Every flush tries here."""

    async def close(self) -> None:
        """Nothing to let go of."""
