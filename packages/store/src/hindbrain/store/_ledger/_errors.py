"""What can go wrong with the ledger of confirmed facts."""

from __future__ import annotations

from pathlib import Path

from hindbrain.contracts import Outcome
from hindbrain.store._errors import StoreError
from hindbrain.store._ledger._ledger import CAPACITY
from hindbrain.store._ledger._state import Event, State


class LedgerUnreadableError(StoreError):
    """The file of fact receipts cannot be read; it was left as it is, byte for byte, and nothing was sent.

    Attributes:
        path: the file.
    """

    code = "ledger-unreadable"
    outcome = Outcome.NOT_SENT

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"{path} cannot be read ({why}); it was left as it is and nothing was sent.",
            next_step="Repair it, or move it away to begin anew; hindbrain never deletes it.",
        )
        self.path = path


class LedgerFullError(StoreError):
    """The file of fact receipts has no slot for a new one: all are open; nothing was changed.

    Attributes:
        path: the file.
    """

    code = "ledger-full"
    outcome = Outcome.NOT_SENT
    retryable = True

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} holds {CAPACITY} receipts that are still open, so nothing more can be saved; nothing was changed.",
            next_step="Run a recall: it refreshes open receipts and gives up those missing for 24 hours.",
        )
        self.path = path


class LedgerConflictError(StoreError):
    """Another process changed this receipt first; nothing was changed.

    Attributes:
        found: its state now, or None where it is not there.
    """

    code = "ledger-conflict"
    outcome = Outcome.NOT_SENT

    def __init__(self, found: State | None) -> None:
        state = "is not there" if found is None else f"is {found.value} now"
        super().__init__(
            f"The receipt {state}: another process was first, and nothing was changed.",
            next_step="Read it again and decide anew.",
        )
        self.found = found


class LedgerTransitionError(StoreError):
    """A receipt cannot move like this; nothing was changed. A receipt that is closed never opens again.

    Attributes:
        found: its state.
        event: what was to happen to it.
    """

    code = "ledger-transition"
    outcome = Outcome.NOT_SENT

    def __init__(self, found: State, event: Event) -> None:
        super().__init__(
            f"A receipt that is {found.value} cannot take the event {event.value} now; nothing was changed.",
            next_step="Read it again and decide anew.",
        )
        self.found = found
        self.event = event
