"""What the user has decided about one session."""

from hindbrain.store._records._errors import RecordDistrustedError, RecordNewerError, RecordValueError
from hindbrain.store._records._file import SessionRecords, Skip
from hindbrain.store._records._record import Mode, Permissions, SessionRecord, Switch, permissions

__all__ = [
    "Mode",
    "Permissions",
    "RecordDistrustedError",
    "RecordNewerError",
    "RecordValueError",
    "SessionRecord",
    "SessionRecords",
    "Skip",
    "Switch",
    "permissions",
]
