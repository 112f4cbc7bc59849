"""What a host's session holds: read from its file as it grows, and asked of the host where it is not there yet."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Sequence

from attrs import frozen

from hindbrain.contracts import Branch, Entry, JsonValue, Message
from hindbrain.memory.sessions import SessionFileError, SessionReader, parse_entries

_INLINE = 256 * 1024
"""Bytes that are read without a thread: handing over costs more than reading them."""


@frozen(kw_only=True)
class Missing:
    """Entries of the branch after one that is known, and the leaf; ``more`` where there are others after them."""

    entries: Sequence[JsonValue] = ()
    leaf: str | None = None
    more: bool = False


AskHost = Callable[[str | None], Awaitable[Missing]]
"""The entries after this one, or from the root."""


class SessionView:
    """Follows one session. Each look costs what is new: a line once read is not read again.

    Args:
        ask: asks the host for entries that are in no file.

    Source: architecture.md, "The way of one event" (histories do not cross the pipe).
    """

    def __init__(self, ask: AskHost) -> None:
        self._ask = ask
        self._file: str | None = None
        self._reader: SessionReader | None = None
        self._seen: tuple[int, int, int, int] | None = None
        self._entries: dict[str, Entry] = {}
        self._line = Line()

    @property
    def branch(self) -> Branch:
        """The entries as of the last look."""
        return Branch(self._entries, self._line.leaf)

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of the branch, oldest first; the next look may add to this very list."""
        return self._line.messages

    async def look(self, file: str | None, leaf: str | None) -> None:
        """Read what is new up to ``leaf``; None is the last entry of the file.

        Raises:
            Exception: entries are missing and the host does not give them. What was read is kept.
        """
        await self._read(file)
        if leaf is not None and leaf not in self._entries:
            await self._fetch(leaf)
        self._line.move(self._entries, leaf if leaf is not None else next(reversed(self._entries), None))

    async def _read(self, file: str | None) -> None:
        if file != self._file:
            self._file, self._reader = file, None if file is None else SessionReader(file)
            self._forget()
        if self._reader is None or file is None:
            return
        stat = _stat(file)  # before it is read: what is written meanwhile is read at the next look
        seen = None if stat is None else (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        if seen is not None and seen == self._seen:
            return
        try:
            if stat is None or stat.st_size - self._reader.consumed <= _INLINE:
                found = self._reader.read_new()
            else:
                found = await asyncio.to_thread(self._reader.read_new)
        except SessionFileError:
            return  # a host writes the file with the first message, and is asked for what is missing
        if found.restarted:
            self._forget()
        self._seen = seen
        self._entries.update((entry.id, entry) for entry in found.entries)

    async def _fetch(self, leaf: str) -> None:
        after = self._line.leaf
        while True:
            found = await self._ask(after)
            lines = b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in found.entries)
            entries = parse_entries(lines)
            self._entries.update((entry.id, entry) for entry in entries)
            if not (found.more and entries) or leaf in self._entries:
                return
            after = entries[-1].id

    def _forget(self) -> None:
        self._seen = None
        self._entries = {}
        self._line = Line()


class Line:
    """The branch from the root to the leaf, and its messages, moved along at the price of the difference."""

    def __init__(self) -> None:
        self.leaf: str | None = None
        self.messages: list[Message] = []
        self._path: list[str] = []
        self._at: dict[str, int] = {}
        self._counts: list[int] = []

    def move(self, entries: dict[str, Entry], leaf: str | None) -> None:
        """Stand on another leaf. A parent that is missing ends the walk, and so does a cycle."""
        if self._path and entries[self._path[0]].parent_id in entries:
            self._cut(0)  # the walk had ended in a cycle, or before a parent that has come since
        new: list[Entry] = []
        seen: set[str] = set()
        at = leaf
        while at is not None and at not in self._at and at not in seen and (entry := entries.get(at)) is not None:
            seen.add(at)
            new.append(entry)
            at = entry.parent_id
        self._cut(self._at[at] + 1 if at is not None and at in self._at else 0)
        for entry in reversed(new):
            self._at[entry.id] = len(self._path)
            self._path.append(entry.id)
            if entry.message is not None:
                self.messages.append(entry.message)
            self._counts.append(len(self.messages))
        self.leaf = leaf

    def _cut(self, length: int) -> None:
        if length == len(self._path):
            return
        for gone in self._path[length:]:
            del self._at[gone]
        del self._path[length:], self._counts[length:]
        # A list of its own: whoever holds the old one goes on seeing the old branch.
        self.messages = self.messages[: self._counts[-1] if self._counts else 0]


def _stat(file: str) -> os.stat_result | None:
    try:
        return os.stat(file)  # noqa: PTH116  (a Path costs more than the question)
    except OSError:
        return None
