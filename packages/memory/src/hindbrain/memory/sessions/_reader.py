"""The shells: files to session values, at once, step by step, or as they grow."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from hindbrain.contracts import Entry
from hindbrain.memory.sessions._errors import SessionFileError, Unreadable
from hindbrain.memory.sessions._lines import Line, LineSplitter
from hindbrain.memory.sessions._parser import SessionParser
from hindbrain.memory.sessions._values import Item, LineProblem, Reason, Restart, SessionFile

_BLOCK = 256 * 1024
_TAIL = 256


def read_session(path: str | os.PathLike[str]) -> SessionFile:
    """Read a whole session file.

    A last line without line break is read too where it is whole; otherwise it is reported as torn. ``offset`` ends
    before it either way.

    Raises:
        SessionFileError: there is no such file, it cannot be read, or it is not a session.
    """
    splitter, parser = LineSplitter(), SessionParser()
    items = [item for item, _ in _items(Path(path), splitter, parser)]
    return _collected(items, parser, splitter.consumed)


def iter_session(path: str | os.PathLike[str]) -> Iterator[tuple[Item, int]]:
    """Read a session file step by step: header, entries and problems in file order, each with the bytes done so far.

    The bytes grow by the block (256 KiB), which is what a progress display wants. Nothing is kept of what was yielded.

    Raises:
        SessionFileError: as :func:`read_session`, when the first item is asked for or, for a file in which no line is
            an entry, at the end.
    """
    return _items(Path(path), LineSplitter(), SessionParser())


class SessionReader:
    """Read a session file that its host is writing: each call gives what is new.

    Only whole lines are read; a torn last line waits for its end. A file that shrank, was replaced, or whose earlier
    bytes changed is read again from the first byte, and the result says so. omp's title slot may be written over at any
    time; the header then carries the new title.

    Not for several threads at once.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._begin()

    def read_new(self) -> SessionFile:
        """What was appended since the last call. An empty file gives nothing, and no error: it may be about to grow.

        Raises:
            SessionFileError: as :func:`read_session`. What was read before is kept; calling again is fine.
        """
        with _opened(self._path) as file:
            restarted = self._restart(file)
            if restarted:
                self._begin()
            file.seek(self._splitter.consumed)
            items = self._read(file)
        return _collected(items, self._parser, self._splitter.consumed, restarted)

    def _begin(self) -> None:
        self._splitter, self._parser = LineSplitter(), SessionParser()
        self._slot = b""
        self._anchor = b""
        self._tail = b""
        self._inode: tuple[int, int] | None = None

    def _read(self, file: FileIO) -> list[Item]:
        splitter = LineSplitter(self._splitter.lines, self._splitter.consumed)
        items: list[Item] = []
        status = os.fstat(file.fileno())
        while block := file.read(_BLOCK):
            lines = splitter.feed(block)
            self._remember(lines)
            items += self._parser.feed(lines)
            if self._parser.foreign:
                self._begin()
                raise SessionFileError(str(self._path), Unreadable.NOT_A_SESSION)
        self._splitter = LineSplitter(splitter.lines, splitter.consumed)
        self._inode = (status.st_dev, status.st_ino)
        return items

    def _remember(self, lines: list[Line]) -> None:
        """Keep what tells this file from another: its title slot's place, its first line, its last bytes."""
        for line in lines:
            data = line.data or b""
            if not self._anchor and line.number == 1 and data.startswith(b'{"type":"title"'):
                self._slot = data + b"\n"
            elif not self._anchor and data:
                self._anchor = data[:4096]
                self._anchor_at = line.offset
            if self._anchor:
                self._tail, self._tail_at = data[-_TAIL:], line.offset + max(0, len(data) - _TAIL)

    def _restart(self, file: FileIO) -> Restart | None:
        if self._inode is None or not self._anchor:
            return None
        status = os.fstat(file.fileno())
        if status.st_size < self._splitter.consumed:
            return Restart.SHRANK
        if (status.st_dev, status.st_ino) != self._inode:
            return Restart.REWRITTEN
        slot = file.read(len(self._slot))
        if not (_holds(file, self._anchor_at, self._anchor) and _holds(file, self._tail_at, self._tail)):
            return Restart.REWRITTEN
        if slot != self._slot:
            self._slot = slot
            self._parser.retitle(slot)
        return None


def _holds(file: FileIO, at: int, expected: bytes) -> bool:
    file.seek(at)
    return file.read(len(expected)) == expected


def _items(path: Path, splitter: LineSplitter, parser: SessionParser) -> Iterator[tuple[Item, int]]:
    named = str(path)
    entries = False
    with _opened(path) as file:
        while block := file.read(_BLOCK):
            for item in parser.feed(splitter.feed(block)):
                entries = entries or isinstance(item, Entry)
                yield item, splitter.consumed
            if parser.foreign:
                raise SessionFileError(named, Unreadable.NOT_A_SESSION)
        done = splitter.consumed
        for item in _last(splitter, parser):
            entries = entries or isinstance(item, Entry)
            yield item, done
    if parser.foreign or (parser.header is None and not entries):
        raise SessionFileError(named, Unreadable.NOT_A_SESSION)


def _last(splitter: LineSplitter, parser: SessionParser) -> list[Item]:
    rest = splitter.rest()
    if rest is None:
        return []
    items = parser.feed([rest])
    return [
        LineProblem(item.line, item.offset, Reason.TORN)
        if isinstance(item, LineProblem) and item.reason is Reason.NOT_JSON
        else item
        for item in items
    ]


@contextmanager
def _opened(path: Path) -> Iterator[FileIO]:
    """The file, unbuffered. What the system says about it, now or while it is read, becomes our error."""
    named = str(path)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SessionFileError(named, Unreadable.NOT_A_FILE)
        with path.open("rb", buffering=0) as file:
            yield file
    except (FileNotFoundError, NotADirectoryError) as gone:
        raise SessionFileError(named, Unreadable.MISSING) from gone
    except OSError as refused:
        raise SessionFileError(named, Unreadable.NO_ACCESS) from refused


def _collected(items: list[Item], parser: SessionParser, offset: int, restarted: Restart | None = None) -> SessionFile:
    return SessionFile(
        header=parser.header,
        entries=tuple(item for item in items if isinstance(item, Entry)),
        problems=tuple(item for item in items if isinstance(item, LineProblem)),
        offset=offset,
        restarted=restarted,
    )
