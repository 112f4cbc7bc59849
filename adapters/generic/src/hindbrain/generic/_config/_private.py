"""Writing a file whole or not at all, for its owner's eyes."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

PRIVATE_FILE = 0o600
PRIVATE_DIR = 0o700


def write_private(path: Path, data: bytes, *, mode: int = PRIVATE_FILE) -> None:
    """Put ``data`` in place of a file; folders that are missing are made, 0700 whatever the umask.

    After a crash at any moment the old or the new is there, whole. A link at ``path`` is replaced, not followed.

    Raises:
        OSError: the disk's own; the old file is there.
    """
    _make_dir(path.parent)
    fd, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    _sync(path.parent)


def remove(path: Path) -> bool:
    """Remove a file durably; False where there is none.

    Raises:
        OSError: the disk's own.
    """
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    _sync(path.parent)
    return True


def _make_dir(path: Path) -> None:
    if path.exists():
        return
    _make_dir(path.parent)
    with suppress(FileExistsError):
        path.mkdir()
        path.chmod(PRIVATE_DIR)


def _sync(folder: Path) -> None:
    """Make names durable; on systems whose folders cannot be opened there is nothing to do."""
    with suppress(PermissionError, IsADirectoryError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
