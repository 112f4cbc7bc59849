"""The truth about who holds a lock, where the system keeps it: a lock on a file, which dies with its holder."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hindbrain.store._files import FileLayer, open_state, remove_file, uninterrupted, write_all
from hindbrain.store._lock._owner import Owner, read_owner

_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}
_CLOSED = -1


class FileLock:
    """A lock on ``<folder>/os.lock``. The descriptor stays open between uses, so that a use costs little.

    The file holds a record of the process that used it last: where a holder wrote no record of its own, others learn
    here who it is.

    Attributes:
        works: False once the file system has said that it knows no locks.
        was_mine: whether it is certain that nobody else has taken the OS lock since this object took it last.
    """

    def __init__(
        self, layer: FileLayer, folder: Path, *, make_folder: Callable[[], bool], me: Callable[[], Owner]
    ) -> None:
        self._layer = layer
        self._path = folder / "os.lock"
        self._make_folder = make_folder
        self._me = me
        self._mark = b""
        self._identity = (0, 0)
        self._fd = _CLOSED
        self._pid = 0
        self.works = True
        self.was_mine = False

    def take(self) -> bool:
        """Take the lock if it is free. Its folder is made where it is missing.

        Raises:
            StoreError: the folder or the file is not what it should be.
            OSError: the disk's own, ``EINTR`` among them; it is not taken then.
        """
        fd = self._fd
        if fd == _CLOSED or self._pid != os.getpid():
            fd = self._open()
        try:
            return self._layer.try_lock(fd)
        except OSError as error:
            self.close()
            if error.errno not in _UNSUPPORTED:
                raise
        self._do_without()
        return False

    def is_current(self) -> bool:
        """Whether the locked file is still the one at the path: somebody may have removed the folder."""
        try:
            there = self._layer.lstat(self._path)
        except FileNotFoundError:
            return False
        return (there.st_dev, there.st_ino) == self._identity

    def sign(self) -> None:
        """Write down who holds it. It only tells others, so a disk that does not take it keeps nobody from working."""
        self.was_mine = False
        try:
            self.was_mine = self._layer.pread(self._fd, len(self._mark) + 1, 0) == self._mark
            if not self.was_mine:
                uninterrupted(self._layer.ftruncate, self._fd, 0)
                write_all(self._layer, self._fd, self._mark)
        except OSError:
            pass

    def holder(self) -> Owner | None:
        """The process that used the lock last, or None where that cannot be read."""
        return read_owner(self._layer, self._path)

    def release(self) -> None:
        """Give it back, by closing where nothing else works."""
        if self._fd != _CLOSED:
            try:
                self._layer.unlock(self._fd)
            except OSError:
                self.close()

    def close(self) -> None:
        """Give the descriptor back, and the lock with it."""
        if self._fd != _CLOSED:
            fd, self._fd = self._fd, _CLOSED
            with suppress(OSError):
                self._layer.close(fd)

    def _open(self) -> int:
        # A descriptor that came through a fork shares its lock with the parent: it proves nothing here.
        self.close()
        self._make_folder()
        self._fd = open_state(self._layer, self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._pid = os.getpid()
        opened = uninterrupted(self._layer.fstat, self._fd)
        self._identity = (opened.st_dev, opened.st_ino)
        self._mark = self._me().to_bytes()
        return self._fd

    def _do_without(self) -> None:
        self.works = False
        # An empty folder would pass for a lock that is being taken.
        remove_file(self._layer, self._path)
        with suppress(OSError):
            uninterrupted(self._layer.rmdir, self._path.parent)
