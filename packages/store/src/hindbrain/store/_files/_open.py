"""State files are plain files of this user, for nobody else, and are opened without following links."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from hindbrain.store._files._errors import StateFileError, StateFileTooLargeError, uninterrupted
from hindbrain.store._files._layer import FileLayer

PRIVATE_FILE = 0o600
_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_NOT_PLAIN = {errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO}
_CHUNK = 1 << 20


def is_mine(found: os.stat_result) -> bool:
    """Whether this user owns it; true where the system knows no owners."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def close_file(layer: FileLayer, fd: int) -> None:
    """Close; an interrupted close has closed too."""
    with suppress(InterruptedError):
        layer.close(fd)


def remove_file(layer: FileLayer, path: Path) -> None:
    """Remove a file that nobody needs; it does not matter if that fails."""
    with suppress(OSError):
        uninterrupted(layer.unlink, path)


def open_state(layer: FileLayer, path: Path, flags: int) -> int:
    """Open a state file with ``os.O_*`` flags: 0600 whatever the umask or an older mode, no link followed.

    Raises:
        StateFileError: a link, a folder, a pipe, a device, or another user's file lies there.
        OSError: the disk's own, such as FileNotFoundError without ``O_CREAT``.

    Source: decisions.md, "Durability".
    """
    try:
        fd = uninterrupted(layer.open, path, flags | _SAFELY, PRIVATE_FILE)
    except OSError as error:
        if error.errno in _NOT_PLAIN:
            raise _refused(path) from error
        raise
    try:
        _keep_private(layer, fd, path)
    except BaseException:
        close_file(layer, fd)
        raise
    return fd


def _keep_private(layer: FileLayer, fd: int, path: Path) -> None:
    found = uninterrupted(layer.fstat, fd)
    if not stat.S_ISREG(found.st_mode) or not is_mine(found):
        raise _refused(path)
    if stat.S_IMODE(found.st_mode) != PRIVATE_FILE:
        uninterrupted(layer.fchmod, fd, PRIVATE_FILE)


def _refused(path: Path) -> StateFileError:
    return StateFileError(f"{path} is not a plain file of this user; it was not used.")


def read_file(layer: FileLayer, path: Path, limit: int) -> bytes | None:
    """The whole of a state file, or None where there is none. ``limit`` is in bytes.

    Raises:
        StateFileError: no plain file of this user.
        StateFileTooLargeError: more than ``limit`` bytes; not read further.
        OSError: the disk's own.
    """
    try:
        fd = open_state(layer, path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        parts: list[bytes] = []
        size = 0
        while part := uninterrupted(layer.read, fd, min(_CHUNK, limit + 1 - size)):
            parts.append(part)
            size += len(part)
            if size > limit:
                raise StateFileTooLargeError(f"{path} is larger than {limit} bytes; it was not read.")
        return b"".join(parts)
    finally:
        close_file(layer, fd)
