"""Queue, cursors, receipts, ledger and session records as subjects: each with a life that uses all of it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import TypeAlias

from chaos.slots import FOLDER, Step, Subject, Value

from hindbrain.contracts import Branch, Coverage, Entry, Message, Retained, RetainItem, RetainJob, TextPart
from hindbrain.store import Cursors, DurableQueue, SessionRecord, SessionRecords
from hindbrain.store._cursors import move
from hindbrain.store._files import FileLayer, StateDir, disk_errors
from hindbrain.store._files._state_dir import _IGNORED as IGNORED
from hindbrain.store._flush import Delivery
from hindbrain.store._ledger import Document, Event, FactLedger, State
from hindbrain.store._lock import Lock, Patience
from hindbrain.store._queue import JobDamagedError, UnknownJobError
from hindbrain.store._queue._dead import revived
from hindbrain.store._receipts import RetainReceipts
from hindbrain.store._seal import SealKey

KEY = SealKey(b"k" * 32)
QUEUE = FOLDER / "retain-queue.jsonl"
FOREIGN = (
    b'{"id":"foreign","bankId":"b","documentId":"d","updateMode":"append","retries":0,'
    b'"item":{"content":"foreign words","context":""}}'
)
IMPATIENT = Patience(clock=lambda: 0.0, sleep=lambda _: None)


def now() -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC)


def folder(layer: FileLayer) -> StateDir:
    """The state folder, opened."""
    with disk_errors(FOLDER):
        return StateDir.open(layer, FOLDER)


def job_id(number: int) -> str:
    """As unlike each other as real ones: no flipped bit makes one of another."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, str(number)))


class Jobs:
    """Makes jobs that are all different."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._made = 0

    def one(self, document: str = "doc", *, length: int | None = None, covers: bool = True) -> RetainJob:
        self._made += 1
        number = self._made
        words = f"words {number} " + "x" * (self._rng.choice([0, 40, 700]) if length is None else length)
        return RetainJob(
            id=job_id(number),
            bank="bank",
            item=RetainItem(content=words, document_id=document, update_mode="append", tags=("a",)),
            operation_id=str(uuid.UUID(int=number + 1_000_000)),
            created_at=f"2026-01-01T00:00:{number % 60:02}Z",
            covers=_coverage(number) if covers else None,
        )


def _coverage(number: int) -> Coverage:
    return Coverage(
        lineage="root",
        bank="bank",
        first_id=f"e{number}",
        last_id=f"e{number}",
        chain=f"{number:064x}",
        after_id=f"e{number - 1}" if number > 1 else None,
        count=number,
        tail=((f"e{number}", f"{number:064x}"),),
    )


def waits(job: RetainJob) -> tuple[str, str]:
    """The value of a job that waits."""
    return ("waits", job.item.content)


def open_queue(layer: FileLayer, path: Path = QUEUE, key: SealKey = KEY) -> DurableQueue:
    """The queue on a disk where nobody else is waited for."""
    lock = Lock(layer, path.with_name(f"{path.name}.lock"), patience=IMPATIENT)
    return DurableQueue.open(path, key=key, layer=layer, lock=lock, wait=0, now=now)


def observe_queue(queue: DurableQueue) -> dict[str, Value]:
    """Each job by its id: where it is and what it says. A job both dead and waiting is named so."""
    seen: dict[str, Value] = {}
    for unit in queue.waiting():
        try:
            whole = queue.load(unit.id).item.content
        except (JobDamagedError, UnknownJobError):
            continue
        for member in unit.members or (unit.id,):
            parts = [line for line in whole.split("\n") if member == unit.id or _says(line, member)]
            seen[member] = ("waits", "\n".join(parts))
    for letter in queue.dead():
        content = queue.show_dead(letter.id).item.content
        if letter.id in seen and seen[letter.id][0] == "dead":
            seen[letter.id] = ("dead twice", content)
        else:
            seen[letter.id] = ("both" if letter.id in seen else "dead", content)
    return seen


def _says(line: str, name: str) -> bool:
    """Whether a line of a merge is this job's: its number is in both."""
    return job_id(int(line.split(" ")[1])) == name


class QueueLife:
    """Appends, acks, attempts, a burial, a merge, compactions, a requeue, an adoption."""

    name = "queue"

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._jobs = Jobs(rng)
        self._last = self._jobs.one()
        self._merge: list[str] = []

    def files(self) -> Mapping[Path, bytes]:
        return {QUEUE: b"{broken\n" + FOREIGN + b"\n" + FOREIGN[:40]}

    def open(self, layer: FileLayer) -> DurableQueue:
        return open_queue(layer)

    def observe(self, opened: DurableQueue) -> Mapping[str, Value]:
        return observe_queue(opened)

    def after(self) -> Step:
        return self._append(self._last)

    def steps(self) -> Sequence[Step]:
        one, two, three, four, five, six, seven, eight = (self._jobs.one() for _ in range(8))
        foreign = ("waits", "foreign words")
        dead = ("dead", two.item.content)
        again = revived(two)
        compaction = Step(lambda q: q.compact())
        either = {two.id: (("both", two.item.content), dead)}
        life = [
            self._append(one),
            self._append(two),
            self._ack(one),
            self._append(three, four, five),
            Step(lambda q: q.attempt(two.id, "http")),
            Step(lambda q: q.bury(two.id), {two.id: dead}, either),
            Step(lambda q: self._plan(q, three, four)),
            self._append(six),
            Step(lambda q: q.ack(self._merge or [three.id, four.id]), {three.id: None, four.id: None}),
            self._append(seven),
            Step(lambda q: q.requeue(two.id), {two.id: None, again.id: waits(again)}),
            Step(lambda q: q.adopt(), {"foreign": foreign}),
            self._ack(five, six),
            self._append(eight),
        ]
        for _ in range(2):
            life.insert(self._rng.randrange(2, len(life)), compaction)
        return life

    def _append(self, *jobs: RetainJob) -> Step:
        return Step(lambda q: q.append_many(jobs), {job.id: waits(job) for job in jobs})

    def _ack(self, *jobs: RetainJob) -> Step:
        return Step(lambda q: q.ack([job.id for job in jobs]), {job.id: None for job in jobs})

    def _plan(self, queue: DurableQueue, *jobs: RetainJob) -> None:
        self._merge = [unit.id for unit in queue.plan([[job.id for job in jobs]])]


def branch(count: int, name: str = "e") -> Branch:
    """A session of so many messages."""
    entries = [
        Entry(
            id=f"{name}{number}",
            parent_id=f"{name}{number - 1}" if number > 1 else None,
            kind="message",
            message=Message(role="user", parts=(TextPart(f"{name} says {number}"),)),
        )
        for number in range(1, count + 1)
    ]
    return Branch.of(entries)


class CursorsLife:
    """Sessions that move on turn by turn, by their own move and by the log's. The slot is a session's last entry."""

    name = "cursors"
    _sessions = ("s0", "s1", "s2")

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._at = dict.fromkeys(self._sessions, 0)

    def files(self) -> Mapping[Path, bytes]:
        return {FOLDER / ".gitignore": IGNORED}

    def open(self, layer: FileLayer) -> Cursors:
        return Cursors(folder(layer), KEY, now=now, wait=0)

    def observe(self, opened: Cursors) -> Mapping[str, Value]:
        seen = {}
        for name in self._sessions:
            heads = opened.cursor(name, "bank").heads
            seen[name] = heads[-1].last_id if heads else None
        return seen

    def after(self) -> Step:
        return self._turn("s0", by_log=False)

    def steps(self) -> Sequence[Step]:
        turns = [self._turn(self._rng.choice(self._sessions), by_log=self._rng.random() < 0.5) for _ in range(6)]
        return [*turns, Step(lambda c: c.document_key("s0", "session", "key"))]

    def _turn(self, name: str, *, by_log: bool) -> Step:
        self._at[name] += self._rng.randrange(1, 4)
        count = self._at[name]
        whole = branch(count, name)

        def act(cursors: Cursors) -> None:
            entries = cursors.new_entries(name, "bank", whole)
            if by_log:
                moved = move(cursors.cursor(name, "bank"), whole, entries)
                cursors.advance_from([moved.coverage(name, "bank")] if moved else [])
            else:
                cursors.advance(name, "bank", whole, entries)

        return Step(act, {name: f"{name}{count}"})


def delivery(document: str, number: int) -> Delivery:
    """A job that was taken; ``number`` is what its receipt tells."""
    item = RetainItem(content="words", document_id=document, update_mode="append")
    job = RetainJob(id="j", bank="bank", item=item, operation_id="o", created_at="2026-03-01T09:00:00.000Z")
    return Delivery(job=job, retained=Retained(operation_id="o", items=number), at="2026-03-01T10:00:00.000Z")


class ReceiptsLife:
    """Receipts of a few documents, each renewed now and then."""

    name = "receipts"

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._made = 0

    def files(self) -> Mapping[Path, bytes]:
        return {FOLDER / ".gitignore": IGNORED}

    def open(self, layer: FileLayer) -> RetainReceipts:
        return RetainReceipts(folder(layer), now=now, wait=0)

    def observe(self, opened: RetainReceipts) -> Mapping[str, Value]:
        return {each.document_id: each.outcome.items if each.outcome else None for each in opened.all()}

    def after(self) -> Step:
        return self._record()

    def steps(self) -> Sequence[Step]:
        return [self._record() for _ in range(5)]

    def _record(self) -> Step:
        self._made += 1
        given = delivery(f"d{self._rng.randrange(3)}", self._made)
        return Step(lambda r: r.record(given), {given.job.item.document_id: self._made})


class LedgerLife:
    """Facts that are sent, lost, found, completed and deleted."""

    name = "ledger"

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._now = 1_000

    def files(self) -> Mapping[Path, bytes]:
        return {FOLDER / ".gitignore": IGNORED}

    def open(self, layer: FileLayer) -> FactLedger:
        lock = Lock(layer, FOLDER / "hindsight-receipts.json.lock", patience=IMPATIENT)
        return FactLedger(folder(layer), lock=lock)

    def observe(self, opened: FactLedger) -> Mapping[str, Value]:
        return {each.document_id: each.state for each in opened.read().receipts}

    def after(self) -> Step:
        return self._insert("after")

    def steps(self) -> Sequence[Step]:
        steps = []
        for document in ("d0", "d1"):
            steps += [
                self._insert(document),
                self._event(document, State.SUBMITTED, Event.LOST, State.UNKNOWN),
                self._event(document, State.UNKNOWN, Event.STATUS_RUNNING, State.ACCEPTED),
                self._event(document, State.ACCEPTED, Event.STATUS_COMPLETED, State.COMPLETED),
            ]
        return steps

    def _insert(self, document: str) -> Step:
        self._now += 1
        at = self._now
        place = Document(base_url="https://h.example.com", bank_id="b", project_id="p", document_id=document)

        def act(ledger: FactLedger) -> None:
            ledger.insert(place, revision="r", operation_id=str(uuid.UUID(int=at)), kind="k", title="t", now=at)

        return Step(act, {document: State.SUBMITTED})

    def _event(self, document: str, before: State, event: Event, then: State) -> Step:
        self._now += 1
        at = self._now

        def act(ledger: FactLedger) -> None:
            key = next((each.key for each in ledger.read().receipts if each.document_id == document), "none")
            ledger.update(key, before, event, at)

        return Step(act, {document: then})


class RecordsLife:
    """One session's record: modes, tags, skips."""

    name = "records"
    _sid = "0123456789abcdef"

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def files(self) -> Mapping[Path, bytes]:
        return {FOLDER / ".gitignore": IGNORED}

    def open(self, layer: FileLayer) -> SessionRecords:
        return SessionRecords(folder(layer), KEY, now=now, wait=0)

    def observe(self, opened: SessionRecords) -> Mapping[str, Value]:
        record = opened.read(self._sid)
        usual = SessionRecord()
        seen: dict[str, Value] = {f"tag {tag}": True for tag in record.tags}
        seen |= {"distrusted": True} if not record.trusted else {}
        seen |= {"mode": str(record.mode)} if record.mode != usual.mode else {}
        return seen | ({"skip": "off"} if record.next_retain_mode != usual.next_retain_mode else {})

    def after(self) -> Step:
        return self._tag("after")

    def steps(self) -> Sequence[Step]:
        steps = [
            self._tag("one"),
            Step(lambda r: r.set_mode(self._sid, "ignored"), {"mode": "ignored"}),
            self._tag("two"),
            Step(lambda r: r.skip_next(self._sid), {"skip": "off"}),
            Step(lambda r: r.set_mode(self._sid, "normal"), {"mode": None}),
        ]
        self._rng.shuffle(steps)
        return steps

    def _tag(self, tag: str) -> Step:
        return Step(lambda r: r.add_tag(self._sid, tag), {f"tag {tag}": True})


Life: TypeAlias = type[QueueLife] | type[CursorsLife] | type[ReceiptsLife] | type[LedgerLife] | type[RecordsLife]
LIVES: tuple[Life, ...] = (QueueLife, CursorsLife, ReceiptsLife, LedgerLife, RecordsLife)


def subject(life: Life, seed: int) -> Subject:
    """The same life again for the same seed."""
    return life(Random(seed))
