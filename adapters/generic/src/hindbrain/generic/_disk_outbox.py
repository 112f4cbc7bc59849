"""The outbox on the disk: what was kept is sent sooner or later, whatever becomes of this process."""

from __future__ import annotations

from pathlib import Path

from hindbrain.contracts import Backend, Branch, Entry, RetainJob
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._forget import forget
from hindbrain.generic._gate import GateUnansweredError, admits
from hindbrain.generic._outbox import Flush, Forgotten
from hindbrain.memory import EnqueueGate
from hindbrain.store import Flusher, FlushPolicy, HostState, Move

STATE_FOLDERS = {"pi": ".pi/hindsight", "omp": ".omp/hindsight"}
"""Where each host keeps its state, below the project's root. Source: architecture.md, "Files a user sees"."""


def state_folder(host: str, root: Path) -> Path:
    """The state folder of a host in a project."""
    return root / STATE_FOLDERS.get(host, ".hindbrain")


def _bounds(settings: Settings, kind: str) -> tuple[int, float]:
    """The most jobs and seconds of a flush of this kind."""
    return settings[f"retain.{kind}FlushMaxJobs"], settings[f"retain.{kind}FlushTimeoutMs"] / 1000


async def _may_merge(gate: EnqueueGate | None, merged: RetainJob) -> bool:
    """Whether jobs may be sent as one. Each of them was admitted; where the merge is not, they are sent apart."""
    try:
        return await admits(gate, merged)
    except GateUnansweredError:
        return False


def flusher_of(state: HostState, backend: Backend, settings: Settings) -> Flusher:
    """A flusher that sends as the settings say: each job by itself, or those of a document as one."""
    gate = memory_config(settings).retain.before_enqueue
    policy = FlushPolicy(coalesce=settings["retain.delivery"] == "coalesced")
    return state.flusher(backend, policy, may_merge=lambda merged: _may_merge(gate, merged))


class DiskOutbox:
    """An :class:`Outbox` over a state folder and a backend.

    The flush at the end of a session is bounded, also in the middle of a request; what is left waits on the disk.

    Args:
        state: the opened state folder; closed with the outbox.
        backend: where jobs are sent.
        settings: the bounds of flushes.
    """

    def __init__(self, state: HostState, backend: Backend, settings: Settings) -> None:
        self._state = state
        self._backend = backend
        self._flusher = flusher_of(state, backend, settings)
        self._tick: tuple[int, float] = _bounds(settings, "periodic")
        self._last: tuple[int, float] = _bounds(settings, "shutdown")

    @property
    def state(self) -> HostState:
        """The state folder."""
        return self._state

    async def new_entries(self, lineage: str, bank: str, branch: Branch) -> tuple[Entry, ...]:
        """See :class:`Outbox`."""
        return await self._state.new_entries(lineage, bank, branch)

    async def plan(self, lineage: str, bank: str, branch: Branch, entries: tuple[Entry, ...]) -> Move | None:
        """See :class:`Outbox`."""
        return await self._state.plan(lineage, bank, branch, entries)

    async def keep(self, lineage: str, bank: str, moved: Move, job: RetainJob | None) -> None:
        """See :class:`Outbox`. One write and one sync."""
        await self._state.keep(lineage, bank, moved, job)

    async def pass_over(self, lineage: str, bank: str, moved: Move, branch: Branch, entries: tuple[Entry, ...]) -> None:
        """See :class:`Outbox`. The cursors are on the disk when it returns."""
        await self._state.pass_over(lineage, bank, moved, branch, entries)

    async def enqueue(self, job: RetainJob) -> None:
        """See :class:`Outbox`. One write and one sync."""
        await self._state.enqueue(job)

    async def forget(self, bank: str, document_id: str) -> Forgotten:
        """See :class:`Outbox`.

        Raises:
            StoreError: something is being sent at this moment; nothing was deleted.
        """
        return await forget([self._state], self._backend, bank, document_id)

    async def flush(self, *, max_jobs: int | None = None, max_seconds: float | None = None) -> Flush:
        """See :class:`Outbox`. Where another process is sending already, nothing is done."""
        report = await self._flusher.flush(max_jobs=max_jobs, max_elapsed=max_seconds)
        return Flush(
            sent=report.sent,
            jobs=report.job_ids,
            refused=report.dead_lettered,
            waiting=report.remaining,
            code=report.stopped_by if report.notice else None,
        )

    async def tick(self) -> Flush:
        """See :class:`Outbox`. Source: seed 000, "Queue" (its own bounds)."""
        jobs, seconds = self._tick
        return await self.flush(max_jobs=jobs, max_seconds=seconds)

    async def last_flush(self) -> Flush:
        """See :class:`Outbox`."""
        jobs, seconds = self._last
        return await self.flush(max_jobs=jobs, max_seconds=seconds)

    def answered(self) -> None:
        """See :class:`Outbox`."""
        self._flusher.answered()

    async def close(self) -> None:
        """See :class:`Outbox`."""
        await self._state.close()
