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
from hindbrain.store._flush import Flusher, FlushOutcome, FlushPolicy, FlushReport
from hindbrain.store._queue import (
    DeadLetter,
    DurableQueue,
    QueueCounts,
    QueuedJob,
    SetAside,
    UnknownJobError,
    Verification,
)
from hindbrain.store._records import Mode, Permissions, SessionRecord, SessionRecords, Skip, Switch, permissions
from hindbrain.store._state import HostState

__all__ = [
    "Cursor",
    "Cursors",
    "DeadLetter",
    "DurableQueue",
    "EmbeddedBackend",
    "EmbeddedConfig",
    "FlushOutcome",
    "FlushPolicy",
    "FlushReport",
    "Flusher",
    "HostState",
    "Mode",
    "Move",
    "Permissions",
    "QueueCounts",
    "QueuedJob",
    "SessionRecord",
    "SessionRecords",
    "SetAside",
    "Skip",
    "StoreBusyError",
    "StoreClosedError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreNewerError",
    "StorePathError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "Switch",
    "UnknownJobError",
    "Verification",
    "move",
    "new_entries",
    "permissions",
]
