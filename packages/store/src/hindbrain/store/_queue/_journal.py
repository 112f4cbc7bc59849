"""A file of lines that only grows: one append is one write and one sync."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hindbrain.store._files import FileLayer, atomic_replace, open_state, sync_dir, uninterrupted, write_all

_CHUNK = 1 << 20

Identity = tuple[int, int]
"""Device and number of a file: another one lies at the path once it was replaced."""

Found = tuple[Identity, int]
"""A file that lies at a path, and its size in bytes."""


class UnsyncedError(OSError):
    """A sync failed: nobody knows what of the file is durable, and no later sync of it tells."""


class Journal:
    """Call everything but ``close`` under the lock of the queue.

    Attributes:
        identity: of the file that was opened last.

    Source: decisions.md, "Durability" (a failed sync is never tried again on the same file).
    """

    def __init__(self, layer: FileLayer, path: Path) -> None:
        self._layer = layer
        self.path = path
        self._fd: int | None = None
        self.identity: Identity | None = None
        self._whole = -1
        self._named = False
        self._spoiled: Identity | None = None

    def look(self) -> Found | None:
        """The file at the path and its size, None where there is none. From here on that one is read."""
        try:
            found = uninterrupted(self._layer.lstat, self.path)
        except FileNotFoundError:
            self.close()
            return None
        identity = found.st_dev, found.st_ino
        if identity != self.identity:
            self.close()
        return identity, found.st_size

    def is_spoiled(self, found: Found | None) -> bool:
        """Whether a sync of this file has failed in this process."""
        return found is not None and found[0] == self._spoiled

    def append(self, data: bytes, found: Found | None = None) -> int:
        """Add whole lines, durably, and say at which offset they begin. A torn line before them is ended first.

        ``found`` is what ``look`` has just said, if it was asked.

        Raises:
            UnsyncedError: the sync failed; go on in another file.
            OSError: the disk's own; what was there is as it was, or ends in a torn line.
        """
        fd, size = self._open_to_append(found or self.look())
        lead = b"" if self._ends_whole(fd, size) else b"\n"
        try:
            write_all(self._layer, fd, lead + data)
        except OSError:
            self._cut(fd, size)
            raise
        try:
            uninterrupted(self._layer.fsync, fd)
        except OSError as error:
            self._spoiled = self.identity
            self._cut(fd, size)
            raise UnsyncedError(error.errno, error.strerror) from error
        if not self._named:
            self._name(fd, size)
        self._whole = size + len(lead) + len(data)
        return size + len(lead)

    def append_surely(self, data: bytes) -> int | None:
        """As ``append``; where the sync fails, everything goes into a new file, and None is returned.

        Raises:
            OSError: the disk's own; what was there is as it was.
        """
        try:
            return self.append(data)
        except UnsyncedError:
            known = self.read_all()
            self.replace(known + (b"" if known.endswith(b"\n") or not known else b"\n") + data)
            return None

    def end_torn(self) -> None:
        """End a torn last line, so that what is appended next stays readable. Not durable, and need not be.

        Raises:
            OSError: the disk's own.
        """
        fd, size = self._open_to_append(self.look())
        if not self._ends_whole(fd, size):
            write_all(self._layer, fd, b"\n")
            self._whole = size + 1

    def replace(self, data: bytes) -> None:
        """Put a new file with ``data`` in place of this one.

        Raises:
            OSError: the old file is there, or, when only the sync of the folder failed, perhaps the new one.
        """
        self.close()
        atomic_replace(self._layer, self.path, data)

    def remove(self) -> None:
        """Take the file away, not yet durably; it does not matter if there is none.

        Raises:
            OSError: the disk's own.
        """
        self.close()
        with suppress(FileNotFoundError):
            uninterrupted(self._layer.unlink, self.path)

    def read(self, offset: int, length: int) -> bytes:
        """So many bytes from there; fewer where the file ends.

        Raises:
            OSError: the disk's own, such as FileNotFoundError.
        """
        fd = self._open(0)
        parts: list[bytes] = []
        while length > 0 and (part := uninterrupted(self._layer.pread, fd, length, offset)):
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_all(self) -> bytes:
        """The whole file; empty where there is none.

        Raises:
            OSError: the disk's own.
        """
        found = self.look()
        return b"" if found is None else self.read(0, found[1])

    def chunks(self, offset: int, size: int) -> Iterator[tuple[int, bytes]]:
        """The lines from ``offset`` to ``size``, many at a time, each time with the offset.

        A chunk begins with a line. Where it ends within one, the next chunk begins with that. A torn last line comes
        last and by itself: it is the only chunk without a line break.

        Raises:
            OSError: the disk's own.
        """
        wanted = _CHUNK
        while offset < size:
            chunk = self.read(offset, min(wanted, size - offset))
            whole = chunk.rfind(b"\n") + 1
            if whole:
                yield offset, chunk
                offset += whole
                wanted = _CHUNK
            elif len(chunk) < wanted:
                if chunk:
                    yield offset, chunk
                return
            else:
                wanted *= 2

    def close(self) -> None:
        """Give the descriptor back; the next use opens the file again."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            with suppress(OSError):
                self._layer.close(fd)

    def _open_to_append(self, found: Found | None) -> tuple[int, int]:
        if self._fd is not None and found is not None:
            return self._fd, found[1]
        fd = self._open(os.O_CREAT)
        return fd, uninterrupted(self._layer.fstat, fd).st_size

    def _open(self, flags: int) -> int:
        if self._fd is None:
            self._fd = open_state(self._layer, self.path, os.O_RDWR | os.O_APPEND | flags)
            found = uninterrupted(self._layer.fstat, self._fd)
            self.identity = found.st_dev, found.st_ino
            self._whole, self._named = -1, False
        return self._fd

    def _ends_whole(self, fd: int, size: int) -> bool:
        return size in {0, self._whole} or uninterrupted(self._layer.pread, fd, 1, size - 1) == b"\n"

    def _name(self, fd: int, size: int) -> None:
        """The first append makes the name durable too: whoever made the file may have died before that."""
        try:
            sync_dir(self._layer, self.path.parent)
        except OSError:
            self._cut(fd, size)
            raise
        self._named = True

    def _cut(self, fd: int, size: int) -> None:
        with suppress(OSError):
            self._layer.ftruncate(fd, size)
        self._whole = -1
