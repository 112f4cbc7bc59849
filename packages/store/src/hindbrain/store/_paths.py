"""Where a bank's database lies, and that only its owner can read it."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from hindbrain.store._errors import StorePathError

REGISTRY = "_operations.sqlite"
"""No bank has this name: an underscore is always followed by two hex digits there."""
_PLAIN = re.compile(r"[a-z0-9-]")
_RESERVED = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")
_LONGEST = 200
_PRIVATE_DIR = 0o700
_PRIVATE_FILE = 0o600
_OTHERS = 0o077


def file_name(bank: str) -> str:
    """The file name of a bank: one for each bank, also where a file system folds case or reserves names.

    Lower-case letters, digits and ``-`` stand for themselves, everything else is ``_`` and two hex digits. A name that
    would be too long is cut and ends in ``~`` and a digest of the bank id.
    """
    encoded = "".join(c if _PLAIN.fullmatch(c) else f"_{ord(c):02x}" for c in bank)
    if _RESERVED.fullmatch(encoded):
        encoded = f"_{ord(encoded[0]):02x}{encoded[1:]}"
    if len(encoded) > _LONGEST:
        encoded = f"{encoded[: _LONGEST // 2]}~{hashlib.sha256(bank.encode()).hexdigest()}"
    return f"{encoded}.sqlite"


def _check_owner(path: Path, kind: int) -> os.stat_result:
    found = path.lstat()
    mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    if stat.S_IFMT(found.st_mode) != kind or not mine:
        raise StorePathError
    return found


def _close_to_others(path: Path, found: os.stat_result) -> None:
    """Take every right from group and others; a file its owner made read-only stays so."""
    if found.st_mode & _OTHERS:
        path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)


def prepare_folder(root: Path) -> None:
    """Make the folder if it is not there, and let nobody else in.

    Raises:
        StorePathError: it is a link, not a folder, or belongs to another user.
        OSError: it cannot be made.
    """
    with suppress(FileExistsError):
        root.mkdir(mode=_PRIVATE_DIR, parents=True)
    _close_to_others(root, _check_owner(root, stat.S_IFDIR))


def prepare_file(path: Path) -> None:
    """Make an empty file that only its owner can read, or make an existing one so.

    SQLite gives its ``-wal`` and ``-shm`` files the mode of the database, so they are private too.

    Raises:
        StorePathError: it is a link, not a file, or belongs to another user.
        OSError: it cannot be made.
    """
    try:
        made = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE_FILE)
    except FileExistsError:
        _close_to_others(path, _check_owner(path, stat.S_IFREG))
        return
    try:
        if hasattr(os, "fchmod"):
            os.fchmod(made, _PRIVATE_FILE)
    finally:
        os.close(made)
