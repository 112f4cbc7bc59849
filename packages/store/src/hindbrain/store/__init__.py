"""Everything this machine must not lose: queue, cursors, receipts, session records, and the embedded backend.

Names are loaded when they are first used: who queues a job needs no SQLite, and who asks the embedded store no queue.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindbrain.store._config import EmbeddedConfig
    from hindbrain.store._cursors import Cursor, Cursors, CursorState, Move, move, new_entries
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
    from hindbrain.store._last_recall import LastRecall
    from hindbrain.store._ledger import FactLedger
    from hindbrain.store._queue import (
        DeadLetter,
        DurableQueue,
        QueueCounts,
        QueuedJob,
        SetAside,
        TakenJob,
        UnknownJobError,
        Verification,
    )
    from hindbrain.store._receipts import RetainOutcome, RetainReceipt, RetainReceipts
    from hindbrain.store._records import Mode, Permissions, SessionRecord, SessionRecords, Skip, Switch, permissions
    from hindbrain.store._state import HostState
    from hindbrain.store._state_file import StateFile, StateFileDistrustedError, StateFileNewerError
    from hindbrain.store._suppressed import Suppressed, Suppression
    from hindbrain.store._trace import DocumentTrace
    from hindbrain.store._view import KeyState, SessionCounts, StateView

__all__ = [
    "Cursor",
    "CursorState",
    "Cursors",
    "DeadLetter",
    "DocumentTrace",
    "DurableQueue",
    "EmbeddedBackend",
    "EmbeddedConfig",
    "FactLedger",
    "FlushOutcome",
    "FlushPolicy",
    "FlushReport",
    "Flusher",
    "HostState",
    "KeyState",
    "LastRecall",
    "Mode",
    "Move",
    "Permissions",
    "QueueCounts",
    "QueuedJob",
    "RetainOutcome",
    "RetainReceipt",
    "RetainReceipts",
    "SessionCounts",
    "SessionRecord",
    "SessionRecords",
    "SetAside",
    "Skip",
    "StateFile",
    "StateFileDistrustedError",
    "StateFileNewerError",
    "StateView",
    "StoreBusyError",
    "StoreClosedError",
    "StoreCorruptError",
    "StoreError",
    "StoreFullError",
    "StoreNewerError",
    "StorePathError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "Suppressed",
    "Suppression",
    "Switch",
    "TakenJob",
    "UnknownJobError",
    "Verification",
    "move",
    "new_entries",
    "permissions",
]

_HOMES = {
    "_config": ("EmbeddedConfig",),
    "_cursors": ("Cursor", "CursorState", "Cursors", "Move", "move", "new_entries"),
    "_embedded": ("EmbeddedBackend",),
    "_errors": (
        "StoreBusyError",
        "StoreClosedError",
        "StoreCorruptError",
        "StoreError",
        "StoreFullError",
        "StoreNewerError",
        "StorePathError",
        "StoreReadOnlyError",
        "StoreUnavailableError",
    ),
    "_flush": ("FlushOutcome", "FlushPolicy", "FlushReport", "Flusher"),
    "_last_recall": ("LastRecall",),
    "_ledger": ("FactLedger",),
    "_queue": (
        "DeadLetter",
        "DurableQueue",
        "QueueCounts",
        "QueuedJob",
        "SetAside",
        "TakenJob",
        "UnknownJobError",
        "Verification",
    ),
    "_receipts": ("RetainOutcome", "RetainReceipt", "RetainReceipts"),
    "_records": ("Mode", "Permissions", "SessionRecord", "SessionRecords", "Skip", "Switch", "permissions"),
    "_state": ("HostState",),
    "_suppressed": ("Suppressed", "Suppression"),
    "_trace": ("DocumentTrace",),
    "_state_file": ("StateFile", "StateFileDistrustedError", "StateFileNewerError"),
    "_view": ("KeyState", "SessionCounts", "StateView"),
}


def __getattr__(name: str) -> object:
    """Load a public name from its home."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"hindbrain.store.{home}"), name)
    raise AttributeError(name)
