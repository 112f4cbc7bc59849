"""What a flush came to."""

from __future__ import annotations

from typing import Protocol

from attrs import define, field, frozen

from hindbrain.contracts import Retained, RetainJob


@frozen(kw_only=True)
class Delivery:
    """A job that was taken, the backend's answer, and when (ISO 8601 in UTC)."""

    job: RetainJob
    retained: Retained
    at: str

    @property
    def operations(self) -> tuple[str, ...]:
        """The ids of the backend's operations."""
        return self.retained.operation_ids or (self.retained.operation_id,)


class ReceiptSink(Protocol):
    """Where deliveries are noted. Its failure never undoes a delivery."""

    def record(self, delivery: Delivery) -> None:
        """Note it. Called in the queue's thread."""
        ...


@frozen(kw_only=True)
class FlushOutcome:
    """Sums over the deliveries of a flush; None where the backend told nothing. Source: spec/memory.md section 8."""

    items: int | None = None
    operations: int = 0
    tokens: int | None = None


@frozen(kw_only=True)
class FlushReport:
    """What a flush came to.

    Attributes:
        sent: jobs delivered; a merge counts as one.
        remaining: jobs that wait now.
        unconfirmed: jobs that the backend took and of which it is not known yet whether they came to anything.
        returned: jobs that the backend had taken, that came to nothing, and that waited again.
        dead_lettered: jobs given up in this flush.
        malformed: lines set aside in this flush.
        job_ids: the ids of the jobs delivered, in order.
        operation_ids: the backend's ids of what was delivered, in order.
        outcome: sums over the deliveries.
        stopped_by: why it ended early: ``elapsed``, ``max-jobs``, ``backoff``, ``lease-lost`` or an error's code.
        notice: a code to tell the user, once until something is delivered again.
        retry_in: seconds until another try makes sense, where the backend cannot be used.
        busy: another flusher is at work; nothing was done.
    """

    sent: int = 0
    remaining: int = 0
    unconfirmed: int = 0
    returned: int = 0
    dead_lettered: int = 0
    malformed: int = 0
    job_ids: tuple[str, ...] = ()
    operation_ids: tuple[str, ...] = ()
    outcome: FlushOutcome = field(factory=FlushOutcome)
    stopped_by: str | None = None
    notice: str | None = None
    retry_in: float | None = None
    busy: bool = False


@define
class Tally:
    """Counts while a flush goes on."""

    sends: int = 0
    deliveries: list[Retained] = field(factory=list)
    job_ids: list[str] = field(factory=list)
    returned: int = 0
    dead_lettered: int = 0
    stopped_by: str | None = None
    failure: str | None = None

    @property
    def operation_ids(self) -> tuple[str, ...]:
        """The backend's ids, in order."""
        return tuple(each for one in self.deliveries for each in (one.operation_ids or (one.operation_id,)))

    @property
    def outcome(self) -> FlushOutcome:
        """The sums."""
        items = [one.items for one in self.deliveries if one.items is not None]
        tokens = [one.tokens for one in self.deliveries if one.tokens is not None]
        return FlushOutcome(
            items=sum(items) if items else None,
            operations=len(self.operation_ids),
            tokens=sum(tokens) if tokens else None,
        )
