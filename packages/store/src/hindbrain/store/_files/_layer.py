"""Everything the store asks of a disk, as one small protocol, and the real disk behind it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from hindbrain.store._files._os_lock import try_lock, unlock

_ALWAYS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_SYNCS_FOLDERS = os.name != "nt"


class FileLayer(Protocol):
    """The operations of a disk, each at most one system call of its name. Every one raises OSError.

    An operation may be interrupted (``InterruptedError``) and ``write`` may write less than it was given: the helpers
    of this package see to both, callers of a bare operation use ``uninterrupted``. Descriptors belong to the layer
    that gave them.
    """

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        """A descriptor for ``os.O_*`` flags; never inherited by another program."""
        ...

    def close(self, fd: int) -> None:
        """Give the descriptor back, and with it every lock taken on it."""
        ...

    def read(self, fd: int, count: int) -> bytes:
        """At most so many bytes from where the last read ended; empty at the end."""
        ...

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        """At most so many bytes from that offset; empty at the end."""
        ...

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """How many bytes were written: perhaps fewer than given, on a full disk without an error."""
        ...

    def fsync(self, fd: int) -> None:
        """Return once the file's bytes and length would survive a loss of power. Its name is ``sync_dir``'s."""
        ...

    def ftruncate(self, fd: int, length: int) -> None:
        """Cut the file, or grow it with zeros."""
        ...

    def fchmod(self, fd: int, mode: int) -> None:
        """Set the permission bits of an open file."""
        ...

    def fstat(self, fd: int) -> os.stat_result:
        """What an open file is."""
        ...

    def lstat(self, path: Path) -> os.stat_result:
        """What lies at the path itself: a link is not followed."""
        ...

    def chmod(self, path: Path, mode: int) -> None:
        """Set the permission bits of what lies at the path."""
        ...

    def replace(self, source: Path, target: Path) -> None:
        """Rename, in place of what was there."""
        ...

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name; ``FileExistsError`` where that name is taken."""
        ...

    def unlink(self, path: Path) -> None:
        """Take a file's name away."""
        ...

    def mkdir(self, path: Path, mode: int = 0o700) -> None:
        """Make one directory."""
        ...

    def rmdir(self, path: Path) -> None:
        """Remove an empty directory."""
        ...

    def listdir(self, path: Path) -> list[str]:
        """The names in a directory, in no order."""
        ...

    def sync_dir(self, path: Path) -> None:
        """Return once the names in the directory would survive a loss of power."""
        ...

    def try_lock(self, fd: int) -> bool:
        """Take the file's exclusive lock without waiting; False where another descriptor has it.

        Raises:
            OSError: ``ENOLCK``, ``ENOSYS`` or ``EOPNOTSUPP`` where the file system knows no locks.
        """
        ...

    def unlock(self, fd: int) -> None:
        """Give the exclusive lock back."""
        ...


class OsFileLayer:
    """The real disk."""

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        return os.open(path, flags | _ALWAYS, mode)

    def close(self, fd: int) -> None:
        os.close(fd)

    def read(self, fd: int, count: int) -> bytes:
        return os.read(fd, count)

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        return _pread(fd, count, offset)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        os.fsync(fd)

    def ftruncate(self, fd: int, length: int) -> None:
        os.ftruncate(fd, length)

    def fchmod(self, fd: int, mode: int) -> None:
        if hasattr(os, "fchmod"):
            os.fchmod(fd, mode)

    def fstat(self, fd: int) -> os.stat_result:
        return os.fstat(fd)

    def lstat(self, path: Path) -> os.stat_result:
        return os.lstat(path)

    def chmod(self, path: Path, mode: int) -> None:
        path.chmod(mode)

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)

    def link(self, source: Path, target: Path) -> None:
        target.hardlink_to(source)

    def unlink(self, path: Path) -> None:
        path.unlink()

    def mkdir(self, path: Path, mode: int = 0o700) -> None:
        path.mkdir(mode)

    def rmdir(self, path: Path) -> None:
        path.rmdir()

    def listdir(self, path: Path) -> list[str]:
        return [entry.name for entry in path.iterdir()]

    def sync_dir(self, path: Path) -> None:
        if _SYNCS_FOLDERS:
            fd = os.open(path, os.O_RDONLY | _ALWAYS)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def try_lock(self, fd: int) -> bool:
        return try_lock(fd)

    def unlock(self, fd: int) -> None:
        unlock(fd)


def _seek_and_read(fd: int, count: int, offset: int) -> bytes:
    before = os.lseek(fd, 0, os.SEEK_CUR)
    try:
        os.lseek(fd, offset, os.SEEK_SET)
        return os.read(fd, count)
    finally:
        os.lseek(fd, before, os.SEEK_SET)


_pread = getattr(os, "pread", _seek_and_read)
