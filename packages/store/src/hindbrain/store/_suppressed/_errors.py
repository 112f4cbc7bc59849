"""What can go wrong with the list of suppressed memories."""

from __future__ import annotations

from hindbrain.contracts import InvalidValueError, Outcome
from hindbrain.store._errors import StoreError


class MemoryIdError(InvalidValueError):
    """A memory id does not have its form; the list of suppressed memories was not changed."""

    code = "invalid-value"


class SuppressedFullError(StoreError):
    """As many memories are suppressed as the list can hold; it was not changed."""

    code = "suppressed-full"
    outcome = Outcome.NOT_SENT
    advice = "Remove some with `hindbrain suppress --remove ID`, or delete the documents they come from."


class SuppressedNewerError(StoreError):
    """A newer version of hindbrain wrote the list of suppressed memories; it was not changed."""

    code = "suppressed-newer"
    outcome = Outcome.NOT_SENT
    advice = "Upgrade hindbrain on this machine."
