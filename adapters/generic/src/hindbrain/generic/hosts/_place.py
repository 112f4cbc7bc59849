"""Writing the folder in one step, so that a host never finds half of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from hindbrain.contracts import HindbrainError
from hindbrain.generic.hosts._shim import marked_version


class Placed(StrEnum):
    """What came of it."""

    NEW = "installed"
    REPLACED = "replaced"
    SAME = "unchanged"
    REMOVED = "removed"
    ABSENT = "not installed"


class ForeignFolderError(HindbrainError):
    """Something that is not ours lies where the shim belongs; it was left as it is."""

    code = "foreign-folder"

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} is there and not ours; nothing was changed.", next_step="Look at it, and move it away."
        )


class PlaceError(HindbrainError):
    """The folder could not be written or removed; what was there before still is."""

    code = "install-failed"

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"{folder} could not be changed; what was there is as it was.",
            next_step="Check the rights of the folder and the room on the disk.",
        )


def install(folder: Path, files: Mapping[str, bytes], *, dry_run: bool = False) -> Placed:
    """Put the files in the folder, in place of an older shim.

    Raises:
        ForeignFolderError: something else lies there.
        PlaceError: the disk refused.
    """
    placed = _before(folder, files)
    if dry_run or placed is Placed.SAME:
        return placed
    # Beside the folder that hosts look through for extensions, not in it: half a shim must not be found there.
    above = folder.parent.parent
    with _refusals(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".hindbrain-", dir=above))
        old = made / "old"
        try:
            new = made / "new"
            new.mkdir()
            for name, data in files.items():
                _write(new / name, data)
            if placed is Placed.REPLACED:
                folder.rename(old)
            try:
                new.rename(folder)
            except OSError:
                if old.exists():
                    old.rename(folder)
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return placed


def uninstall(folder: Path, *, dry_run: bool = False) -> Placed:
    """Remove the folder, if it is ours.

    Raises:
        ForeignFolderError: something else lies there.
        PlaceError: the disk refused.
    """
    if not os.path.lexists(folder):
        return Placed.ABSENT
    if folder.is_symlink() or marked_version(folder) is None:
        raise ForeignFolderError(folder)
    if not dry_run:
        with _refusals(folder):
            gone = Path(tempfile.mkdtemp(prefix=".hindbrain-", dir=folder.parent.parent))
            folder.rename(gone / "old")
            shutil.rmtree(gone, ignore_errors=True)
    return Placed.REMOVED


def _before(folder: Path, files: Mapping[str, bytes]) -> Placed:
    if not os.path.lexists(folder):
        return Placed.NEW
    if folder.is_symlink() or not folder.is_dir() or marked_version(folder) is None:
        raise ForeignFolderError(folder)
    with contextlib.suppress(OSError):
        there = {each.name: each.read_bytes() for each in folder.iterdir()}
        if there == dict(files):
            return Placed.SAME
    return Placed.REPLACED


def _write(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _refusals(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PlaceError(folder) from error
