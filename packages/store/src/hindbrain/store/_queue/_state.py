"""Which jobs wait and which are done: what the lines of the log and of the acks come to. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import define, field

from hindbrain.store._queue._record import Ack, Aside, Attempt, Merge, Plan, Record, Taken
from hindbrain.store._queue._values import Place


@define
class State:
    """Ids lead to the places of their lines, oldest first. A line that is there twice counts once.

    Attributes:
        live: what is not done, members of merges included.
        copies: further lines of a live job, for when the first is damaged.
        done: the places that compaction may drop.
        finished: ids of everything that was ever acked since the last compaction.
        part_of: member to merge.
        fixed: single jobs that may have been sent.
        retries, renewals: by id of job or merge.
        codes: that of the last refusal.
        taken: what the backend works on, by id of job or merge: it is live, and does not wait.
        asides: lines that were set aside, with their digest.
    """

    live: dict[str, Place] = field(factory=dict)
    copies: dict[str, list[Place]] = field(factory=dict)
    done: list[Place] = field(factory=list)
    finished: set[str] = field(factory=set)
    merges: dict[str, Merge] = field(factory=dict)
    part_of: dict[str, str] = field(factory=dict)
    fixed: set[str] = field(factory=set)
    retries: dict[str, int] = field(factory=dict)
    renewals: dict[str, int] = field(factory=dict)
    codes: dict[str, str] = field(factory=dict)
    taken: dict[str, Taken] = field(factory=dict)
    asides: dict[Place, str] = field(factory=dict)
    live_bytes: int = 0
    done_bytes: int = 0

    def add(self, job_id: str, place: Place) -> None:
        """A job's line was found."""
        if job_id in self.finished:
            self._bury(place)
        elif job_id in self.live:
            self.copies.setdefault(job_id, []).append(place)
        else:
            self.live[job_id] = place
            self.live_bytes += place.length

    def add_many(self, ids: Sequence[str], places: Sequence[Place]) -> None:
        """Lines were found, in this order: as ``add`` for each, but quick for a backlog."""
        new = dict(zip(ids, places, strict=True))
        if len(new) == len(ids) and self.live.keys().isdisjoint(new) and self.finished.isdisjoint(new):
            self.live.update(new)
            self.live_bytes += sum(place.length for place in places)
        else:
            for job_id, place in zip(ids, places, strict=True):
                self.add(job_id, place)

    def apply(self, record: Record) -> None:
        """Something became of a job."""
        match record:
            case Ack(ids):
                for each in ids:
                    self._finish(each)
            case Attempt(job_id, code, times, renewals):
                self.retries[job_id] = self.retries.get(job_id, 0) + times
                self.renewals[job_id] = self.renewals.get(job_id, 0) + renewals
                self.codes[job_id] = code
                self.taken.pop(job_id, None)
            case Taken(job_id):
                if self.members(job_id):
                    self.taken[job_id] = record
            case Plan(merges, singles):
                self.fixed.update(singles)
                for merge in merges:
                    self.merges[merge.id] = merge
                    self.part_of.update(dict.fromkeys(merge.members, merge.id))
            case Aside(job_id, place, digest):
                self.asides[place] = digest
                if job_id is not None:
                    self._drop(job_id, place)

    def units(self) -> Iterator[str]:
        """The ids of what waits and is delivered as one, jobs and merges, in the order of the log."""
        shown = set(self.taken)
        for job_id in self.live:
            unit = self.part_of.get(job_id, job_id)
            if unit not in shown:
                shown.add(unit)
                yield unit

    def members(self, unit_id: str) -> tuple[str, ...]:
        """The live jobs that this id stands for; empty where it is done or unknown."""
        merge = self.merges.get(unit_id)
        return tuple(each for each in (merge.members if merge else (unit_id,)) if each in self.live)

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        return len(self.live) - sum(1 for _ in self._taken_jobs())

    @property
    def unconfirmed(self) -> int:
        """How many jobs and merges the backend works on."""
        return sum(1 for unit in self.taken if self.members(unit))

    @property
    def waiting_bytes(self) -> int:
        """Their size in the log."""
        return self.live_bytes - sum(self.live[each].length for each in self._taken_jobs())

    def _taken_jobs(self) -> Iterator[str]:
        return (each for unit in self.taken for each in self.members(unit))

    def places(self) -> Iterable[Place]:
        """Every line of a job in the log, done or not."""
        return (*self.done, *self.live.values())

    def _finish(self, unit_id: str) -> None:
        merge = self.merges.get(unit_id)
        self.taken.pop(unit_id, None)
        for each in merge.members if merge else (unit_id,):
            self.finished.add(each)
            place = self.live.pop(each, None)
            if place is not None:
                self.live_bytes -= place.length
                self._bury(place)
            for copy in self.copies.pop(each, ()):
                self._bury(copy)

    def _bury(self, place: Place) -> None:
        self.done.append(place)
        self.done_bytes += place.length

    def _drop(self, job_id: str, place: Place) -> None:
        copies = self.copies.get(job_id, [])
        if place in copies:
            copies.remove(place)
        elif self.live.get(job_id) == place:
            self.live_bytes -= place.length
            if copies:
                self.live[job_id] = copies.pop(0)
                self.live_bytes += self.live[job_id].length
            else:
                del self.live[job_id]
