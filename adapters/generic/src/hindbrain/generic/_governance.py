"""What the user has decided about a session, asked at every turn. Source: seed 000, "Session governance"."""

from __future__ import annotations

from typing import Protocol

from hindbrain.store import HostState, SessionRecord, Skip


class Governance(Protocol):
    """Says what a session may do by itself. Tools, imports and flushes are allowed whatever it says."""

    async def record(self) -> SessionRecord:
        """The session's record as it is now."""
        ...

    async def pending_skip(self) -> Skip | None:
        """Whether the run that ended is to be skipped."""
        ...

    async def consume(self, skip: Skip) -> None:
        """The skipped run's messages are passed over durably: clear the flag."""
        ...


class Ungoverned:
    """No record: everything is normal."""

    async def record(self) -> SessionRecord:
        """See :class:`Governance`."""
        return SessionRecord()

    async def pending_skip(self) -> Skip | None:
        """See :class:`Governance`."""
        return None

    async def consume(self, skip: Skip) -> None:
        """See :class:`Governance`."""


class RecordedGovernance:
    """The record of one session in a state folder.

    Args:
        state: the opened state folder.
        sid: the session's key, 16 hex digits.
    """

    def __init__(self, state: HostState, sid: str) -> None:
        self._state = state
        self._sid = sid

    async def record(self) -> SessionRecord:
        """See :class:`Governance`."""
        return await self._state.run(lambda: self._state.records.read(self._sid))

    async def pending_skip(self) -> Skip | None:
        """See :class:`Governance`."""
        return await self._state.run(lambda: self._state.records.pending_skip(self._sid))

    async def consume(self, skip: Skip) -> None:
        """See :class:`Governance`."""
        await self._state.run(lambda: self._state.records.consume(skip))
