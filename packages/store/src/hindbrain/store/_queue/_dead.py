"""Jobs that were given up, in ``<queue>.dead.jsonl``, each once.

Source: seed "Queue" (dead letters); spec/memory.md sections 7.2 and 7.4.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from hindbrain.contracts import RetainJob
from hindbrain.store._queue._errors import JobDamagedError, UnknownJobError
from hindbrain.store._queue._journal import Journal
from hindbrain.store._queue._line import derived_id, job_of, read_head, read_job, write_job
from hindbrain.store._queue._seal_line import is_sealed, read_fields
from hindbrain.store._queue._values import DeadLetter
from hindbrain.store._seal import SealKey


class Graveyard:
    """Call everything under the lock of the queue."""

    def __init__(self, journal: Journal, key: SealKey) -> None:
        self._journal = journal
        self._key = key

    def add(self, job: RetainJob, *, code: str, retries: int, at: str) -> None:
        """Take a job in, durably; not again if it is there.

        Raises:
            OSError: the disk's own.
        """
        if not self.holds(job.id):
            line = write_job(self._key, job, retries=retries, lastError=code, deadLetteredAt=at)
            self._journal.append_surely(line)

    def holds(self, job_id: str) -> bool:
        """Whether there is one of this id.

        Raises:
            OSError: the disk's own.
        """
        return any(head == job_id for head, _ in self._lines())

    def letters(self) -> tuple[DeadLetter, ...]:
        """All of them, oldest first, without content.

        Raises:
            OSError: the disk's own.
        """
        return tuple(letter for _, line in self._lines() if (letter := self._letter(line)) is not None)

    def take(self, job_id: str) -> RetainJob:
        """The job of a dead letter.

        Raises:
            UnknownJobError, JobDamagedError: there is none, or it does not bear the seal.
            OSError: the disk's own.
        """
        for found, line in self._lines():
            if found == job_id:
                job = read_job(line) if is_sealed(self._key, line) else None
                if job is None:
                    raise JobDamagedError
                return job
        raise UnknownJobError

    def remove(self, job_id: str) -> None:
        """Take a dead letter away; other lines stay, readable or not.

        Raises:
            UnknownJobError: there is none.
            OSError: the old file is there, or perhaps the new one.
        """
        lines = self._journal.read_all().splitlines()
        kept = [line for line in lines if (head := read_head(line)) is None or head.id != job_id]
        if len(kept) == len(lines):
            raise UnknownJobError
        self._journal.replace(b"".join(line + b"\n" for line in kept))

    def verify(self) -> tuple[int, int]:
        """How many lines there are, and how many of them do not bear the seal.

        Raises:
            OSError: the disk's own.
        """
        lines = [line for line in self._journal.read_all().splitlines() if line.strip(b"\0 ")]
        return len(lines), sum(not is_sealed(self._key, line) for line in lines)

    def _lines(self) -> Iterator[tuple[str, bytes]]:
        for line in self._journal.read_all().splitlines():
            head = read_head(line)
            if head is not None:
                yield head.id, line

    def _letter(self, line: bytes) -> DeadLetter | None:
        fields = read_fields(line)
        job = None if fields is None else job_of(fields)
        if fields is None or job is None:
            return None
        return DeadLetter(
            id=job.id,
            bank=job.bank,
            document_id=job.item.document_id,
            created_at=job.created_at,
            operation_id=job.operation_id,
            retries=fields["retries"],
            code=str(fields.get("lastError", "")),
            at=str(fields.get("deadLetteredAt", "")),
            size=len(line),
            is_sealed=is_sealed(self._key, line),
        )


def revived(job: RetainJob) -> RetainJob:
    """The job under a new id and a new operation id: the server never runs an id again that failed.

    Reviving the same job twice gives the same ids, so that a crash in between does no harm. Source: decisions.md, "Four
    verbs and the client".
    """
    return evolve(
        job,
        id=derived_id("requeued", job.id, job.operation_id),
        operation_id=derived_id("requeued operation", job.operation_id),
    )
