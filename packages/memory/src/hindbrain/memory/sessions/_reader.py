"""The shells: files to session values, at once, step by step, or as they grow."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from hindbrain.contracts import Entry, JsonValue, Message
from hindbrain.memory.sessions._errors import SessionFileError, Unreadable
from hindbrain.memory.sessions._lines import LineSplitter, Run
from hindbrain.memory.sessions._parser import SessionParser
from hindbrain.memory.sessions._values import Item, LineProblem, Reason, Restart, SessionFile, SessionHeader

_BLOCK = 128 * 1024
_MARK = 256
_SLOT = b'{"type":"title"'


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


def parse_entries(lines: bytes) -> tuple[Entry, ...]:
    """The entries in lines of a session that lie in no file, without its header. What is no entry is left out."""
    parser, splitter = SessionParser(header=SessionHeader(id="")), LineSplitter()
    items = [*parser.feed(splitter.feed(lines)), *parser.feed(splitter.rest())]
    return tuple(item for item in items if isinstance(item, Entry))


def parse_message(raw: Mapping[str, JsonValue]) -> Message | None:
    """A message as a host spells it, outside of any entry; None where it is none."""
    line = json.dumps({"type": "message", "id": "0", "message": raw}).encode()
    return next((entry.message for entry in parse_entries(line)), None)


def iter_session(path: str | os.PathLike[str]) -> Iterator[tuple[Item, int]]:
    """Read a session file step by step: header, entries and problems in file order, each with the bytes done so far.

    The bytes grow by the block (128 KiB), which is what a progress display wants. Nothing is kept of what was yielded.

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

    @property
    def consumed(self) -> int:
        """The bytes read so far, whole lines only."""
        return self._consumed

    def read_new(self) -> SessionFile:
        """What was appended since the last call. An empty file gives nothing, and no error: it may be about to grow.

        Raises:
            SessionFileError: as :func:`read_session`. What was read before is kept; calling again is fine.
        """
        with _opened(self._path) as file:
            restarted = self._restart(file)
            if restarted:
                self._begin()
            file.seek(self._consumed)
            items = self._read(file)
        return _collected(items, self._parser, self._consumed, restarted)

    def _begin(self) -> None:
        self._parser = SessionParser()
        self._consumed = 0
        self._inode: tuple[int, int] | None = None
        self._slot = b""
        self._anchor, self._anchor_at = b"", 0
        self._tail, self._tail_at = b"", 0

    def _read(self, file: FileIO) -> list[Item]:
        splitter = LineSplitter(self._consumed)
        items: list[Item] = []
        for runs in self._runs(file, splitter, items):
            for offset, run in runs:
                self._remember(offset, run or b"")
            items += self._parser.feed(runs)
            self._consumed = splitter.consumed
            if self._parser.foreign:
                self._begin()
                raise SessionFileError(str(self._path), Unreadable.NOT_A_SESSION)
        status = os.fstat(file.fileno())
        self._inode = (status.st_dev, status.st_ino)
        return items

    def _runs(self, file: FileIO, splitter: LineSplitter, items: list[Item]) -> Iterator[list[Run]]:
        """The file's next runs. A failing read ends them quietly where there is something to hand over first."""
        try:
            while block := file.read(_BLOCK):
                yield splitter.feed(block)
        except OSError:
            if not items:
                raise

    def _remember(self, offset: int, run: bytes) -> None:
        """Keep what tells this file from another: its first bytes after a title slot, and the last that were read."""
        if not self._anchor:
            if offset == 0 and run.startswith(_SLOT):
                self._slot = run[: run.find(b"\n") + 1]
            self._anchor_at = max(offset, len(self._slot))
            self._anchor = run[self._anchor_at - offset :][:_MARK]
        self._tail_at = max(offset + len(run) - _MARK, len(self._slot), offset)
        self._tail = run[self._tail_at - offset :]

    def _restart(self, file: FileIO) -> Restart | None:
        if self._inode is None:
            return None
        status = os.fstat(file.fileno())
        if status.st_size < self._consumed:
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
    with _opened(path) as file:
        while not parser.foreign and (block := file.read(_BLOCK)):
            for item in parser.feed(splitter.feed(block)):
                yield item, splitter.consumed
    for item in _last(splitter, parser):
        yield item, splitter.consumed
    if parser.foreign or parser.empty:
        raise SessionFileError(str(path), Unreadable.NOT_A_SESSION)


def _last(splitter: LineSplitter, parser: SessionParser) -> list[Item]:
    items = parser.feed(splitter.rest())
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
