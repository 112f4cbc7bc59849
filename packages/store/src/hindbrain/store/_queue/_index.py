"""Keeps the state true to the files, which other processes write too, by reading only what is new in them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress

from attrs import frozen

from hindbrain.store._queue._journal import Identity, Journal
from hindbrain.store._queue._log import Log
from hindbrain.store._queue._record import Aside, Record, read_record, write_record
from hindbrain.store._queue._scan import Found, classify, scan
from hindbrain.store._queue._state import State
from hindbrain.store._queue._values import Place, Reason
from hindbrain.store._seal import SealKey


@frozen
class Odd:
    """A line that is to be set aside."""

    reason: Reason
    place: Place
    line: bytes
    id: str | None = None

    @property
    def aside(self) -> Aside:
        """The record that it was."""
        return Aside(self.id, self.place, digest(self.line))


def digest(line: bytes) -> str:
    """Tells a line from every other."""
    return hashlib.sha256(line).hexdigest()[:32]


class Index:
    """Call everything under the lock of the queue.

    Attributes:
        state: as true as the last ``refresh``, and what this process has written since.
        odd: lines that have no business in the log and are to be set aside.
        records: how many lines of the acks were read.
        damaged: how many of them do not bear the seal.
    """

    def __init__(self, log: Log, acks: Journal, key: SealKey) -> None:
        self._log = log
        self._acks = acks
        self._key = key
        self.state = State()
        self.odd: list[Odd] = []
        self.damaged = 0
        self.records = 0
        self._read_to: dict[int, int] = {}
        self._acks_read_to = 0
        self._acks_identity: Identity | None = None
        self._generation = -1

    def refresh(self) -> None:
        """Read what is new.

        Raises:
            OSError: the disk's own.
        """
        try:
            self._read_new()
        except BaseException:
            # What was read in part is not known to have been: a record that is passed over would be lost for good.
            self.forget()
            raise

    def appended(self, segment: int, offset: int, lines: list[tuple[str, int]]) -> None:
        """This process added lines, of these ids and lengths. Where another wrote before it, ``refresh`` will tell."""
        if self._generation != self._log.generation or self._read_to.get(segment, 0) != offset:
            return
        for job_id, length in lines:
            self.state.add(job_id, Place(segment, offset, length - 1))
            offset += length
        self._read_to[segment] = offset

    def record(self, *records: Record) -> None:
        """Write down, durably and with one sync, what became of jobs.

        Raises:
            OSError: it is not known whether it was written.
        """
        data = b"".join([write_record(self._key, record) for record in records])
        offset = self._acks.append_surely(data)
        here = self._acks.identity
        if offset is None:
            self.forget()
        elif self._acks_identity in {None, here} and offset == self._acks_read_to:
            self._acks_identity = here
            self._acks_read_to += len(data)
            self.records += len(records)
            for record in records:
                self.state.apply(record)

    def forget(self) -> None:
        """Begin anew at the next refresh."""
        self.state = State()
        self.odd = []
        self.damaged = self.records = 0
        self._read_to = {}
        self._acks_read_to = 0
        self._acks_identity = None
        self._generation = -1

    def _read_new(self) -> None:
        sizes = self._log.sizes()
        acks = self._acks.look()
        if self._is_void(sizes, acks):
            self.forget()
        self._generation = self._log.generation
        records = self._read_records(acks)
        for record in records:
            if isinstance(record, Aside):
                self.state.apply(record)
        for number in sorted(sizes):
            self._read_lines(number, sizes[number])
        for record in records:
            self.state.apply(record)

    def _is_void(self, sizes: dict[int, int], acks: tuple[Identity, int] | None) -> bool:
        shrunk = any(sizes.get(number, 0) < end for number, end in self._read_to.items())
        identity, size = acks or (None, 0)
        moved = self._acks_identity is not None and identity != self._acks_identity
        return shrunk or moved or size < self._acks_read_to or self._generation != self._log.generation

    def _read_records(self, acks: tuple[Identity, int] | None) -> list[Record]:
        if acks is None:
            return []
        self._acks_identity, size = acks
        records: list[Record] = []
        for _, chunk in self._acks.chunks(self._acks_read_to, size):
            for line in chunk[: chunk.rfind(b"\n") + 1 or None].splitlines():
                record = read_record(self._key, line)
                if record is not None:
                    records.append(record)
                elif line.strip(b"\0 "):
                    self.damaged += 1
        self.records += len(records)
        self._acks_read_to = size
        return records

    def _read_lines(self, number: int, size: int) -> None:
        for base, chunk in self._log.chunks(number, self._read_to.get(number, 0), size):
            ids, places, odd = scan(chunk, number, base)
            if b"\n" not in chunk:
                odd = [Place(number, base, len(chunk))]
                with suppress(OSError):
                    self._log.end_torn(number)
            found = [
                kind
                for place in odd
                if (kind := self._look_at(place, chunk[place.offset - base : place.offset - base + place.length]))
            ]
            if found or self.state.asides:
                self._add(sorted([*zip(ids, places, strict=True), *found], key=lambda each: each[1]))
            else:
                self.state.add_many(ids, places)
        self._read_to[number] = size

    def _look_at(self, place: Place, line: bytes) -> Found | None:
        kind = classify(line, place)
        if not isinstance(kind, Reason):
            return kind
        if self.state.asides.get(place) != digest(line):
            self.odd.append(Odd(kind, place, line))
        return None

    def _add(self, found: Iterable[Found]) -> None:
        state = self.state
        for job_id, place in found:
            if not state.asides or not self._is_aside(place):
                state.add(job_id, place)

    def _is_aside(self, place: Place) -> bool:
        known = self.state.asides.get(place)
        return known is not None and digest(self._log.read(place)) == known
