"""What the user has decided about a session, asked at every turn. Source: seed 000, "Session governance"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hindbrain.generic._seen import Seen
from hindbrain.store import HostState, SessionRecord, SessionRecords, Skip


class Governance(Protocol):
    """Says what a session may do by itself. Tools, imports and flushes are allowed whatever it says.

    Each change returns the record as it is from then on, and raises a ``HindbrainError`` where it was not made.
    """

    async def record(self) -> SessionRecord:
        """The session's record as it is now."""
        ...

    async def at_end_of_run(self) -> tuple[SessionRecord, Skip | None]:
        """The record, and whether the run that ended is to be skipped."""
        ...

    async def consume(self, skip: Skip) -> None:
        """The skipped run's messages are passed over durably: clear the flag."""
        ...

    async def set_mode(self, mode: str) -> SessionRecord:
        """Normal, read-only or ignored."""
        ...

    async def set_retain(self, *, on: bool) -> SessionRecord:
        """Turn automatic retain on or off for the session."""
        ...

    async def opt_out(self) -> SessionRecord:
        """Keep the next completed run out of memory, for good."""
        ...

    async def add_tag(self, tag: str) -> SessionRecord:
        """Add a tag to what is retained from now on."""
        ...

    async def remove_tag(self, tag: str) -> SessionRecord:
        """Remove it again."""
        ...


class HeldGovernance:
    """A record that lives in this process: everything is normal until somebody decides otherwise."""

    def __init__(self) -> None:
        self._record = SessionRecord()

    async def record(self) -> SessionRecord:
        """See :class:`Governance`."""
        return self._record

    async def at_end_of_run(self) -> tuple[SessionRecord, Skip | None]:
        """See :class:`Governance`."""
        return self._record, Skip("") if self._record.skips_next else None

    async def consume(self, skip: Skip) -> None:  # noqa: ARG002  (the port's)
        """See :class:`Governance`."""
        self._record = self._record.with_skip(on=False)

    async def set_mode(self, mode: str) -> SessionRecord:
        """See :class:`Governance`."""
        return self._now(self._record.with_mode(mode))

    async def set_retain(self, *, on: bool) -> SessionRecord:
        """See :class:`Governance`."""
        return self._now(self._record.with_retain(on=on))

    async def opt_out(self) -> SessionRecord:
        """See :class:`Governance`."""
        return self._now(self._record.with_skip(on=True))

    async def add_tag(self, tag: str) -> SessionRecord:
        """See :class:`Governance`."""
        return self._now(self._record.with_tag(tag))

    async def remove_tag(self, tag: str) -> SessionRecord:
        """See :class:`Governance`."""
        return self._now(self._record.without_tag(tag))

    def _now(self, record: SessionRecord) -> SessionRecord:
        self._record = record
        return record


class RecordedGovernance:
    """The record of one session in a state folder.

    Args:
        state: the opened state folder.
        sid: the session's key, 16 hex digits.
    """

    def __init__(self, state: HostState, sid: str) -> None:
        self._state = state
        self._sid = sid
        self._record: Seen[SessionRecord] = Seen(
            lambda: state.records.mark(sid),
            lambda: self._with(lambda records: records.read(sid)),
            lambda record: record.trusted,
        )

    async def record(self) -> SessionRecord:
        """See :class:`Governance`."""
        return await self._record.now()

    async def at_end_of_run(self) -> tuple[SessionRecord, Skip | None]:
        """See :class:`Governance`."""
        record = await self._record.now()
        if record.trusted and not record.skips_next:
            return record, None  # as it is known to stand in the file: the disk's thread may be busy
        return await self._state.run(lambda: self._state.records.at_end_of_run(self._sid))

    async def consume(self, skip: Skip) -> None:
        """See :class:`Governance`."""
        await self._with(lambda records: records.consume(skip))

    async def set_mode(self, mode: str) -> SessionRecord:
        """See :class:`Governance`."""
        return await self._with(lambda records: records.set_mode(self._sid, mode))

    async def set_retain(self, *, on: bool) -> SessionRecord:
        """See :class:`Governance`."""
        return await self._with(lambda records: records.set_retain(self._sid, on=on))

    async def opt_out(self) -> SessionRecord:
        """See :class:`Governance`."""
        return await self._with(lambda records: records.skip_next(self._sid))

    async def add_tag(self, tag: str) -> SessionRecord:
        """See :class:`Governance`."""
        return await self._with(lambda records: records.add_tag(self._sid, tag))

    async def remove_tag(self, tag: str) -> SessionRecord:
        """See :class:`Governance`."""
        return await self._with(lambda records: records.remove_tag(self._sid, tag))

    async def _with(self, use: Callable[[SessionRecords], SessionRecord]) -> SessionRecord:
        return await self._state.run(lambda: use(self._state.records))
