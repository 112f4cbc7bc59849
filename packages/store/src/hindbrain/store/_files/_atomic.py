"""Whole or not at all: how a state file is replaced, and how a broken one is put aside."""

from __future__ import annotations

import errno
import itertools
import os
import re
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from hindbrain.store._files._errors import uninterrupted
from hindbrain.store._files._layer import FileLayer
from hindbrain.store._files._open import close_file, open_state, remove_file

_numbers = itertools.count()
_TEMPORARY = re.compile(r"\.[0-9]+-[0-9]+\.tmp")


def write_all(layer: FileLayer, fd: int, data: bytes) -> None:
    """Write every byte, however few the disk takes at a time.

    Raises:
        OSError: the disk's own; a part may have been written.
    """
    rest: bytes | memoryview = data
    while rest:
        written = uninterrupted(layer.write, fd, rest)
        if written == 0:
            raise OSError(errno.EIO, "the disk took nothing")
        if written == len(rest):
            return
        rest = memoryview(rest)[written:]


def sync_dir(layer: FileLayer, path: Path) -> None:
    """Make the names in a directory durable.

    Raises:
        OSError: they may be lost with the power.
    """
    uninterrupted(layer.sync_dir, path)


def write_new(layer: FileLayer, path: Path, data: bytes, *, durable: bool) -> None:
    """Make a file that is not there yet, and leave nothing behind where that fails.

    Raises:
        FileExistsError: it is there; it was left as it is.
        OSError: the disk's own.
    """
    try:
        fd = open_state(layer, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            write_all(layer, fd, data)
            if durable:
                uninterrupted(layer.fsync, fd)
        finally:
            close_file(layer, fd)
    except FileExistsError:
        raise
    except BaseException:
        remove_file(layer, path)
        raise


def create_temporary(layer: FileLayer, path: Path, data: bytes) -> Path:
    """Write a new synced file beside ``path``; its name is durable only after ``sync_dir``.

    Raises:
        OSError: the disk's own; nothing is left behind that can be removed.
    """
    while True:
        temporary = path.with_name(f"{path.name}.{os.getpid()}-{next(_numbers)}.tmp")
        with suppress(FileExistsError):
            write_new(layer, temporary, data, durable=True)
            return temporary


def remove_leftovers(layer: FileLayer, path: Path) -> None:
    """Remove the temporary files that killed processes left beside ``path``. Call it under the lock of the file.

    Raises:
        OSError: the folder could not be read.
    """
    for name in uninterrupted(layer.listdir, path.parent):
        if name.startswith(path.name) and _TEMPORARY.fullmatch(name, len(path.name)):
            remove_file(layer, path.with_name(name))


def atomic_replace(layer: FileLayer, path: Path, data: bytes) -> None:
    """Put ``data`` in place of a state file: after a crash at any moment the old or the new is there, whole.

    When it returns the new one is durable. A link at ``path`` is replaced, not followed.

    Raises:
        OSError: the old file is there, or, when only the last sync of the directory failed, perhaps the new one.

    Source: decisions.md, "Durability".
    """
    temporary = create_temporary(layer, path, data)
    try:
        uninterrupted(layer.replace, temporary, path)
    except BaseException:
        remove_file(layer, temporary)
        raise
    sync_dir(layer, path.parent)


def quarantine(layer: FileLayer, path: Path, now: datetime) -> Path:
    """Move a broken file aside, durably, as ``<name>.broken-<n>``, and say where it is. It is never deleted.

    ``n`` is the time in milliseconds, or the next number that is free. Call it under the lock of the file.

    Raises:
        OSError: it could not be moved.
    """
    number = int(now.timestamp() * 1000)
    taken = set(uninterrupted(layer.listdir, path.parent))
    while (name := f"{path.name}.broken-{number}") in taken:
        number += 1
    aside = path.with_name(name)
    uninterrupted(layer.replace, path, aside)
    sync_dir(layer, path.parent)
    return aside
