"""One committer at a time, between threads, processes and, where it must be, machines."""

from hindbrain.store._lock._errors import LockBusyError, LockLostError
from hindbrain.store._lock._lock import Hold, Lock
from hindbrain.store._lock._owner import Owner
from hindbrain.store._lock._patience import Patience
from hindbrain.store._lock._unlocked import Unlocked

__all__ = ["Hold", "Lock", "LockBusyError", "LockLostError", "Owner", "Patience", "Unlocked"]
