"""The base of every error, and the classes every backend shares."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class HindbrainError(Exception):
    """Base of every error of every hindbrain package.

    The message is one or two sentences for a person: what happened, what was not done, what to do next. It never
    holds a secret, a payload or the text of a transport's own exception; those stay in ``__cause__`` only where safe.
    """

    code: ClassVar[str] = "error"

    def __init__(self, what: str, *, next_step: str = "") -> None:
        super().__init__(f"{what} {next_step}".strip())
        self.what = what
        self.next_step = next_step


class InvalidValueError(HindbrainError):
    """A value does not have the form its field asks for; nothing was sent or stored."""

    code = "invalid-value"

    def __init__(self, field: str, expected: str, *, next_step: str = "") -> None:
        super().__init__(f"{field} is refused: expected {expected}.", next_step=next_step)
        self.field = field
        self.expected = expected


class Outcome(StrEnum):
    """What is known about a write whose call raised.

    Source: spec/facts.md section 1 (error kinds) and decisions.md, "Four verbs and the client".
    """

    NOT_SENT = "not-sent"
    """Nothing left this process."""
    REFUSED = "refused"
    """The backend answered and did not take it: definite."""
    UNKNOWN = "unknown"
    """It may have been taken; only a status call in the same bank decides."""


class BackendError(HindbrainError):
    """Base of what a backend raises from one of the four verbs.

    Attributes:
        outcome: what is known about the write.
        retryable: whether the same call may succeed later without a change by the user.
        retry_after: seconds the backend asked to wait, or None.
    """

    code = "backend"
    outcome: Outcome = Outcome.REFUSED
    retryable: bool = False
    retry_after: float | None = None


class BackendRequestError(BackendError):
    """The request was refused here, before anything was sent or stored."""

    code = "config"
    outcome = Outcome.NOT_SENT


class OperationConflictError(BackendError):
    """The operation id belongs to another bank or to another kind of operation, so nothing new was done here.

    A backend that cannot see why an id was refused sets ``outcome`` to unknown: only a status call in the same bank
    decides then. Source: captures a052 and a054; decisions.md, "Four verbs and the client".
    """

    code = "conflict"
