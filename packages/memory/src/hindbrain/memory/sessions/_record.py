"""The border: the bytes of one line to a checked record.

The fields below are all that is taken from a line; whatever else a host writes there is skipped unread. A field of the
wrong type costs only itself, never its line.

Why msgspec and not pydantic here: this is the hottest reading in the house (a sidecar reads every session of its host),
and the bar is 8 times the time of reading and splitting the bytes. Tried on the 2.4 MB session, CPU time, beside
1.2 ms for read and split: a pydantic typed dict 7.3 ms and ``pydantic_core.from_json`` 5.7 ms, both before a single
value is built and neither ending under the bar (the latter, read by hand, 11.5 ms in all); msgspec, which checks the
fields named here and builds no others, 4.1 ms line by line and 3.7 ms for whole runs of lines: 9.6 ms in all. What
remains is mostly the values themselves (see ``_assemble``).
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from hindbrain.memory.sessions._values import Reason


class PartRecord(Struct, gc=False):
    """A block of a message's content, of whatever type."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: dict[str, Any] | None = None
    data: str | None = None
    mime_type: str | None = msgspec.field(default=None, name="mimeType")


Content: TypeAlias = str | list[PartRecord]


class FileRecord(Struct, gc=False):
    """A file that omp's ``@path`` put into the conversation."""

    path: str | None = None
    content: str | None = None
    image: PartRecord | None = None


class UsageRecord(Struct, rename="camel", gc=False):
    """What an answer cost, in tokens."""

    total_tokens: int | float | None = None
    input: int | float | None = None
    output: int | float | None = None
    cache_read: int | float | None = None
    cache_write: int | float | None = None


class MessageRecord(Struct, rename="camel", gc=False):
    """The ``message`` of an entry, of whatever role."""

    role: str | None = None
    content: Content | None = None
    timestamp: int | float | str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    model: str | None = None
    stop_reason: str | None = None
    usage: UsageRecord | None = None
    command: str | None = None
    code: str | None = None
    output: str | None = None
    exit_code: int | None = None
    cancelled: bool = False
    exclude_from_context: bool = False
    custom_type: str | None = None
    summary: str | None = None
    sections: dict[str, Any] | None = None
    files: list[FileRecord] | None = None


class Record(Struct, rename="camel", gc=False):
    """One line: title slot, header or entry. ``data`` and ``details`` are JSON as the host wrote it, or empty."""

    type: str | None = None
    id: str | None = None
    parent_id: str | UnsetType | None = UNSET
    timestamp: int | float | str | None = None
    message: MessageRecord | None = None
    custom_type: str | None = None
    content: Content | None = None
    data: Raw = Raw()
    details: Raw = Raw()
    summary: str | None = None
    first_kept_entry_id: str | None = None
    first_kept_entry_index: int | None = None
    version: int | None = None
    cwd: str | None = None
    title: str | None = None
    parent_session: str | None = None
    branched_from: str | None = None


_decoder = msgspec.json.Decoder(Record)
_OPEN, _CLOSE = b"{}"
_BOM = b"\xef\xbb\xbf"
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def read_record(line: bytes) -> tuple[Record | None, Reason | None]:
    """Read one line (without its line break).

    A sound line gives a record and no reason, a mended one a record and what was mended (the last thing, where it is
    more than one), a broken one no record and a reason. A blank line gives neither.
    """
    try:
        record = _decoder.decode(line)
    except (ValueError, RecursionError):
        return _mended(line)
    return (record, None) if record.type else (None, Reason.NOT_AN_ENTRY)


def read_records(run: bytes) -> tuple[list[Record], list[int]] | None:
    """Read a run of lines at once, if every one of them is a sound record; else None, and read them one by one.

    Gives the records and where each of their lines begins in ``run``.
    """
    starts = _starts(run)
    if not starts:
        return None
    try:
        records = _decoder.decode_lines(run)
    except (ValueError, RecursionError):
        return None
    return (records, starts) if len(records) == len(starts) else None


def _starts(run: bytes) -> list[int]:
    """Where the lines of ``run`` begin; none if one of them is not an object from its first to its last byte.

    The decoder itself would take two objects in one line and one object in two lines. With a brace at both ends of
    every line no object can go on in the next, so that as many objects as lines means one in each.
    """
    starts = [0]
    end = run.find(b"\n")
    while end > 0 and run[starts[-1]] == _OPEN and run[end - 1] == _CLOSE:
        if end + 1 == len(run):
            return starts
        starts.append(end + 1)
        end = run.find(b"\n", end + 1)
    return []


def _mended(line: bytes) -> tuple[Record | None, Reason | None]:
    reason: Reason | None = None
    bare = line.removeprefix(_BOM).strip(b"\0 \t\r")
    if b"\0" in line:
        reason = Reason.NUL_BYTES
    if not bare:
        return None, reason
    text = bare.decode("utf-8", "replace")
    if text.encode() != bare:
        reason = Reason.INVALID_UTF8
    whole = _ESCAPE.sub(lambda m: r"\ufffd" if m[1] else m[0], text) if r"\u" in text else text
    if whole != text:
        reason = Reason.LONE_SURROGATE
    try:
        value = msgspec.json.decode(whole)
    except (ValueError, RecursionError):
        return None, Reason.NOT_JSON
    if not isinstance(value, dict) or not isinstance(value.get("type"), str) or not value["type"]:
        return None, Reason.NOT_AN_ENTRY
    record, exact = _convert(value, Record)
    return record, reason if exact else Reason.WRONG_TYPE


def _convert(value: dict[str, Any], into: type[Any]) -> tuple[Any, bool]:
    """Build ``into`` from the fields of ``value`` that have the right type; say whether that was all of them."""
    taken: dict[str, Any] = {}
    exact = True
    for field in msgspec.structs.fields(into):
        if field.encode_name in value:
            found, whole = _field(field.name, field.type, value[field.encode_name])
            exact &= whole
            if found is not UNSET:
                taken[field.name] = found
    return into(**taken), exact


def _field(name: str, kind: Any, value: Any) -> tuple[Any, bool]:
    if kind is Raw:
        return Raw(msgspec.json.encode(value)), True
    if isinstance(value, dict) and name in _INNER:
        return _convert(value, _INNER[name])
    if isinstance(value, list) and name in _INNER_LISTS:
        read = [_convert(each, _INNER_LISTS[name]) for each in value if isinstance(each, dict)]
        return [one for one, _ in read], len(read) == len(value) and all(exact for _, exact in read)
    try:
        return msgspec.convert(value, kind), True
    except msgspec.ValidationError:
        return UNSET, False


_INNER: dict[str, type[Struct]] = {"message": MessageRecord, "image": PartRecord, "usage": UsageRecord}
_INNER_LISTS: dict[str, type[Struct]] = {"content": PartRecord, "files": FileRecord}
