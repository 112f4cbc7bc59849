"""A layer that hands every operation on, through one place where a subclass can watch or break it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from hindbrain.store._files import FileLayer

P = ParamSpec("P")
T = TypeVar("T")


class ForwardingLayer:
    """A FileLayer around another one; it changes nothing until a subclass does."""

    def __init__(self, inner: FileLayer) -> None:
        self.inner = inner

    def around(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Carry out one operation of ``inner``; ``call.__name__`` is its name."""
        return call(*args, **kwargs)

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        return self.around(self.inner.open, path, flags, mode)

    def close(self, fd: int) -> None:
        self.around(self.inner.close, fd)

    def read(self, fd: int, count: int) -> bytes:
        return self.around(self.inner.read, fd, count)

    def pread(self, fd: int, count: int, offset: int) -> bytes:
        return self.around(self.inner.pread, fd, count, offset)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return self.around(self.inner.write, fd, data)

    def fsync(self, fd: int) -> None:
        self.around(self.inner.fsync, fd)

    def ftruncate(self, fd: int, length: int) -> None:
        self.around(self.inner.ftruncate, fd, length)

    def fchmod(self, fd: int, mode: int) -> None:
        self.around(self.inner.fchmod, fd, mode)

    def fstat(self, fd: int) -> os.stat_result:
        return self.around(self.inner.fstat, fd)

    def lstat(self, path: Path) -> os.stat_result:
        return self.around(self.inner.lstat, path)

    def chmod(self, path: Path, mode: int) -> None:
        self.around(self.inner.chmod, path, mode)

    def replace(self, source: Path, target: Path) -> None:
        self.around(self.inner.replace, source, target)

    def link(self, source: Path, target: Path) -> None:
        self.around(self.inner.link, source, target)

    def unlink(self, path: Path) -> None:
        self.around(self.inner.unlink, path)

    def mkdir(self, path: Path, mode: int = 0o700) -> None:
        self.around(self.inner.mkdir, path, mode)

    def rmdir(self, path: Path) -> None:
        self.around(self.inner.rmdir, path)

    def listdir(self, path: Path) -> list[str]:
        return self.around(self.inner.listdir, path)

    def sync_dir(self, path: Path) -> None:
        self.around(self.inner.sync_dir, path)

    def try_lock(self, fd: int) -> bool:
        return self.around(self.inner.try_lock, fd)

    def unlock(self, fd: int) -> None:
        self.around(self.inner.unlock, fd)
