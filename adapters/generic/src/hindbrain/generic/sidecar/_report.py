"""What the user and the model are shown of a session's memory: names, counts and states, never content."""

from __future__ import annotations

from attrs import frozen

from hindbrain.contracts import JsonValue
from hindbrain.generic._disk_outbox import DiskOutbox
from hindbrain.generic._session import Session
from hindbrain.generic._status import MemoryStatus
from hindbrain.store import DurableQueue, HostState, QueueCounts, RetainOutcome, RetainReceipt, SessionRecord


@frozen(kw_only=True)
class Report:
    """One look at a session. ``queue`` is None where its turns wait in this process alone."""

    project: str
    bank: str
    reads: tuple[str, ...]
    record: SessionRecord
    recall: str
    queue: QueueCounts | None = None
    receipts: tuple[RetainReceipt, ...] = ()
    totals: RetainOutcome | None = None

    def lines(self) -> list[str]:
        """All of it, a line each."""
        return [*self.head(), *self.queue_lines(), *self.receipt_lines()]

    def head(self) -> list[str]:
        """Where memory goes, and what the user has decided."""
        record = self.record
        retain = "off" if record.retain_mode == "off" else "skips the next run" if record.skips_next else "on"
        tags = ", ".join(record.tags) or "none"
        return [
            f"project   {self.project}",
            f"bank      {self.bank}",
            f"reads     {', '.join(self.reads) or 'no bank'}",
            f"mode      {record.mode}",
            f"retain    {retain}",
            f"tags      {tags}",
            f"recall    {self.recall}",
        ]

    def queue_lines(self) -> list[str]:
        """What waits, and what lies aside."""
        if self.queue is None:
            return ["queue     in this process only"]
        lines = [f"queue     {self.queue.waiting} waiting, {self.queue.dead} given up"]
        if self.queue.unconfirmed:
            lines.append(f"taken     {self.queue.unconfirmed} that the server has not done yet")
        if self.queue.oldest:
            lines.append(f"oldest    {self.queue.oldest}")
        aside = self.queue.malformed + self.queue.unsealed
        return [*lines, f"aside     {aside} lines; see `hindbrain queue status`"] if aside else lines

    def receipt_lines(self) -> list[str]:
        """What the newest retains came to, in sums."""
        lines = [f"receipts  {_counted(len(self.receipts), 'document')}"]
        if self.totals is not None:
            known = {"item": self.totals.items, "operation": self.totals.operations, "token": self.totals.tokens}
            sums = ", ".join(_counted(value, name) for name, value in known.items() if value is not None)
            lines.append(f"came to   {sums}")
        return lines

    def counts(self) -> dict[str, JsonValue]:
        """The numbers, for a host."""
        queue = self.queue
        return {
            "mode": str(self.record.mode),
            "waiting": None if queue is None else queue.waiting,
            "dead": None if queue is None else queue.dead,
            "receipts": len(self.receipts),
        }


async def report(session: Session) -> Report:
    """Look.

    Raises:
        HindbrainError: the state folder cannot be read.
    """
    state = state_of(session)
    return Report(
        project=session.project.id,
        bank=session.bank,
        reads=session.banks,
        record=await session.governance.record(),
        recall=_recalled(session),
        queue=None if state is None else await state.ask(DurableQueue.counts),
        receipts=() if state is None else await _receipts(state),
        totals=None if state is None else await state.run(state.receipts.totals),
    )


def state_of(session: Session) -> HostState | None:
    """The session's state folder; None where its turns wait in this process alone."""
    return session.outbox.state if isinstance(session.outbox, DiskOutbox) else None


def _counted(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def _recalled(session: Session) -> str:
    """What the last recall came to."""
    patch = session.last_patch
    if patch is not None and session.status is MemoryStatus.RECALLED:
        return f"{len(patch.outcome.block.items)} shown with the last prompt"
    return _CAME_TO.get(session.status, "under way")


_CAME_TO = {
    MemoryStatus.IDLE: "nothing asked yet",
    MemoryStatus.EMPTY: "nothing found for the last prompt",
    MemoryStatus.FAILED: "the last one failed",
    MemoryStatus.WAITING: "waits, as the server did not answer",
}


async def _receipts(state: HostState) -> tuple[RetainReceipt, ...]:
    return await state.run(state.receipts.all)
