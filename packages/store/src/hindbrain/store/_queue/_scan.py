"""Finding the lines of jobs without reading what is in them. No I/O."""

from __future__ import annotations

from hindbrain.store._queue._line import HEAD, read_job
from hindbrain.store._queue._seal_line import SEAL_OPEN, read_fields
from hindbrain.store._queue._values import Reason

_BOM = b"\xef\xbb\xbf"
_AROUND = b"\0 \t\r\n"
_CLOSE = ord("}")

Found = tuple[str, int, int]
"""A job's id, and the offset and length of its line."""


def scan(chunk: bytes, base: int) -> tuple[list[Found], list[tuple[int, int]]]:
    """The lines that begin and end like a job of ours, and offset and length of those that do not. ``base`` is added.

    A last line without a line break is among the latter, whatever it looks like.
    """
    found: list[Found] = []
    odd: list[tuple[int, int]] = []
    match, find = HEAD.match, chunk.find
    start = 0
    while (end := find(b"\n", start)) >= 0:
        head = match(chunk, start, end)
        if head and chunk[end - 1] == _CLOSE:
            found.append((head[1].decode(), base + start, end - start))
        elif end > start:
            odd.append((base + start, end - start))
        start = end + 1
    if start < len(chunk):
        odd.append((base + start, len(chunk) - start))
    return found, odd


def classify(line: bytes, offset: int) -> Found | Reason | None:
    """What an odd line is after all: a job of ours, a reason to set it aside, or nothing at all (None).

    A BOM, carriage returns, zeros of a power loss and blanks around a line are passed over.
    """
    text = line.strip(_AROUND).removeprefix(_BOM).strip(_AROUND)
    if not text:
        return None
    ours = text.startswith(SEAL_OPEN)
    job = read_job(text)
    if job is not None:
        return (job.id, offset + line.index(text), len(text)) if ours else Reason.UNSEALED
    return Reason.TORN if ours and read_fields(text) is None else Reason.MALFORMED
