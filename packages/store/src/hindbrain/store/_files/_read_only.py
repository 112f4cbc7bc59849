"""A disk that is only looked at: nothing on it is made, changed or locked."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

from hindbrain.store._files._layer import FileLayer

_CHANGES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_TRUNC


def _refuse(*_args: object) -> NoReturn:
    raise OSError(errno.EROFS, "only looked at")


class ReadOnlyLayer:
    """A FileLayer over another one. What would change the disk raises ``EROFS``, as on one that is mounted read-only.

    Two exceptions: modes are left as they are without a word, and a file is opened for reading whatever was asked for,
    so that what opens a file to read and append can read it.
    """

    def __init__(self, inner: FileLayer) -> None:
        self._inner = inner
        self.close = inner.close
        self.read = inner.read
        self.pread = inner.pread
        self.fstat = inner.fstat
        self.lstat = inner.lstat
        self.listdir = inner.listdir

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        try:
            return self._inner.open(path, flags & ~_CHANGES | os.O_RDONLY, mode)
        except FileNotFoundError:
            if flags & os.O_CREAT:
                _refuse(path)
            raise

    def fchmod(self, fd: int, mode: int) -> None:
        """Leave it."""

    def chmod(self, path: Path, mode: int) -> None:
        """Leave it."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        _refuse(fd, data)

    def fsync(self, fd: int) -> None:
        _refuse(fd)

    def ftruncate(self, fd: int, length: int) -> None:
        _refuse(fd, length)

    def replace(self, source: Path, target: Path) -> None:
        _refuse(source, target)

    def link(self, source: Path, target: Path) -> None:
        _refuse(source, target)

    def unlink(self, path: Path) -> None:
        _refuse(path)

    def mkdir(self, path: Path, mode: int = 0o700) -> None:
        _refuse(path, mode)

    def rmdir(self, path: Path) -> None:
        _refuse(path)

    def sync_dir(self, path: Path) -> None:
        _refuse(path)

    def try_lock(self, fd: int) -> bool:
        _refuse(fd)

    def unlock(self, fd: int) -> None:
        _refuse(fd)
