"""Frames: one line of bytes each, ended by 0x0A and by nothing else."""

from __future__ import annotations

from typing import Final, Protocol

LIMIT: Final = 8 * 1024 * 1024
"""Bytes of the longest frame, its end not counted."""


class Reader(Protocol):
    """The part of `asyncio.StreamReader` that is used."""

    async def read(self, n: int, /) -> bytes:
        """Some bytes, at most ``n``; none at the end."""


class Oversize:
    """Stands in the stream of frames for one that was over the limit; its bytes were let go as they came."""


OVERSIZE: Final = Oversize()


class Splitter:
    """Cuts a stream of bytes into frames, whatever the pieces it comes in.

    At most ``limit`` bytes and one piece are held. A frame that grows over the limit is told once, when it does, and
    passed over up to its end; what follows is read as usual.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._held = bytearray()
        self._skipping = False

    @property
    def partial(self) -> bool:
        """Whether the stream stands in the middle of a frame."""
        return self._skipping or bool(self._held)

    def feed(self, piece: bytes) -> list[bytes | Oversize]:
        """The frames that this piece completes, oldest first, without their ends."""
        found: list[bytes | Oversize] = []
        start = 0
        while (end := piece.find(b"\n", start)) >= 0:
            self._take(piece[start:end], found)
            if not self._skipping:
                found.append(bytes(self._held))
            self._held.clear()
            self._skipping = False
            start = end + 1
        self._take(piece[start:], found)
        return found

    def _take(self, part: bytes, found: list[bytes | Oversize]) -> None:
        if self._skipping:
            return
        if len(self._held) + len(part) > self._limit:
            self._held = bytearray()
            self._skipping = True
            found.append(OVERSIZE)
            return
        self._held += part
