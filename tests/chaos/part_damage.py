"""Part 5: flipped bits, truncations, duplicated and rolled-back segments: detected, told once, never silently lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from attrs import frozen
from chaos.finding import Finding, Scale
from chaos.slots import FOLDER
from chaos.subjects import KEY, QUEUE, Jobs, branch, folder, now, open_queue

from hindbrain.contracts import RetainJob
from hindbrain.store import Cursors, DurableQueue, SessionRecords, StoreError
from hindbrain.store._queue import JobDamagedError, UnknownJobError
from hindbrain.store.testing import MemoryLayer

ACKS = QUEUE.with_name(f"{QUEUE.name}.acks.jsonl")
DEAD = QUEUE.with_name(f"{QUEUE.name}.dead.jsonl")
SEGMENT = QUEUE.with_name(f"{QUEUE.name}.1.jsonl")
CURSORS = FOLDER / "retain-cursors.json"
SID = "0123456789abcdef"
RECORD = FOLDER / "session-meta" / f"{SID}.json"
Files = Mapping[Path, bytes]


@frozen
class Life:
    """A queue's files, the jobs that wait, the ones that are done, the dead one."""

    files: Files
    waiting: tuple[RetainJob, ...]
    done: tuple[RetainJob, ...]
    dead: RetainJob


def life(rng: Random) -> Life:
    """Two segments, acks, a dead letter."""
    disk = MemoryLayer()
    disk.make_folders(FOLDER)
    jobs = Jobs(rng)
    made = [jobs.one(length=rng.choice([0, 30, 300])) for _ in range(7)]
    queue = open_queue(disk)
    queue.append_many(made[:5])
    queue.ack([made[0].id])
    queue.attempt(made[1].id, "http")
    queue.bury(made[1].id)
    files = dict(disk.files())
    segment = [queue.line(job) for job in made[5:]]
    files[SEGMENT] = b"".join(segment)
    return Life(files, (*made[2:5], *made[5:]), (made[0],), made[1])


def flipped(data: bytes, bit: int) -> bytes:
    """The bytes with one bit the other way round."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def _loaded(queue: DurableQueue) -> dict[str, str]:
    found = {}
    for unit in queue.waiting():
        try:
            found[unit.id] = queue.load(unit.id).item.content
        except (JobDamagedError, UnknownJobError):
            continue
    return found


def look(files: Files, of: Life, *, whole: bool) -> tuple[list[str], bool]:
    """What is wrong with how a queue takes these files, and whether it saw any damage.

    ``whole``: every job's line is there in some form, so that each is either sent as it was or set aside.
    """
    queue = open_queue(MemoryLayer.holding(files))
    found = _loaded(queue)
    broken = []
    known = {job.id: job.item.content for job in (*of.waiting, *of.done, of.dead)}
    for each, content in found.items():
        if known.get(each) != content:
            broken.append(f"{each} is not what was promised")
    noticed = not queue.verify().is_sound
    queue.compact()
    if _loaded(queue) != found:
        broken.append("compaction loses jobs or brings some back")
    counts = queue.counts()
    aside = counts.malformed + counts.unsealed
    missing = [job for job in of.waiting if job.id not in found]
    if whole and missing and not aside:
        broken.append(f"{len(missing)} jobs were dropped silently")
    if whole and len(missing) > 2:
        broken.append(f"one damaged place took {len(missing)} jobs along")
    again = queue.counts()
    if (again.malformed, again.unsealed) != (counts.malformed, counts.unsealed):
        broken.append("one line was set aside twice")
    sealed = [queue.show_dead(letter.id) for letter in queue.dead() if letter.is_sealed]
    if any(job.item.content != of.dead.item.content for job in sealed):
        broken.append("a dead letter is not what it was")
    return broken, bool(aside) or noticed


def check_bit(rng: Random, finding: Finding, of: Life) -> None:
    """One flipped bit in one of the queue's files."""
    path = rng.choice([QUEUE, QUEUE, SEGMENT, ACKS, DEAD])
    bit = rng.randrange(len(of.files[path]) * 8)
    broken, noticed = look({**of.files, path: flipped(of.files[path], bit)}, of, whole=path in {QUEUE, SEGMENT})
    finding.tried["flipped bits in a queue"] += 1
    finding.violations += [f"bit {bit} of {path.name}: {each}" for each in broken]
    finding.expect(noticed, f"bit {bit} of {path.name} was not detected")


def check_cut(rng: Random, finding: Finding, of: Life) -> None:
    """One file ends too early: what is left of it is as it was, and the next append is readable."""
    path = rng.choice([QUEUE, SEGMENT, ACKS, DEAD])
    files = {**of.files, path: of.files[path][: rng.randrange(len(of.files[path]))]}
    broken, _ = look(files, of, whole=False)
    kept = [job for job in of.waiting if job.id.encode() + b'"' in files[QUEUE] + files[SEGMENT]]
    disk = MemoryLayer.holding(files)
    queue = open_queue(disk)
    found = _loaded(queue)
    lost = [job for job in kept[:-1] if path in {ACKS, DEAD} and job.id not in found]
    finding.expect(not lost, f"a cut of {path.name} lost {len(lost)} jobs")
    job = Jobs(Random(rng.random())).one()
    queue.append(new := _renamed(job))
    finding.expect(open_queue(disk).load(new.id) == new, f"after a cut of {path.name} an append is not readable")
    finding.tried["truncations"] += 1
    finding.violations += [f"{path.name} cut: {each}" for each in broken]


def _renamed(job: RetainJob) -> RetainJob:
    return RetainJob(
        id="new", bank=job.bank, item=job.item, operation_id=job.operation_id, created_at=job.created_at, covers=None
    )


def check_copies(rng: Random, finding: Finding, of: Life) -> None:
    """Segments that are there twice, and acks from an earlier time: every job counts once, under its own id."""
    copies = {**of.files, QUEUE.with_name(f"{QUEUE.name}.2.jsonl"): of.files[rng.choice([QUEUE, SEGMENT])]}
    broken, _ = look(copies, of, whole=True)
    queue = open_queue(MemoryLayer.holding(copies))
    units = [unit.id for unit in queue.waiting()]
    finding.expect(len(units) == len(set(units)), "a job of a copied segment waits twice")
    finding.expect(set(units) == {job.id for job in of.waiting}, "a copied segment adds or loses jobs")
    lines = of.files[ACKS].splitlines(keepends=True)
    rolled_back = {**of.files, ACKS: b"".join(lines[: rng.randrange(len(lines))])}
    more, _ = look(rolled_back, of, whole=True)
    for unit in open_queue(MemoryLayer.holding(rolled_back)).waiting():
        own = next(job for job in (*of.waiting, *of.done, of.dead) if job.id == unit.id)
        finding.expect(unit.operation_id == own.operation_id, "a job that came back has another operation id")
    finding.tried["copied and rolled-back segments"] += 2
    finding.violations += broken + more


def check_cursors(rng: Random, finding: Finding) -> None:
    """One flipped bit in the cursors: put aside with one notice, rebuilt, and the next write works."""
    disk = MemoryLayer()
    disk.make_folders(FOLDER)
    first = Cursors(folder(disk), KEY, now=now, wait=0)
    talk = branch(4)
    moved = first.plan("l", "bank", talk, first.new_entries("l", "bank", talk))
    assert moved is not None
    cover = moved.coverage("l", "bank")
    first.advance_from([cover])
    data = disk.files()[CURSORS]
    bit = rng.randrange(len(data) * 8)
    damaged = flipped(data, bit)
    later = MemoryLayer.holding({**disk.files(), CURSORS: damaged})
    told: list[str] = []
    cursors = Cursors(folder(later), KEY, log=lambda: [cover], notify=told.append, now=now, wait=0)
    try:
        left = cursors.new_entries("l", "bank", talk)
    except StoreError as error:
        finding.violations.append(f"bit {bit} of the cursors: {error.code}")
        return
    finding.tried["flipped bits in cursors"] += 1
    aside = [path for path, content in later.files().items() if path != CURSORS and content == damaged]
    finding.expect(len(told) == 1, f"bit {bit} of the cursors: {len(told)} notices")
    finding.expect(len(aside) == 1, f"bit {bit} of the cursors: the broken file is not kept")
    finding.expect(not left, f"bit {bit} of the cursors: {len(left)} entries would be sent again")


def check_record(rng: Random, finding: Finding) -> None:
    """One flipped bit in a session's record: everything is off, told once, and the user can set it right."""
    disk = MemoryLayer()
    disk.make_folders(FOLDER)
    SessionRecords(folder(disk), KEY, now=now, wait=0).set_mode(SID, "ignored")
    data = disk.files()[RECORD]
    bit = rng.randrange(len(data) * 8)
    damaged = flipped(data, bit)
    later = MemoryLayer.holding({**disk.files(), RECORD: damaged})
    told: list[str] = []
    records = SessionRecords(folder(later), KEY, notify=told.append, now=now, wait=0)
    closed = [records.read(SID), records.read(SID)]
    finding.tried["flipped bits in records"] += 1
    finding.expect(not any(each.trusted for each in closed), f"bit {bit} of a record was not detected")
    finding.expect(len(told) == 1, f"bit {bit} of a record: {len(told)} notices")
    try:
        records.set_mode(SID, "normal")
    except StoreError as error:
        finding.violations.append(f"bit {bit} of a record cannot be set right: {error.code}")
        return
    kept = [path for path, content in later.files().items() if path != RECORD and content == damaged]
    finding.expect(len(kept) == 1, f"bit {bit} of a record: the broken file is not kept")


def check_all(rng: Random, finding: Finding, times: int) -> None:
    """So many rounds of every kind of damage."""
    checks: list[Callable[[Random, Finding, Life], None]] = [check_bit, check_bit, check_bit, check_cut, check_copies]
    for _ in range(times):
        of = life(rng)
        for check in checks:
            check(rng, finding, of)
        check_cursors(rng, finding)
        check_record(rng, finding)


def run(rng: Random, scale: Scale) -> Finding:
    """Every kind of damage, many times."""
    finding = Finding()
    check_all(rng, finding, scale.pick(150, 3_000))
    return finding
