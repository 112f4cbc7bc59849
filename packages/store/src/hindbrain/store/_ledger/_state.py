"""Where a confirmed fact stands, and the one table of how it may move."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from hindbrain.contracts import OperationStatus


class State(StrEnum):
    """Exactly these six. Source: seed 002, "Receipt states"."""

    SUBMITTED = "submitted"
    """About to be sent, or sent; no answer yet."""
    ACCEPTED = "accepted"
    """Acknowledged; not yet searchable."""
    COMPLETED = "completed"
    """The operation has completed."""
    FAILED = "failed"
    """Definitely not stored."""
    UNKNOWN = "unknown"
    """It may have been stored."""
    DELETED = "deleted"
    """The document was deleted by a confirmed resolve."""

    @property
    def is_open(self) -> bool:
        """Whether it may still change by itself, so that it is never evicted and blocks a deletion."""
        return self in OPEN

    @property
    def is_terminal(self) -> bool:
        """Whether it never opens again."""
        return self not in OPEN


OPEN = frozenset({State.SUBMITTED, State.ACCEPTED, State.UNKNOWN})


class Event(StrEnum):
    """What can happen to a receipt."""

    SEND = "send"
    """The request is about to be sent: recorded before it is."""
    ACKNOWLEDGED = "acknowledged"
    """The server took it, or says that it knows the operation id (409); a status call in the same bank decides."""
    LOST = "lost"
    """No answer, or one that cannot be read: a timeout, the network, a cancel, a 2xx that does not parse."""
    REFUSED = "refused"
    """The server refused the request: definite."""
    STATUS_COMPLETED = "status-completed"
    STATUS_FAILED = "status-failed"
    STATUS_CANCELLED = "status-cancelled"
    STATUS_RUNNING = "status-running"
    STATUS_MISSING = "status-missing"
    """The server does not know the operation: acceptance may be late, or the record was pruned."""
    STATUS_UNANSWERED = "status-unanswered"
    """The check itself failed; only its time is kept, so that others get their turn."""
    EXPIRED = "expired"
    """The server has said for 24 hours that it does not know the operation."""
    ABANDONED = "abandoned"
    """Its server or bank has not been the configured one for 24 hours: nobody can check it."""
    DELETED = "deleted"
    """The document was deleted, or was found to be gone."""


STATUS_EVENTS: Mapping[OperationStatus, Event] = MappingProxyType(
    {
        OperationStatus.PENDING: Event.STATUS_RUNNING,
        OperationStatus.PROCESSING: Event.STATUS_RUNNING,
        OperationStatus.COMPLETED: Event.STATUS_COMPLETED,
        OperationStatus.FAILED: Event.STATUS_FAILED,
        OperationStatus.CANCELLED: Event.STATUS_CANCELLED,
        OperationStatus.NOT_FOUND: Event.STATUS_MISSING,
    }
)

_FROM_ANY_OPEN = {
    Event.STATUS_COMPLETED: State.COMPLETED,
    Event.STATUS_FAILED: State.FAILED,
    Event.STATUS_CANCELLED: State.FAILED,
    Event.STATUS_RUNNING: State.ACCEPTED,
    Event.EXPIRED: State.FAILED,
    Event.ABANDONED: State.FAILED,
}

TRANSITIONS: Mapping[tuple[State | None, Event], State] = MappingProxyType(
    {
        (None, Event.SEND): State.SUBMITTED,
        (State.UNKNOWN, Event.SEND): State.SUBMITTED,
        (State.SUBMITTED, Event.SEND): State.SUBMITTED,
        (State.SUBMITTED, Event.ACKNOWLEDGED): State.ACCEPTED,
        (State.SUBMITTED, Event.LOST): State.UNKNOWN,
        (State.SUBMITTED, Event.REFUSED): State.FAILED,
        (State.SUBMITTED, Event.STATUS_MISSING): State.SUBMITTED,
        (State.ACCEPTED, Event.STATUS_MISSING): State.UNKNOWN,
        (State.UNKNOWN, Event.STATUS_MISSING): State.UNKNOWN,
        **{(state, event): to for state in OPEN for event, to in _FROM_ANY_OPEN.items()},
        **{(state, Event.STATUS_UNANSWERED): state for state in OPEN},
        **{(state, Event.DELETED): State.DELETED for state in State if state is not State.DELETED},
    }
)
"""From where, by what, to where; None is a receipt that is not there yet. What is missing here is not allowed.

Source: spec/facts.md section 4. A 2xx that does not parse is ``LOST``, not refused (decisions.md, "Four verbs").
"""

DETAILS: Mapping[Event, str] = MappingProxyType(
    {
        Event.STATUS_FAILED: "operation failed",
        Event.STATUS_CANCELLED: "operation cancelled",
        Event.STATUS_MISSING: "operation not found on server",
        Event.EXPIRED: "not_found for 24 hours",
        Event.ABANDONED: "server or bank no longer configured, not checked for 24 hours",
    }
)
"""What a receipt says of an event where the caller gives no words of its own."""
