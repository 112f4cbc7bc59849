"""The ledger of confirmed facts: what was sent where, and what is known about it."""

from hindbrain.store._ledger._codec import FormError, decode, encode
from hindbrain.store._ledger._errors import (
    LedgerConflictError,
    LedgerFullError,
    LedgerTransitionError,
    LedgerUnreadableError,
)
from hindbrain.store._ledger._file import FactLedger
from hindbrain.store._ledger._generation import Generation
from hindbrain.store._ledger._key import Document, Scope, Target, key_of
from hindbrain.store._ledger._ledger import CAPACITY, CHECKS, Ledger
from hindbrain.store._ledger._receipt import WINDOW, Receipt, moved, new_receipt, status_event
from hindbrain.store._ledger._state import DETAILS, OPEN, TRANSITIONS, Event, State

__all__ = [
    "CAPACITY",
    "CHECKS",
    "DETAILS",
    "OPEN",
    "TRANSITIONS",
    "WINDOW",
    "Document",
    "Event",
    "FactLedger",
    "FormError",
    "Generation",
    "Ledger",
    "LedgerConflictError",
    "LedgerFullError",
    "LedgerTransitionError",
    "LedgerUnreadableError",
    "Receipt",
    "Scope",
    "State",
    "Target",
    "decode",
    "encode",
    "key_of",
    "moved",
    "new_receipt",
    "status_event",
]
