"""What a user is told when a lock stands in the way."""

from __future__ import annotations

from pathlib import Path

from hindbrain.contracts import Outcome
from hindbrain.store._errors import StoreError
from hindbrain.store._lock._owner import Owner


class LockBusyError(StoreError):
    """Another process holds the lock and did not let go in time; nothing was changed.

    Attributes:
        path: the lock's folder.
        holder: who holds it, or None where that could not be read.
    """

    code = "lock-busy"
    outcome = Outcome.NOT_SENT
    retryable = True

    def __init__(self, path: Path, holder: Owner | None) -> None:
        who = f"process {holder.pid} on {holder.host or 'an unnamed host'}" if holder else "a process without a record"
        super().__init__(
            f"{path} is held by {who}, which did not let go in time; nothing was changed.",
            next_step=f"Try again. If no such process runs any more, remove the folder {path} by hand.",
        )
        self.path = path
        self.holder = holder


class LockLostError(StoreError):
    """The lock was not renewed in time and another process took it over; nothing more was changed."""

    code = "lock-lost"
    outcome = Outcome.NOT_SENT
    retryable = True
    advice = "Try again."
