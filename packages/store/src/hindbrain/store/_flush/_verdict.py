"""What an error of the backend means for the job and for the round. No I/O.

Source: decisions.md, "Four verbs and the client" and "Durability"; spec/facts.md section 1.
"""

from __future__ import annotations

from enum import Enum, auto

from hindbrain.contracts import BackendError, Outcome
from hindbrain.store._errors import StoreError

_PAUSING = frozenset({"unauthorized", "wrong-endpoint"})


class Verdict(Enum):
    """What to do."""

    STOP = auto()
    """The backend cannot be used at present: no attempt is spent and the round ends."""
    ASK = auto()
    """Only a status call decides whether it was taken."""
    PROBE = auto()
    """It was refused in this process: a status call tells whether the job or the backend is to blame."""
    REFUSED = auto()
    """A definite no to this job: an attempt is spent."""


def verdict(error: BackendError) -> Verdict:
    """Judge an error that ``retain`` raised."""
    if error.code == "conflict":
        return Verdict.ASK
    if error.code in _PAUSING or isinstance(error, StoreError) or _is_redirect(error):
        return Verdict.STOP
    if error.outcome is Outcome.UNKNOWN or error.retryable:
        return Verdict.STOP
    return Verdict.PROBE if error.outcome is Outcome.NOT_SENT else Verdict.REFUSED


def _is_redirect(error: BackendError) -> bool:
    """A redirect is about the address, never about a job."""
    status = getattr(error, "status", None)
    return isinstance(status, int) and 300 <= status < 400  # noqa: PLR2004 - the class of a status
