"""What the store asks of a disk, and the few safe ways it uses it."""

from hindbrain.store._files._atomic import (
    atomic_replace,
    create_temporary,
    quarantine,
    remove_leftovers,
    sync_dir,
    write_all,
    write_new,
)
from hindbrain.store._files._errors import (
    StateDirError,
    StateFileError,
    StateFileTooLargeError,
    disk_errors,
    uninterrupted,
)
from hindbrain.store._files._layer import FileLayer, OsFileLayer
from hindbrain.store._files._mark import Mark, mark_of
from hindbrain.store._files._open import close_file, open_state, read_file, remove_file
from hindbrain.store._files._read_only import ReadOnlyLayer
from hindbrain.store._files._state_dir import PRIVATE_DIR, StateDir, check_between, check_dir, make_private_dir

__all__ = [
    "PRIVATE_DIR",
    "FileLayer",
    "Mark",
    "OsFileLayer",
    "ReadOnlyLayer",
    "StateDir",
    "StateDirError",
    "StateFileError",
    "StateFileTooLargeError",
    "atomic_replace",
    "check_between",
    "check_dir",
    "close_file",
    "create_temporary",
    "disk_errors",
    "make_private_dir",
    "mark_of",
    "open_state",
    "quarantine",
    "read_file",
    "remove_file",
    "remove_leftovers",
    "sync_dir",
    "uninterrupted",
    "write_all",
    "write_new",
]
