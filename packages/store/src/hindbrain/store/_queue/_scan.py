"""Finding the lines of jobs without reading what is in them. No I/O."""

from __future__ import annotations

from functools import partial

from hindbrain.store._queue._line import HEAD, read_job
from hindbrain.store._queue._seal_line import SEAL_OPEN, read_fields
from hindbrain.store._queue._values import Place, Reason

_BOM = b"\xef\xbb\xbf"
_AROUND = b"\0 \t\r\n"
_CLOSE = ord("}")

Found = tuple[str, Place]
"""A job's id, and where its line lies."""


def scan(chunk: bytes, segment: int, base: int) -> tuple[list[str], list[Place], list[Place]]:
    """Ids and places of the lines that begin and end like a job of ours, and the places of those that do not.

    ``base`` is the chunk's offset in its segment. What comes behind the last line break is left out.
    """
    ids: list[str] = []
    places: list[Place] = []
    odd: list[Place] = []
    match, find = HEAD.match, chunk.find
    place = partial(tuple.__new__, Place)  # a good part of the time goes here: this is the quickest way to make one
    start = 0
    while (end := find(b"\n", start)) >= 0:
        head = match(chunk, start, end)
        if head and chunk[end - 1] == _CLOSE:
            ids.append(head[1].decode())
            places.append(place((segment, base + start, end - start)))
        elif end > start:
            odd.append(Place(segment, base + start, end - start))
        start = end + 1
    return ids, places, odd


def classify(line: bytes, place: Place) -> Found | Reason | None:
    """What an odd line is after all: a job of ours, a reason to set it aside, or nothing at all (None).

    A BOM, carriage returns, zeros of a power loss and blanks around a line are passed over.
    """
    text = line.strip(_AROUND).removeprefix(_BOM).strip(_AROUND)
    if not text:
        return None
    ours = text.startswith(SEAL_OPEN)
    job = read_job(text)
    if job is not None:
        if not ours:
            return Reason.UNSEALED
        return job.id, Place(place.segment, place.offset + line.index(text), len(text))
    return Reason.TORN if ours and read_fields(text) is None else Reason.MALFORMED
