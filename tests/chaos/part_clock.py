"""Part 7: clocks jump by an hour and by ten years: order is kept, nobody's lock is stolen, nothing expires."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from random import Random

from attrs import evolve
from chaos.finding import Finding, Scale
from chaos.memory_backend import Memory
from chaos.slots import FOLDER
from chaos.subjects import IMPATIENT, KEY, QUEUE, Jobs, delivery, folder

from hindbrain.contracts import OperationStatus
from hindbrain.store import DurableQueue, Flusher, SessionRecords
from hindbrain.store._files import FileLayer
from hindbrain.store._ledger import Document, Event, FactLedger, State, Target, status_event
from hindbrain.store._lock import Lock, LockBusyError, LockLostError
from hindbrain.store._receipts import RetainReceipts
from hindbrain.store._worker import Worker
from hindbrain.store.testing import MemoryLayer

SID = "0123456789abcdef"
HOUR, YEARS = timedelta(hours=1), timedelta(days=3653)
JUMPS = (HOUR, -HOUR, YEARS, -YEARS)


class Clock:
    """A wall clock that somebody puts forward and back."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at

    def seconds(self) -> float:
        return self().timestamp()

    def ms(self) -> int:
        return int(self().timestamp() * 1000)

    def text(self) -> str:
        return self().isoformat()


def run(rng: Random, scale: Scale) -> Finding:
    """Many lives under a clock that jumps between any two steps."""
    finding = Finding()
    for _ in range(scale.pick(60, 1_500)):
        clock = Clock()
        disk = MemoryLayer(clock=clock.seconds)
        disk.make_folders(FOLDER)
        for jump in rng.sample(JUMPS, k=4):
            locks(disk, clock, jump, finding)
        order(disk, clock, rng, finding)
        keeps(disk, clock, rng, finding)
        ledger(disk, clock, rng, finding)
    return finding


def jumped(clock: Clock, rng: Random, finding: Finding) -> timedelta:
    """Put the clock forward or back."""
    jump = rng.choice(JUMPS)
    clock.at += jump
    finding.tried["jumps"] += 1
    return jump


def locks(disk: FileLayer, clock: Clock, jump: timedelta, finding: Finding) -> None:
    """A holder lives: whatever the clock says, nobody takes its lock, and once it lets go everybody can."""
    for os_locks in (True, False):
        first, second = (
            Lock(disk, FOLDER / f"a{os_locks}.lock", os_locks=os_locks, now=clock, patience=IMPATIENT) for _ in range(2)
        )
        with first.held(0) as held:
            clock.at += jump
            try:
                with second.held(0):
                    finding.violations.append(f"a jump of {jump} stole a lock (OS locks: {os_locks})")
            except LockBusyError:
                pass
            try:
                held.renew()
            except LockLostError:
                finding.violations.append(f"a jump of {jump} cost a live holder its lock (OS locks: {os_locks})")
        clock.at -= jump
        with second.held(0):
            finding.tried["locks tried"] += 1


def order(disk: FileLayer, clock: Clock, rng: Random, finding: Finding) -> None:
    """Jobs are delivered in the order in which they were taken, and wait however long it seems to take."""
    lock = Lock(disk, FOLDER / "queue.lock", now=clock, patience=IMPATIENT)
    queue = DurableQueue.open(QUEUE, key=KEY, layer=disk, lock=lock, wait=0, now=clock)
    jobs = Jobs(rng)
    made = []
    for _ in range(6):
        jumped(clock, rng, finding)
        made.append(evolve(jobs.one(length=0), created_at=clock.text()))
        queue.append(made[-1])
    queue.attempt(made[0].id, "http")
    queue.bury(made[0].id)
    jumped(clock, rng, finding)
    memory = Memory()
    lease = Lock(disk, FOLDER / "lease.lock", now=clock, patience=IMPATIENT)

    async def flush() -> None:
        worker = Worker("chaos")
        try:
            await Flusher(queue, memory, worker, lease=lease, now=clock.text).flush()
        finally:
            await worker.close(lambda: None)

    asyncio.run(flush())
    sent = [operation for operation, _ in memory.took]
    finding.expect(sent == [job.operation_id for job in made[1:]], "jobs were not sent in their order, each once")
    jumped(clock, rng, finding)
    finding.expect([each.id for each in queue.dead()] == [made[0].id], "a dead letter expired")
    queue.drop(made[0].id)
    queue.close()
    finding.tried["jobs sent"] += len(sent)


def keeps(disk: FileLayer, clock: Clock, rng: Random, finding: Finding) -> None:
    """Records and receipts say what they said, whatever the time."""
    records = SessionRecords(folder(disk), KEY, now=clock, wait=0)
    receipts = RetainReceipts(folder(disk), now=clock, wait=0)
    records.set_mode(SID, "ignored")
    receipts.record(delivery("d", 3))
    jumped(clock, rng, finding)
    tag = f"tag {rng.randrange(1000)}"
    records.add_tag(SID, tag)
    jumped(clock, rng, finding)
    record = records.read(SID)
    finding.expect(record.trusted and record.mode == "ignored" and tag in record.tags, "a record has changed")
    finding.expect(receipts.latest("bank", "d") is not None, "a receipt expired")
    records.set_mode(SID, "normal")


def ledger(disk: FileLayer, clock: Clock, rng: Random, finding: Finding) -> None:
    """An open fact fails only after the server was *seen* not to know it, for a day of the clock."""
    facts = FactLedger(folder(disk), lock=Lock(disk, FOLDER / "facts.lock", now=clock, patience=IMPATIENT))
    name = str(uuid.UUID(int=rng.getrandbits(128)))
    place = Document(base_url="https://h.example.com", bank_id="b", project_id="p", document_id=name)
    made = facts.insert(place, revision="r", operation_id=name, kind="k", title="t", now=clock.ms())
    jumped(clock, rng, finding)
    first = status_event(made, _missing(), clock.ms(), may_expire=True)
    finding.expect(first is Event.STATUS_MISSING, "a fact expired at the first look")
    seen = facts.update(made.key, State.SUBMITTED, first, clock.ms())
    back = rng.choice([HOUR, -HOUR, -YEARS])
    clock.at += back
    again = status_event(seen, _missing(), clock.ms(), may_expire=True)
    finding.expect(again is Event.STATUS_MISSING, f"a fact expired by a jump of {back}")
    gone = facts.drain_foreign(Target(base_url="https://other.example.com", bank_id="b"), clock.ms())
    finding.expect(name not in {each.document_id for each in gone}, "a fact of another server expired by a jump")
    facts.update(made.key, State.SUBMITTED, Event.ACKNOWLEDGED, clock.ms())
    facts.update(made.key, State.ACCEPTED, Event.STATUS_COMPLETED, clock.ms())
    finding.tried["facts"] += 1


def _missing() -> OperationStatus:
    return OperationStatus.NOT_FOUND
