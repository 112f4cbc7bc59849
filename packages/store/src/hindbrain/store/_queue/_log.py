"""The lines of jobs, in one file or, after a failed sync, in several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hindbrain.store._files import FileLayer, sync_dir, uninterrupted
from hindbrain.store._queue._journal import Found, Identity, Journal, UnsyncedError
from hindbrain.store._queue._values import Place


class Log:
    """Segment 0 is the queue's own file, segment n lies in ``<queue>.<n>.jsonl``; only the newest one grows.

    Call everything under the lock of the queue. ``generation`` changes when the files were rewritten or found anew, and
    every place that was known before is void.

    Source: decisions.md, "Durability".
    """

    def __init__(self, layer: FileLayer, path: Path) -> None:
        self._layer = layer
        self._path = path
        self._segments = {0: Journal(layer, path)}
        self._beyond = self._journal(1)
        self._main: Identity | None = None
        self.generation = 0

    def sizes(self) -> dict[int, int]:
        """The size in bytes of every segment, oldest first.

        Raises:
            OSError: the disk's own.
        """
        newest, last = self._newest()
        older = {number: self._segments[number].look() for number in sorted(self._segments) if number != newest}
        return {number: each[1] for number, each in {**older, newest: last}.items() if each is not None}

    def append(self, data: bytes, *, alone: bool = False) -> tuple[int, int]:
        """Add whole lines, durably; the segment and the offset at which they begin.

        ``alone``: nobody else has had the lock since this object was used last.

        Raises:
            OSError: nothing of it counts, though a part may have reached the disk.
        """
        number, found = self._newest(alone=alone)
        segment = self._segments[number]
        if not segment.is_spoiled(found):
            try:
                offset = segment.append(data, found)
            except UnsyncedError:
                pass
            else:
                if self._main is None:
                    self._main = self._segments[0].identity
                return number, offset
        return number + 1, self._grow().append(data, None)

    def read(self, place: Place, length: int | None = None) -> bytes:
        """The line at a place, or its beginning.

        Raises:
            OSError: the disk's own.
        """
        wanted = place.length if length is None else min(length, place.length)
        return self._segments[place.segment].read(place.offset, wanted)

    def chunks(self, segment: int, offset: int, size: int) -> Iterator[tuple[int, bytes]]:
        """The lines of a segment, as ``Journal.chunks``.

        Raises:
            OSError: the disk's own.
        """
        return self._segments[segment].chunks(offset, size)

    def end_torn(self, segment: int) -> None:
        """End the torn last line of the newest segment; older ones are never written again.

        Raises:
            OSError: the disk's own.
        """
        if segment == max(self._segments):
            self._segments[segment].end_torn()

    def rewrite(self, data: bytes) -> None:
        """Put ``data`` in place of all segments. Killed in between, the lines are there twice, which counts once.

        Raises:
            OSError: as ``atomic_replace``.
        """
        main = self._segments[0]
        main.replace(data)
        for number in sorted(self._segments, reverse=True)[:-1]:
            self._segments[number].remove()
        sync_dir(self._layer, self._path.parent)
        self._find()

    def close(self) -> None:
        """Give the descriptors back."""
        for segment in self._segments.values():
            segment.close()

    def _journal(self, number: int) -> Journal:
        return Journal(self._layer, self._path.with_name(f"{self._path.name}.{number}.jsonl"))

    def _grow(self) -> Journal:
        """The segment beyond the newest, which is the newest from now on."""
        number = max(self._segments) + 1
        self._segments[number] = self._beyond
        self._beyond = self._journal(number + 1)
        return self._segments[number]

    def _newest(self, *, alone: bool = False) -> tuple[int, Found | None]:
        """The number of the newest segment, and what lies there."""
        found = self._segments[0].look()
        if (found[0] if found else None) != self._main:
            self._find()
        while not alone and self._beyond.look() is not None:
            self._grow()
        newest = max(self._segments)
        return newest, self._segments[newest].look() if newest else found

    def _find(self) -> None:
        """Look which segments there are. The one beyond the newest is asked for by name: that is cheaper."""
        pattern = re.compile(re.escape(self._path.name) + r"\.([1-9][0-9]{0,8})\.jsonl")
        names = uninterrupted(self._layer.listdir, self._path.parent)
        there = {0} | {int(m[1]) for name in names if (m := pattern.fullmatch(name))}
        for number in set(self._segments) - there:
            self._segments.pop(number).close()
        for number in there - set(self._segments):
            self._segments[number] = self._journal(number)
        self._beyond = self._journal(max(self._segments) + 1)
        main = self._segments[0].look()
        self._main = main[0] if main else None
        self.generation += 1
