"""Lines to header, entries and problems: everything that needs to know the lines before."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, evolve, field
from msgspec import UNSET, Raw

from hindbrain.contracts import Entry
from hindbrain.memory.sessions import _assemble
from hindbrain.memory.sessions._lines import Run
from hindbrain.memory.sessions._message import custom_message, message_of
from hindbrain.memory.sessions._record import MessageRecord, Record, read_record, read_records
from hindbrain.memory.sessions._time import milliseconds
from hindbrain.memory.sessions._values import Item, LineProblem, Reason, SessionHeader


@define
class SessionParser:
    """Fold the lines of one session file, in order.

    ``foreign`` turns True, and nothing more is read, when the first sound line is no header: then the file is not a
    session. A header line that is broken is forgiven, and ``header`` stays None.
    """

    header: SessionHeader | None = None
    foreign: bool = False
    _lines: int = 0
    _title: Record | None = None
    _broken: bool = False
    _ids: list[str | None] = field(factory=list, repr=False)
    _seen: set[str] = field(factory=set, repr=False)
    _last: str | None = None
    _before_gap: str | None = None
    _adopted: dict[str, str | None] = field(factory=dict, repr=False)

    def feed(self, runs: Iterable[Run]) -> list[Item]:
        """What the next lines say, in file order. A mended line gives a problem and an entry."""
        items: list[Item] = []
        for offset, run in runs:
            if run is None:
                self._lines += 1
                self._skip(offset, Reason.TOO_LONG, items)
            elif (sound := read_records(run)) is not None:
                for record, start in zip(*sound, strict=True):
                    self._lines += 1
                    self._take(record, offset + start, items)
            else:
                self._read_each(offset, run, items)
        return items

    @property
    def empty(self) -> bool:
        """Whether neither a header nor an entry has been read."""
        return self.header is None and not self._seen

    def retitle(self, slot: bytes) -> None:
        """Take the title from a title slot that the host has written over."""
        record, _ = read_record(slot.rstrip(b"\n"))
        if record is not None and record.type == "title" and self.header is not None:
            self.header = evolve(self.header, title=record.title or None)

    def _read_each(self, offset: int, run: bytes, items: list[Item]) -> None:
        for line in run.removesuffix(b"\n").split(b"\n"):
            self._lines += 1
            record, reason = read_record(line)
            if record is None and reason is not None:
                self._skip(offset, reason, items)
            elif record is not None:
                if reason is not None:
                    items.append(LineProblem(self._lines, offset, reason, kept=True))
                self._take(record, offset, items)
            offset += len(line) + 1

    def _take(self, record: Record, offset: int, items: list[Item]) -> None:
        if self.foreign:
            return
        if not record.type:
            self._skip(offset, Reason.NOT_AN_ENTRY, items)
        elif record.type == "session":
            self._open(record, offset, items)
        elif self.header is not None or self._broken:
            self._enter(record, offset, items)
        elif record.type == "title" and self._title is None:
            self._title = record
        else:
            self.foreign = True

    def _skip(self, offset: int, reason: Reason, items: list[Item]) -> None:
        items.append(LineProblem(self._lines, offset, reason))
        self._broken = True
        self._before_gap = self._last

    def _open(self, record: Record, offset: int, items: list[Item]) -> None:
        if self.header is not None:
            items.append(LineProblem(self._lines, offset, Reason.SECOND_HEADER))
        elif not record.id:
            self._skip(offset, Reason.BAD_HEADER, items)
        else:
            self.header = _header(record, self._title)
            items.append(self.header)
        self._ids.append(None)

    def _enter(self, record: Record, offset: int, items: list[Item]) -> None:
        entry_id = record.id or f"line-{self._lines}"
        parent = self._last if record.parent_id is UNSET else record.parent_id
        if entry_id in self._seen:
            items.append(LineProblem(self._lines, offset, Reason.DUPLICATE_ID, kept=True))
        if self._broken and parent is not None and parent not in self._seen:
            items.append(LineProblem(self._lines, offset, Reason.LOST_PARENT, kept=True))
            parent = self._adopted.setdefault(parent, self._before_gap)
        if record.message is not None:
            items.append(_message_entry(record, record.message, entry_id, parent, self._lines))
        else:
            items.append(_other_entry(record, entry_id, parent, self._first_kept(record), self._lines))
        self._seen.add(entry_id)
        self._ids.append(entry_id)
        self._last = entry_id

    def _first_kept(self, record: Record) -> str | None:
        """The entry a compaction keeps from; version 1 names it by its place in the file, header included."""
        index = record.first_kept_entry_index
        if record.first_kept_entry_id or index is None:
            return record.first_kept_entry_id
        return self._ids[index] if 0 <= index < len(self._ids) else None


def _header(record: Record, slot: Record | None) -> SessionHeader:
    title = (slot.title if slot is not None else None) or record.title
    return SessionHeader(
        id=record.id or "",
        version=record.version if record.version is not None else 1,
        cwd=record.cwd,
        at=milliseconds(record.timestamp),
        parent_session=record.parent_session or record.branched_from,
        title=title or None,
        host="pi" if slot is None and record.title is None else "omp",
    )


def _message_entry(record: Record, message: MessageRecord, entry_id: str, parent: str | None, line: int) -> Entry:
    at = milliseconds(record.timestamp)
    kind, custom_type = record.type or "", message.custom_type
    return _assemble.entry(entry_id, parent, kind, at, message_of(message, at), custom_type, None, None, None, line)


def _other_entry(record: Record, entry_id: str, parent: str | None, first_kept: str | None, line: int) -> Entry:
    at = milliseconds(record.timestamp)
    return Entry(
        id=entry_id,
        parent_id=parent,
        kind=record.type or "",
        at=at,
        message=custom_message(record.content, at) if record.type == "custom_message" else None,
        custom_type=record.custom_type,
        summary=record.summary,
        first_kept_id=first_kept,
        data=_json(record.data, record.details),
        line=line,
    )


def _json(*found: Raw) -> str | None:
    """The first that holds anything, as text."""
    texts = (bytes(raw).decode("utf-8", "replace") for raw in found)
    return next((text for text in texts if text and text != "null"), None)
