"""Bytes to lines, in blocks, with a bound on what one line may hold in memory."""

from __future__ import annotations

from typing import NamedTuple

from attrs import define, field

MAX_LINE = 64 * 1024 * 1024
"""Bytes of the longest line that is read: hosts move larger content out of the file."""


class Line(NamedTuple):
    """One line without its line break; ``data`` is None where it was longer than the bound."""

    number: int
    offset: int
    data: bytes | None


@define
class LineSplitter:
    """Cut blocks of a file at line breaks (``\\n``). An unfinished last line waits for the next block.

    ``lines`` and ``consumed`` count the lines and bytes that are complete.
    """

    lines: int = 0
    consumed: int = 0
    limit: int = MAX_LINE
    _waiting: list[bytes] = field(factory=list, repr=False)
    _length: int = 0

    def feed(self, block: bytes) -> list[Line]:
        """The lines that ``block`` completes."""
        first, *rest = block.split(b"\n")
        self._wait(first)
        if not rest:
            return []
        found = [self._line(self._length, self._joined())]
        self._waiting.clear()
        *whole, last = rest
        found += [self._line(len(data), data) for data in whole]
        self._length = 0
        self._wait(last)
        return found

    def rest(self) -> Line | None:
        """The unfinished line after the last line break, None where there is none."""
        return Line(self.lines + 1, self.consumed, self._joined()) if self._length else None

    def _line(self, length: int, data: bytes | None) -> Line:
        line = Line(self.lines + 1, self.consumed, data if length <= self.limit else None)
        self.lines += 1
        self.consumed += length + 1
        return line

    def _wait(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self.limit:
            self._waiting.clear()
        else:
            self._waiting.append(piece)

    def _joined(self) -> bytes | None:
        return b"".join(self._waiting) if self._length <= self.limit else None
