"""Part 6b: a cloned repository ships a state folder, or links in its place: nothing of it is sent or believed."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from chaos.finding import Finding, Scale
from chaos.memory_backend import Memory
from chaos.subjects import Jobs, branch, delivery

from hindbrain.contracts import RetainJob
from hindbrain.store import DurableQueue, HostState, SessionRecords, StoreError
from hindbrain.store._cursors import Cursors
from hindbrain.store._files import FileLayer, OsFileLayer, StateDir
from hindbrain.store._queue import JobDamagedError
from hindbrain.store._receipts import RetainReceipts
from hindbrain.store._seal import SealKey, seal_key

SID = "0123456789abcdef"
_NAMES = (
    "retain-queue.jsonl",
    "retain-queue.jsonl.1.jsonl",
    "retain-queue.jsonl.acks.jsonl",
    "retain-queue.jsonl.dead.jsonl",
    "retain-queue.jsonl.malformed.jsonl",
    "retain-cursors.json",
    "retain-receipts.json",
    f"session-meta/{SID}.json",
)
_SECRET = b"what lies elsewhere\n"


def ship(folder: Path, key: SealKey, rng: Random) -> list[RetainJob]:
    """Fill a state folder as an attacker would on a machine of his own; the jobs in it."""
    jobs = [Jobs(rng).one() for _ in range(3)]
    state = StateDir.open(OsFileLayer(), folder)
    queue = DurableQueue.open(folder / "retain-queue.jsonl", key=key)
    queue.append_many(jobs)
    dead = Jobs(Random(rng.random())).one(document="dead")
    queue.append(dead := _named(dead, "dead"))
    queue.bury(dead.id, "http")
    talk = branch(5)
    Cursors(state, key).advance("lineage", "bank", talk, talk.path())
    SessionRecords(state, key).set_mode(SID, "normal")
    RetainReceipts(state).record(delivery("doc", 1))
    queue.close()
    return [*jobs, dead]


def _named(job: RetainJob, name: str) -> RetainJob:
    return RetainJob(
        id=name, bank=job.bank, item=job.item, operation_id=job.operation_id, created_at=job.created_at, covers=None
    )


async def _use(root: Path, finding: Finding, layer: FileLayer, *, own: RetainJob) -> bool:
    """Open the folder as the user does, keep a job of one's own and send; whether it could be opened at all."""
    memory = Memory()
    try:
        state = await HostState.open(
            root / ".pi" / "hindsight", seal_file=root.parent / "data" / "seal.key", within=root, layer=layer
        )
    except StoreError:
        return False
    try:
        left = await state.new_entries("lineage", "bank", branch(5))
        finding.expect(len(left) == 5, "foreign cursors are believed")
        try:
            await state.ask(lambda queue: queue.append(own))
            # Bounded: where links are followed, what is sent may never leave the queue.
            await state.flusher(memory).flush(max_jobs=20)
        except StoreError:
            finding.tried["refusals"] += 1
        sent = {content for _, content in memory.took}
        finding.expect(sent <= {own.item.content}, "a foreign job was sent")
        finding.expect(memory.asked.count(own.operation_id) <= 1, "the own job was sent twice")
        record = await state.run(lambda: state.records.read(SID))
        finding.expect(not record.trusted or record.updated_at is None, "a foreign record is believed")
        await _look_at_dead(state, finding)
    except StoreError:
        finding.tried["refusals"] += 1
    finally:
        await state.close()
    return True


async def _look_at_dead(state: HostState, finding: Finding) -> None:
    for letter in await state.ask(lambda queue: queue.dead()):
        try:
            await state.ask(lambda queue, letter=letter: queue.requeue(letter.id))  # type: ignore[misc]
        except JobDamagedError:
            finding.tried["foreign dead letters refused"] += 1
        else:
            finding.violations.append("a foreign dead letter can be sent")


def _link(target: Path, place: Path) -> None:
    place.symlink_to(target)


def _folder(_target: Path, place: Path) -> None:
    place.mkdir()


def _pipe(_target: Path, place: Path) -> None:
    os.mkfifo(place)


def _dangling(target: Path, place: Path) -> None:
    place.symlink_to(target.with_name("nothing"))


_TRICKS: tuple[Callable[[Path, Path], None], ...] = (_link, _dangling, _folder, _pipe)


def run(rng: Random, scale: Scale, *, wrap: Callable[[FileLayer], FileLayer] = lambda layer: layer) -> Finding:
    """A whole shipped folder, then each file replaced by a link, a folder or a pipe, then the folder itself."""
    finding = Finding()
    for _ in range(scale.pick(3, 60)):
        _shipped(rng, finding, wrap(OsFileLayer()))
    for _ in range(scale.pick(1, 10)):
        for name in _NAMES:
            for trick in _TRICKS:
                _tricked(rng, finding, wrap(OsFileLayer()), name, trick)
        _linked_folder(rng, finding, wrap(OsFileLayer()))
    return finding


def _own(rng: Random) -> RetainJob:
    return _named(Jobs(rng).one("own", length=rng.randrange(9, 99)), "own")


def _shipped(rng: Random, finding: Finding, layer: FileLayer) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "project"
        root.mkdir()
        ship(root / ".pi" / "hindsight", SealKey(rng.randbytes(32)), rng)
        (root / ".pi" / "hindsight" / "seal.key").write_bytes(b"k" * 32)
        opened = asyncio.run(_use(root, finding, layer, own=_own(rng)))
        finding.expect(opened, "a shipped folder makes the store unusable")
        finding.tried["shipped folders"] += 1


def _tricked(rng: Random, finding: Finding, layer: FileLayer, name: str, trick: Callable[[Path, Path], None]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root, elsewhere = Path(scratch) / "project", Path(scratch) / "elsewhere"
        root.mkdir()
        key = seal_key(OsFileLayer(), Path(scratch) / "data" / "seal.key")
        folder = root / ".pi" / "hindsight"
        # What the link leads to bears this user's own seal: only the link itself gives it away.
        ship(Path(scratch) / "other", key, rng)
        target = Path(scratch) / "other" / name
        data = target.read_bytes() if target.exists() else _SECRET
        elsewhere.write_bytes(data)
        (folder / name).parent.mkdir(parents=True)
        trick(elsewhere, folder / name)
        asyncio.run(_use(root, finding, layer, own=_own(rng)))
        finding.expect(elsewhere.read_bytes() == data, f"{name} as {trick.__name__}: written through")
        finding.expect(not elsewhere.with_name("nothing").exists(), f"{name} as {trick.__name__}: made elsewhere")
        finding.tried["links, folders and pipes"] += 1


def _linked_folder(rng: Random, finding: Finding, layer: FileLayer) -> None:
    for above in (False, True):
        with tempfile.TemporaryDirectory() as scratch:
            root, elsewhere = Path(scratch) / "project", Path(scratch) / "elsewhere"
            root.mkdir()
            elsewhere.mkdir()
            if above:
                (root / ".pi").symlink_to(elsewhere)
            else:
                (root / ".pi").mkdir()
                (root / ".pi" / "hindsight").symlink_to(elsewhere)
            opened = asyncio.run(_use(root, finding, layer, own=_own(rng)))
            finding.expect(not opened, "a linked state folder was used")
            finding.expect(not list(elsewhere.iterdir()), "something was written through a linked folder")
            finding.tried["linked state folders"] += 1
