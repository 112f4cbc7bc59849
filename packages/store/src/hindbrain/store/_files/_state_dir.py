"""The folder that state files live in: of this user alone, and its state never under version control."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

from attrs import frozen

from hindbrain.store._files._atomic import atomic_replace, sync_dir
from hindbrain.store._files._errors import StateDirError, StateFileError, uninterrupted
from hindbrain.store._files._layer import FileLayer
from hindbrain.store._files._open import is_mine, read_file

PRIVATE_DIR = 0o700
"""The mode of every folder that the store makes."""
_IGNORED = b"*\n!hindbrain.json*\n"
"""All but the settings that a project may keep in the same folder. It hides itself: nothing new shows in ``status``."""
_IGNORED_ONCE = b"*\n"
"""What earlier versions wrote, and nobody changed since."""


@frozen
class StateDir:
    """A folder that was checked and may be used."""

    layer: FileLayer
    path: Path

    @classmethod
    def open(cls, layer: FileLayer, path: Path, *, within: Path | None = None) -> StateDir:
        """Make the folder and its parents where they are missing, 0700 whatever the umask, with a ``.gitignore``.

        ``within`` is a folder above it, such as a project's root: what lies between the two is held to the same rules,
        so that a cloned repository cannot lead us elsewhere by a link.

        Raises:
            StateDirError: it is a link, not a folder, or belongs to another user; nothing was written.
            OSError: the disk's own.

        Source: decisions.md, "Durability".
        """
        if within is not None:
            check_between(layer, within, path)
        make_private_dir(layer, path)
        opened = cls(layer, path)
        opened._keep_private()
        opened._ignore()
        return opened

    @classmethod
    def look(cls, layer: FileLayer, path: Path, *, within: Path | None = None) -> StateDir | None:
        """The folder where it is there, held to the same rules. Nothing is made or changed; None where there is none.

        Raises:
            StateDirError, OSError: as ``open``.
        """
        if within is not None:
            check_between(layer, within, path)
        try:
            check_dir(layer, path)
        except FileNotFoundError:
            return None
        return cls(layer, path)

    def folder(self, name: str) -> StateDir:
        """A folder inside, made private where it is missing.

        Raises:
            StateDirError, OSError: as ``open``.
        """
        make_private_dir(self.layer, self.path / name)
        inside = StateDir(self.layer, self.path / name)
        inside._keep_private()
        return inside

    def file(self, name: str) -> Path:
        """The path of a state file in this folder."""
        return self.path / name

    def _keep_private(self) -> None:
        if stat.S_IMODE(check_dir(self.layer, self.path)) != PRIVATE_DIR:
            uninterrupted(self.layer.chmod, self.path, PRIVATE_DIR)

    def _ignore(self) -> None:
        ignore = self.file(".gitignore")
        try:
            found = uninterrupted(self.layer.lstat, ignore)
        except FileNotFoundError:
            atomic_replace(self.layer, ignore, _IGNORED)
            return
        if stat.S_ISREG(found.st_mode) and found.st_size == len(_IGNORED_ONCE):
            with suppress(StateFileError, OSError):  # state can be kept all the same, and the next to open tries again
                if read_file(self.layer, ignore, len(_IGNORED_ONCE)) == _IGNORED_ONCE:
                    atomic_replace(self.layer, ignore, _IGNORED)


def check_dir(layer: FileLayer, path: Path) -> int:
    """The mode of a folder of this user.

    Raises:
        StateDirError: a link, no folder, or another user's.
        OSError: the disk's own, such as FileNotFoundError.
    """
    found = uninterrupted(layer.lstat, path)
    if not stat.S_ISDIR(found.st_mode) or not is_mine(found):
        raise StateDirError(f"{path} is a link, no folder, or belongs to another user; nothing was written there.")
    return found.st_mode


def check_between(layer: FileLayer, within: Path, path: Path) -> None:
    """See that every folder from ``within`` down to the one above ``path``, as far as they are there, is this user's.

    Raises:
        StateDirError, OSError: as ``check_dir``.
    """
    folder = within
    for part in path.relative_to(within).parts[:-1]:
        folder /= part
        try:
            check_dir(layer, folder)
        except FileNotFoundError:
            return


def make_private_dir(layer: FileLayer, path: Path) -> None:
    """Make a folder, and those above it, where they are missing: 0700 whatever the umask, and durable.

    Raises:
        OSError: the disk's own.
    """
    try:
        uninterrupted(layer.lstat, path)
    except FileNotFoundError:
        make_private_dir(layer, path.parent)
        try:
            with suppress(FileExistsError):
                uninterrupted(layer.mkdir, path, PRIVATE_DIR)
                uninterrupted(layer.chmod, path, PRIVATE_DIR)
            sync_dir(layer, path.parent)
        except OSError:
            # Found there the next time, it would pass for durable.
            with suppress(OSError):
                uninterrupted(layer.rmdir, path)
            raise
