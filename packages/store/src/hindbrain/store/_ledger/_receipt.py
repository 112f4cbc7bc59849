"""A receipt of one confirmed fact, and how an event changes it: pure, with the time as an argument."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, field, frozen

from hindbrain.contracts import JsonValue, OperationStatus, neutralise, scrub
from hindbrain.store._ledger._key import Document, Scope, Target, key_of
from hindbrain.store._ledger._state import DETAILS, STATUS_EVENTS, TRANSITIONS, Event, State

WINDOW = 24 * 60 * 60 * 1000
"""How long an operation must be missing, or its target be another, before it counts as failed: 24 hours in ms."""
TITLE_LENGTH = 200
DETAIL_LENGTH = 200
SERVER_ID_LENGTH = 200

_CHECKS = {event for event in Event if event.value.startswith("status-")} | {Event.EXPIRED}


@frozen(kw_only=True)
class Receipt:
    """What is known about one revision of one confirmed fact; never its content. Times are epoch milliseconds.

    Attributes:
        server_operation_id: the id the server gave where that is not ``operation_id``.
        updated_at: the last change of state, or when the operation was first missed.
        sent_at: the last time it was sent; greater than that of all earlier sends of the document.
        last_checked_at: the last time the server was asked, whatever it said; None for never.
        missing_since: since when the server has not known the operation; None where it did, or was not asked.
        other: fields of other writers of the format, kept as they are.

    Source: spec/facts.md section 4; the last three times are ours (decisions.md, "Durability").
    """

    key: str
    base_url: str
    bank_id: str
    project_id: str
    document_id: str
    revision: str
    operation_id: str
    kind: str
    title: str
    state: State
    created_at: int
    updated_at: int
    sent_at: int
    server_operation_id: str | None = None
    detail: str | None = None
    last_checked_at: int | None = None
    missing_since: int | None = None
    other: Mapping[str, JsonValue] = field(factory=dict, repr=False)

    @property
    def document(self) -> Document:
        """The document it is about."""
        return Document(
            base_url=self.base_url, bank_id=self.bank_id, project_id=self.project_id, document_id=self.document_id
        )

    @property
    def scope(self) -> Scope:
        """The project and target it belongs to."""
        return Scope(base_url=self.base_url, bank_id=self.bank_id, project_id=self.project_id)

    @property
    def target(self) -> Target:
        """The server and bank it belongs to."""
        return Target(base_url=self.base_url, bank_id=self.bank_id)

    @property
    def asks_for(self) -> str:
        """The operation id to ask the server about."""
        return self.server_operation_id or self.operation_id


def new_receipt(
    document: Document, *, revision: str, operation_id: str, kind: str, title: str, now: int, newest: int | None = None
) -> Receipt:
    """The receipt of a save that is about to be sent. ``newest`` is the greatest ``sent_at`` of its document."""
    return Receipt(
        key=key_of(document.base_url, document.bank_id, document.project_id, document.document_id, revision),
        base_url=document.base_url,
        bank_id=document.bank_id,
        project_id=document.project_id,
        document_id=document.document_id,
        revision=revision,
        operation_id=operation_id,
        kind=kind,
        title=_line(title, TITLE_LENGTH),
        state=TRANSITIONS[None, Event.SEND],
        created_at=now,
        updated_at=now,
        sent_at=_next(now, newest),
    )


def moved(
    receipt: Receipt,
    event: Event,
    now: int,
    *,
    detail: str | None = None,
    server_operation_id: str | None = None,
    newest: int | None = None,
) -> Receipt | None:
    """The receipt after an event, or None where the table does not allow it; the one place where a state changes.

    A submitted receipt is sent again only after the server has said that it does not know it, and none expires before
    it has been missing for 24 hours. An id that the server gave stays until the server gives another.

    Source: spec/facts.md section 4.
    """
    to = TRANSITIONS.get((receipt.state, event))
    if to is None or not _may(receipt, event, now):
        return None
    since = _missing_since(receipt, event, now)
    is_news = to is not receipt.state or event is Event.SEND or (since is not None and since != receipt.missing_since)
    words = detail or DETAILS.get(event)
    if not is_news:
        words = detail or receipt.detail
    return evolve(
        receipt,
        state=to,
        updated_at=now if is_news else receipt.updated_at,
        sent_at=_next(now, newest) if event is Event.SEND else receipt.sent_at,
        last_checked_at=now if event in _CHECKS else receipt.last_checked_at,
        missing_since=since,
        detail=_line(words, DETAIL_LENGTH) if words else None,
        server_operation_id=_server_id(receipt, server_operation_id),
    )


def _may(receipt: Receipt, event: Event, now: int) -> bool:
    if event is Event.SEND:
        return receipt.state is State.UNKNOWN or receipt.missing_since is not None
    if event is Event.EXPIRED:
        return receipt.missing_since is not None and is_over(receipt.missing_since, now)
    return event is not Event.ABANDONED or is_over(receipt.updated_at, now)


def _missing_since(receipt: Receipt, event: Event, now: int) -> int | None:
    if event is Event.STATUS_MISSING:
        since = receipt.missing_since
        # A time in the future was told by a clock that has been put right: the 24 hours begin anew.
        return now if since is None or since > now else since
    if event in {Event.EXPIRED, Event.STATUS_UNANSWERED, Event.ABANDONED, Event.DELETED}:
        return receipt.missing_since
    return None


def _server_id(receipt: Receipt, given: str | None) -> str | None:
    if given is None:
        return receipt.server_operation_id
    return None if given == receipt.operation_id else given[:SERVER_ID_LENGTH]


def _next(now: int, newest: int | None) -> int:
    return now if newest is None else max(now, newest + 1)


def _line(text: str, length: int) -> str:
    return neutralise(scrub(text))[:length]


def is_over(since: int, now: int) -> bool:
    """Whether the 24 hours are over. A ``since`` in the future is not."""
    return now - since >= WINDOW


def status_event(receipt: Receipt, status: OperationStatus, now: int, *, may_expire: bool) -> Event:
    """The event that an answer of the server makes. ``may_expire`` is for a recall: a save or resolve never gives up.

    An operation must have been *seen* missing, and be so 24 hours later: its first ``not_found`` never fails it.

    Source: spec/facts.md sections 4 and F46; decisions.md, "Durability".
    """
    event = STATUS_EVENTS[status]
    since = receipt.missing_since
    if event is Event.STATUS_MISSING and may_expire and since is not None and is_over(since, now):
        return Event.EXPIRED
    return event
