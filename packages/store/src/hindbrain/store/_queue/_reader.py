"""Reading jobs at the places where they lie, and deciding which of them are to be believed."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from hindbrain.contracts import Coverage, RetainJob
from hindbrain.store._queue._errors import JobDamagedError, UnknownJobError
from hindbrain.store._queue._index import Index, Odd
from hindbrain.store._queue._line import derived_id, holds_head, read_head, read_job
from hindbrain.store._queue._log import Log
from hindbrain.store._queue._merge import merged
from hindbrain.store._queue._scan import classify
from hindbrain.store._queue._seal_line import is_sealed
from hindbrain.store._queue._values import Head, Place, QueuedJob, Reason
from hindbrain.store._seal import SealKey

_HEAD_BYTES = 4096


class Reader:
    """Call everything under the lock of the queue. Lines that prove damaged are added to those to be set aside."""

    def __init__(self, log: Log, index: Index, key: SealKey) -> None:
        self._log = log
        self._index = index
        self._key = key

    def queued(self, unit: str) -> QueuedJob | None:
        """What waits under this id, None where nothing of it can be read. Seals are not checked."""
        heads = [head for each in self._index.state.members(unit) if (head := self._head(each)) is not None]
        if not heads:
            return None
        merge = self._index.state.merges.get(unit)
        first = heads[0]
        return QueuedJob(
            id=unit,
            bank=first.bank,
            document_id=first.document_id,
            created_at=first.created_at,
            update_mode=first.update_mode,
            retries=self._retries(unit, first),
            operation_id=self._operation(unit, merge.operation_id if merge else first.operation_id),
            covers=tuple(head.covers for head in heads if head.covers is not None),
            members=merge.members if merge else (),
            is_fixed=merge is not None or unit in self._index.state.fixed or self._retries(unit, first) > 0,
            size=sum(self._index.state.live[head.id].length for head in heads),
        )

    def load(self, unit: str) -> RetainJob:
        """The whole job, sealed.

        Raises:
            UnknownJobError, JobDamagedError: it does not wait, or nothing of it bears the seal.
        """
        members = self._index.state.members(unit)
        if not members:
            raise UnknownJobError
        jobs = [job for each in members if (job := self._job(each)) is not None]
        if not jobs:
            raise JobDamagedError
        merge = self._index.state.merges.get(unit)
        job = merged(jobs, merge.id, merge.operation_id) if merge else jobs[0]
        return evolve(job, operation_id=self._operation(unit, job.operation_id))

    def retries(self, unit: str) -> int:
        """How often it was refused."""
        head = None if unit in self._index.state.merges else self._head(unit)
        return self._retries(unit, head)

    def oldest(self) -> str | None:
        """When the first job in the order was made, None where none waits."""
        state = self._index.state
        for unit in state.units():
            for job_id in state.members(unit):
                head = self._head(job_id)
                if head is not None:
                    return head.created_at
        return None

    def covers(self, places: Iterable[Place], lineage: str | None) -> tuple[Coverage, ...]:
        """The ranges of sealed lines, in the order of the log."""
        found: list[Coverage] = []
        for place in sorted(places, key=lambda each: (each.segment, each.offset)):
            line = self._log.read(place).rstrip(b"\r")
            if b'"covers":' not in line or (lineage is not None and lineage.encode() not in line):
                continue
            head = read_head(line) if is_sealed(self._key, line) else None
            if head is not None and head.covers is not None and lineage in {None, head.covers.lineage}:
                found.append(head.covers)
        return tuple(found)

    def heads(self, places: Iterable[Place], bank: str, document_id: str) -> tuple[Head, ...]:
        """The sealed lines of a document, without their items, in the order of the log."""
        found: list[Head] = []
        for place in sorted(places, key=lambda each: (each.segment, each.offset)):
            line = self._log.read(place).rstrip(b"\r")
            head = read_head(line) if is_sealed(self._key, line) else None
            if head is not None and (head.bank, head.document_id) == (bank, document_id):
                found.append(head)
        return tuple(found)

    def verify(self, places: Iterable[Place]) -> tuple[int, int]:
        """How many lines there are, and how many of them do not bear the seal."""
        checks = [is_sealed(self._key, self._log.read(place).rstrip(b"\r")) for place in places]
        return len(checks), checks.count(False)

    def look_at_done(self) -> None:
        """Doubt what is about to be dropped without a seal: where a line break was damaged, the next job is in it."""
        for place in self._index.state.done:
            if not is_sealed(self._key, self._log.read(place).rstrip(b"\r")):
                self._doubt(None, place)

    def lines_to_keep(self, job_id: str) -> list[bytes]:
        """The line of a live job; where there are several, one that bears the seal, or all if none does."""
        lines = [self._log.read(place).rstrip(b"\r") + b"\n" for place in self._places(job_id)]
        sealed = [line for line in lines if len(lines) == 1 or is_sealed(self._key, line[:-1])]
        return sealed[:1] or lines

    def _places(self, job_id: str) -> list[Place]:
        return [self._index.state.live[job_id], *self._index.state.copies.get(job_id, ())]

    def _head(self, job_id: str) -> Head | None:
        for place in self._places(job_id):
            beginning = self._log.read(place, _HEAD_BYTES)
            if not holds_head(beginning):
                beginning = self._log.read(place)
            head = read_head(beginning)
            if head is not None and head.id == job_id:
                return head
            self._doubt(job_id, place)
        return None

    def _job(self, job_id: str) -> RetainJob | None:
        for place in self._places(job_id):
            line = self._log.read(place).rstrip(b"\r")
            job = read_job(line) if is_sealed(self._key, line) else None
            if job is not None:
                return job
            self._doubt(job_id, place)
        return None

    def _doubt(self, job_id: str | None, place: Place) -> None:
        line = self._log.read(place)
        kind = classify(line, place)
        reason = kind if isinstance(kind, Reason) else Reason.UNSEALED
        if all(each.place != place for each in self._index.odd):
            self._index.odd.append(Odd(reason, place, line, job_id))

    def _operation(self, unit: str, operation_id: str) -> str:
        renewals = self._index.state.renewals.get(unit, 0)
        return derived_id("renewed", operation_id, str(renewals)) if renewals else operation_id

    def _retries(self, unit: str, head: Head | None) -> int:
        kept = 0 if head is None or unit in self._index.state.merges else head.retries
        return kept + self._index.state.retries.get(unit, 0)
