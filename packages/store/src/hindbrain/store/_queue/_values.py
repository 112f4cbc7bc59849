"""What a queue tells about itself. Nothing here shows content unless it is asked for by name."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from attrs import field, frozen

from hindbrain.contracts import Coverage, UpdateMode


class Place(NamedTuple):
    """Where a line lies: the number of its segment, the offset and the length in bytes.

    A tuple, since a backlog has as many of them as jobs.
    """

    segment: int
    offset: int
    length: int


@frozen(kw_only=True)
class Head:
    """A job line without its item: all that order, counts and cursors need."""

    id: str
    bank: str
    document_id: str
    created_at: str
    update_mode: UpdateMode
    retries: int
    operation_id: str
    covers: Coverage | None = None


@frozen(kw_only=True)
class QueuedJob:
    """A job that waits, or several that were merged for good.

    Attributes:
        id: the job's own, or the merge's.
        operation_id: what it is sent under now.
        retries: how often it was definitely refused.
        members: the ids of the jobs it was merged from; empty for a single one.
        is_fixed: whether it may have been sent, so that nothing is merged into it any more.
        covers: the ranges of sessions it stands for.
        created_at: of its oldest member.
        size: bytes in the log.
    """

    id: str
    bank: str
    document_id: str
    created_at: str
    update_mode: UpdateMode
    retries: int
    operation_id: str
    covers: tuple[Coverage, ...] = ()
    members: tuple[str, ...] = ()
    is_fixed: bool = False
    size: int = 0

    @property
    def line(self) -> tuple[str, str]:
        """Bank and document: jobs of one line are delivered in their order."""
        return self.bank, self.document_id


@frozen(kw_only=True)
class TakenJob:
    """A job that the backend took and works on, in these operations, since ``at`` (ISO 8601 in UTC)."""

    job: QueuedJob
    operations: tuple[str, ...]
    at: str


@frozen(kw_only=True)
class QueueCounts:
    """How much lies where.

    ``bytes`` is the size of what waits; ``oldest`` when the first of it was made; ``unconfirmed`` how much the backend
    took of which it is not known yet whether it came to anything.
    """

    waiting: int = 0
    unconfirmed: int = 0
    dead: int = 0
    malformed: int = 0
    unsealed: int = 0
    bytes: int = 0
    oldest: str | None = None


@frozen(kw_only=True)
class DeadLetter:
    """A job that was refused too often. ``is_sealed`` False: this user's queue did not write it; it stays where it is.

    ``code`` is that of the last error, ``retries`` how many there were, ``at`` when it was given up.
    """

    id: str
    bank: str
    document_id: str
    created_at: str
    operation_id: str
    retries: int
    code: str
    at: str
    size: int
    is_sealed: bool


class Reason(StrEnum):
    """Why a line was set aside."""

    MALFORMED = "malformed"
    """It is no job."""
    TORN = "torn"
    """It begins like a job of ours and does not end: the process or the power went while it was written."""
    UNSEALED = "unsealed"
    """It is a job, and does not bear this user's seal: another's, or changed since."""


@frozen(kw_only=True)
class SetAside:
    """A line that was set aside; ``text`` is all of it, bytes that are no UTF-8 as lone surrogates."""

    reason: Reason
    at: str
    text: str = field(repr=False)


@frozen(kw_only=True)
class Verification:
    """What a look at every line found. ``damaged`` ones do not bear the seal; ``records`` are acks and attempts."""

    jobs: int = 0
    damaged: int = 0
    records: int = 0
    damaged_records: int = 0
    dead: int = 0
    damaged_dead: int = 0

    @property
    def is_sound(self) -> bool:
        """Whether every line bears the seal."""
        return not (self.damaged or self.damaged_records or self.damaged_dead)
