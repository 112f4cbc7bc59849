"""An exclusive lock on an open file that dies with its holder: flock, or Windows' own."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os

    _FAR = 1 << 30
    """Windows keeps others from reading what is locked, and the file's content is there to be read."""

    def try_lock(fd: int) -> bool:
        """Take the lock; False where another descriptor has it."""
        os.lseek(fd, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Give the lock back."""
        os.lseek(fd, _FAR, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def try_lock(fd: int) -> bool:
        """Take the lock; False where another descriptor has it."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(fd: int) -> None:
        """Give the lock back."""
        fcntl.flock(fd, fcntl.LOCK_UN)
