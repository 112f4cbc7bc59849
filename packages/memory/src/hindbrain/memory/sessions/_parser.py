"""Lines to header, entries and problems: everything that needs to know the lines before."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, evolve, field
from msgspec import UNSET, Raw

from hindbrain.contracts import Entry, Message
from hindbrain.memory.sessions._lines import Line
from hindbrain.memory.sessions._message import custom_message, message_of
from hindbrain.memory.sessions._record import Record, read_record
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
    _title: Record | None = None
    _broken: bool = False
    _ids: list[str | None] = field(factory=list, repr=False)
    _seen: set[str] = field(factory=set, repr=False)
    _last: str | None = None
    _before_gap: str | None = None
    _adopted: dict[str, str | None] = field(factory=dict, repr=False)

    def feed(self, lines: Iterable[Line]) -> list[Item]:
        """What the lines say. A mended line gives a problem and an entry."""
        items: list[Item] = []
        for line in lines:
            if self.foreign:
                break
            self._read(line, items)
        return items

    def retitle(self, slot: bytes) -> None:
        """Take the title from a title slot that the host has written over."""
        record, _ = read_record(slot.rstrip(b"\n"))
        if record is not None and record.type == "title" and self.header is not None:
            self.header = evolve(self.header, title=record.title or None)

    def _read(self, line: Line, items: list[Item]) -> None:
        record, reason = read_record(line.data) if line.data is not None else (None, Reason.TOO_LONG)
        if record is None:
            if reason is not None:
                self._skip(line, reason, items)
            return
        if reason is not None:
            items.append(LineProblem(line.number, line.offset, reason, kept=True))
        if record.type == "session":
            self._open(record, line, items)
        elif record.type == "title" and self.header is None and not self._ids:
            self._title = record
        elif self.header is None and not self._broken:
            self.foreign = True
        else:
            self._enter(record, line, items)

    def _skip(self, line: Line, reason: Reason, items: list[Item]) -> None:
        items.append(LineProblem(line.number, line.offset, reason))
        self._broken = True
        self._before_gap = self._last

    def _open(self, record: Record, line: Line, items: list[Item]) -> None:
        if self.header is not None:
            items.append(LineProblem(line.number, line.offset, Reason.SECOND_HEADER))
        elif not record.id:
            self._skip(line, Reason.BAD_HEADER, items)
        else:
            self.header = _header(record, self._title)
            items.append(self.header)
        self._ids.append(None)

    def _enter(self, record: Record, line: Line, items: list[Item]) -> None:
        entry_id = record.id or f"line-{line.number}"
        if entry_id in self._seen:
            items.append(LineProblem(line.number, line.offset, Reason.DUPLICATE_ID, kept=True))
        parent = self._last if record.parent_id is UNSET else record.parent_id
        if parent is not None and parent not in self._seen and self._broken:
            items.append(LineProblem(line.number, line.offset, Reason.LOST_PARENT, kept=True))
            parent = self._adopted.setdefault(parent, self._before_gap)
        items.append(_entry(record, entry_id, parent, self._first_kept(record), line.number))
        self._seen.add(entry_id)
        self._ids.append(entry_id)
        self._last = entry_id

    def _first_kept(self, record: Record) -> str | None:
        index = record.first_kept_entry_index
        if index is None:
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


def _entry(record: Record, entry_id: str, parent_id: str | None, first_kept: str | None, line: int) -> Entry:
    at = milliseconds(record.timestamp)
    message: Message | None = None
    custom_type = record.custom_type
    if record.message is not None:
        message = message_of(record.message, at)
        custom_type = custom_type or record.message.custom_type
    elif record.type == "custom_message":
        message = custom_message(record.content, at)
    return Entry(
        id=entry_id,
        parent_id=parent_id,
        kind=record.type or "",
        at=at,
        message=message,
        custom_type=custom_type,
        summary=record.summary,
        first_kept_id=first_kept,
        data=_json(record.data if record.data is not None else record.details),
        line=line,
    )


def _json(raw: Raw | None) -> str | None:
    return None if raw is None else bytes(raw).decode("utf-8", "replace")
