"""Everything this machine must not lose: the embedded memory backend on SQLite and FTS5."""

from hindbrain.store._config import EmbeddedConfig
from hindbrain.store._cursors import Cursor, Cursors, Move, move, new_entries
from hindbrain.store._embedded import EmbeddedBackend
from hindbrain.store._errors import (
    StoreBusyError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreNewerError,
    StorePathError,
    StoreReadOnlyError,
    StoreUnavailableError,
)

__all__ = [
    "Cursor",
    "Cursors",
    "EmbeddedBackend",
    "EmbeddedConfig",
    "Move",
    "StoreBusyError",
    "StoreClosedError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreNewerError",
    "StorePathError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "move",
    "new_entries",
]
