"""How the file of cursors stands, without touching it."""

from __future__ import annotations

from enum import StrEnum

from hindbrain.store._cursors._book import Book
from hindbrain.store._cursors._codec import Newer, Older, decode
from hindbrain.store._cursors._file import LIMIT, NAME
from hindbrain.store._files import StateDir, StateFileError, StateFileTooLargeError, disk_errors, read_file
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import Distrust


class CursorState(StrEnum):
    """What becomes of the file of cursors when a session opens."""

    NONE = "none"
    SOUND = "sound"
    OLDER = "older"
    """It is of an older format, and is taken over."""
    NEWER = "newer"
    """A newer version wrote it: sessions do not open."""
    DISTRUSTED = "distrusted"
    """It is put aside, and rebuilt from the queue."""


def look_at_cursors(state: StateDir, key: SealKey) -> CursorState:
    """How the file stands.

    Raises:
        StoreError: the disk refused.
    """
    found = _look(state, key)
    if found is None:
        return CursorState.NONE
    states = {Book: CursorState.SOUND, Older: CursorState.OLDER, Newer: CursorState.NEWER}
    return states.get(type(found), CursorState.DISTRUSTED)


def read_book(state: StateDir, key: SealKey) -> Book:
    """The cursors in the file; none where it is not there, or not to be believed.

    Raises:
        StoreError: the disk refused.
    """
    found = _look(state, key)
    return found if isinstance(found, Book) else Book()


def _look(state: StateDir, key: SealKey) -> object:
    """What is in the file, None where there is none."""
    path = state.file(NAME)
    with disk_errors(path):
        try:
            data = read_file(state.layer, path, LIMIT)
        except (StateFileError, StateFileTooLargeError):
            return Distrust.UNSEALED
    return None if data is None else decode(data, key)
