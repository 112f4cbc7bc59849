"""What can go wrong with the file of the last recall."""

from __future__ import annotations

from hindbrain.contracts import Outcome
from hindbrain.store._errors import StoreError


class LastRecallPathError(StoreError):
    """The path for the last recall is refused; nothing was read or written there."""

    code = "last-recall-path"
    outcome = Outcome.NOT_SENT
    advice = (
        "Set recall.lastRecallPath to a .json file below the project's root or to an absolute path, without `..`, and "
        "to none of the other files in the state folder."
    )


class LastRecallForeignError(StoreError):
    """What lies at recall.lastRecallPath is no record of a recall; it was left as it is and nothing was written."""

    code = "last-recall-foreign"
    outcome = Outcome.NOT_SENT
    advice = "Set recall.lastRecallPath to a file of its own, or move away what lies there."


class LastRecallUnreadableError(StoreError):
    """The file of the last recall is broken; it was left as it is."""

    code = "last-recall-unreadable"
    outcome = Outcome.NOT_SENT
    advice = "The next recall that is stored puts it aside; or move it away."
