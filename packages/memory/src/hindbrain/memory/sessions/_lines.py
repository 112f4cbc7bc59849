"""A file's bytes as runs of whole lines, with a bound on what one line may hold in memory."""

from __future__ import annotations

from typing import TypeAlias

from attrs import define, field

MAX_LINE = 64 * 1024 * 1024
"""Bytes of the longest line that is read: hosts move larger content out of the file."""

Run: TypeAlias = tuple[int, bytes | None]
"""The offset a run of whole lines begins at, and its bytes; None stands for one line longer than the bound."""


@define
class LineSplitter:
    """Cut a file, block by block, after its last newline so far. An unfinished last line waits for the next block.

    ``consumed`` is the number of bytes in whole lines.
    """

    consumed: int = 0
    limit: int = MAX_LINE
    _waiting: list[bytes] = field(factory=list, repr=False)
    _length: int = 0

    def feed(self, block: bytes) -> list[Run]:
        """The whole lines that ``block`` completes: none, one run of them, or one after a line that is too long."""
        end = block.rfind(b"\n") + 1
        if not end:
            self._wait(block)
            return []
        runs: list[Run] = []
        start = 0
        first = block.find(b"\n")
        if self._length + first > self.limit:
            runs.append((self.consumed, None))
            self.consumed += self._length + first + 1
            self._waiting.clear()
            start = first + 1
        if start < end:
            data = b"".join((*self._waiting, memoryview(block)[start:end]))
            runs.append((self.consumed, data))
            self.consumed += len(data)
        self._waiting.clear()
        self._length = 0
        self._wait(block[end:])
        return runs

    def rest(self) -> list[Run]:
        """The unfinished line after the last newline, if there is one."""
        whole = b"".join(self._waiting) if self._length <= self.limit else None
        return [(self.consumed, whole)] if self._length else []

    def _wait(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self.limit:
            self._waiting.clear()
        else:
            self._waiting.append(piece)
