"""Messages in documents of a few turns. Source: spec/memory.md section 14 (curated)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from hindbrain.generic._import._select import Kept


def turns_of(kept: Sequence[Kept]) -> Iterator[list[Kept]]:
    """The messages by turn: what the user said, and all up to what they said next."""
    number = 0

    def turn(message: Kept) -> int:
        nonlocal number
        number += message.opens
        return number

    for _, messages in groupby(kept, key=turn):
        yield list(messages)


def chunks_of(kept: Sequence[Kept], *, turns: int, max_bytes: int) -> Iterator[list[Kept]]:
    """Documents of at most ``turns`` turns and ``max_bytes`` bytes; one longer turn is a document by itself.

    Each ends where it does because of what is in it and the one turn after it, so that more turns behind change
    nothing but the last.
    """
    chunk: list[Kept] = []
    count = size = 0
    for turn in turns_of(kept):
        length = sum(message.size for message in turn)
        if chunk and (count == turns or size + length > max_bytes):
            yield chunk
            chunk, count, size = [], 0, 0
        chunk += turn
        count += 1
        size += length
    if chunk:
        yield chunk
