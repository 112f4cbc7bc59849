"""The key is made once, and never replaced: what it sealed would be worth nothing."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hindbrain.contracts import Outcome
from hindbrain.store._errors import StoreError
from hindbrain.store._files import (
    FileLayer,
    StateFileTooLargeError,
    create_temporary,
    disk_errors,
    make_private_dir,
    read_file,
    remove_file,
    sync_dir,
    uninterrupted,
)
from hindbrain.store._seal._seal import KEY_BYTES, SealKey


class SealKeyError(StoreError):
    """The key that seals queue lines does not have its size; it was left as it is and nothing was sealed."""

    code = "seal-key"
    outcome = Outcome.NOT_SENT
    advice = "Restore it from a copy; or move it away, and adopt the waiting lines with `hindbrain queue adopt`."


def seal_key(layer: FileLayer, path: Path, random: Callable[[int], bytes] = secrets.token_bytes) -> SealKey:
    """This user's key, made where there is none: however many processes ask at once, all get the same.

    ``path`` is ``<data>/seal.key``. When it returns the key is durable.

    Raises:
        SealKeyError: what is there is not 32 bytes long.
        StateFileError, StateDirError: a link or another user's lies there.
        StoreError: the disk refused.
    """
    with disk_errors(path):
        found = _read(layer, path)
        if found is None:
            _make(layer, path, random(KEY_BYTES))
            found = _read(layer, path)
        # The one who made it may not have come to this yet, and what we seal must not outlive the key.
        sync_dir(layer, path.parent)
    return _checked(path, found or b"")


def known_seal_key(layer: FileLayer, path: Path) -> SealKey | None:
    """This user's key where there is one; none is made.

    Raises:
        SealKeyError, StateFileError, StateDirError, StoreError: as ``seal_key``.
    """
    with disk_errors(path):
        found = _read(layer, path)
    return None if found is None else _checked(path, found)


def _checked(path: Path, found: bytes) -> SealKey:
    if len(found) != KEY_BYTES:
        raise SealKeyError(f"The key in {path} does not have its size; it was left as it is and nothing was sealed.")
    return SealKey(found)


def _read(layer: FileLayer, path: Path) -> bytes | None:
    try:
        return read_file(layer, path, KEY_BYTES)
    except StateFileTooLargeError:
        return b""


def _make(layer: FileLayer, path: Path, secret: bytes) -> None:
    make_private_dir(layer, path.parent)
    temporary = create_temporary(layer, path, secret)
    try:
        with suppress(FileExistsError):
            uninterrupted(layer.link, temporary, path)
    finally:
        remove_file(layer, temporary)
