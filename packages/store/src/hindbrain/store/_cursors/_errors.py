"""What can go wrong with cursors."""

from __future__ import annotations

from hindbrain.contracts import Outcome
from hindbrain.store._errors import StoreError


class CursorsNewerError(StoreError):
    """A newer version of hindbrain wrote the retain cursors; they were left as they are and nothing was retained."""

    code = "cursors-newer"
    outcome = Outcome.NOT_SENT
    advice = "Upgrade hindbrain on this machine."
