"""What the store asks of a disk, and the few safe ways it uses it."""

from hindbrain.store._files._atomic import atomic_replace, quarantine, sync_dir, write_all
from hindbrain.store._files._errors import (
    StateDirError,
    StateFileError,
    StateFileTooLargeError,
    disk_errors,
    uninterrupted,
)
from hindbrain.store._files._layer import FileLayer, OsFileLayer
from hindbrain.store._files._open import open_state, read_file
from hindbrain.store._files._state_dir import StateDir

__all__ = [
    "FileLayer",
    "OsFileLayer",
    "StateDir",
    "StateDirError",
    "StateFileError",
    "StateFileTooLargeError",
    "atomic_replace",
    "disk_errors",
    "open_state",
    "quarantine",
    "read_file",
    "sync_dir",
    "uninterrupted",
    "write_all",
]
