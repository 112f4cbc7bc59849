"""The processes that part 1 kills: sessions and plain writers that fill a state folder, flushers that empty it.

Each writes down what was acknowledged only after it was, in a file of its own beside the folder.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from attrs import frozen
from chaos.plants import plant

from hindbrain.client import HindsightClient
from hindbrain.contracts import Endpoint, Entry, Message, RetainItem, RetainJob, TextPart
from hindbrain.generic import DiskOutbox, InProcessHost, Layer, Session, memory_config, merge
from hindbrain.memory import Project, SessionIdentity
from hindbrain.store import FlushPolicy, HostState, StoreError
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._ledger import Document, Event, FactLedger, State

BANK_OF_JOBS = "jobs"
POLICY = FlushPolicy(base_backoff=0.0, max_backoff=0.0)


@frozen
class Place:
    """Where a run happens: everything below one scratch folder."""

    root: Path
    url: str

    @property
    def folder(self) -> Path:
        return self.root / "state"

    @property
    def seal_file(self) -> Path:
        return self.root / "data" / "seal.key"

    def session_file(self, name: str) -> Path:
        return self.root / f"{name}.session"

    def log_file(self, name: str) -> Path:
        return self.root / f"{name}.acknowledged"

    async def open(self, notify: Callable[[str], None] = print) -> HostState:
        return await HostState.open(self.folder, seal_file=self.seal_file, notify=notify)

    async def open_flaky(self, rng: Random) -> HostState:
        """On a disk that fails now and then, once everything is open."""
        disk = FlakyDisk(rng)
        state = await HostState.open(self.folder, seal_file=self.seal_file, layer=disk, notify=print)
        disk.armed = True
        return state

    def client(self) -> HindsightClient:
        return HindsightClient(Endpoint.parse(self.url))


class FlakyDisk(OsFileLayer):
    """Some syncs fail once it is armed, so that segments rotate."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self.armed = False

    def fsync(self, fd: int) -> None:
        if self.armed and self._rng.random() < 0.01:
            raise OSError(errno.EIO, "a planted failure")
        super().fsync(fd)


class Book:
    """What was acknowledged to a writer, one JSON line each: a kill cuts at most the last one."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, **fields: Any) -> None:
        os.write(self._fd, json.dumps(fields).encode() + b"\n")


def noted(path: Path) -> list[dict[str, Any]]:
    """All whole lines of a book."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1] if line]


def entry(name: str, number: int) -> Entry:
    """The entry of a session with this number."""
    text = f"{name} says {number}"
    return Entry(
        id=f"{name}-{number}",
        parent_id=f"{name}-{number - 1}" if number else None,
        kind="message",
        at=1_700_000_000_000 + number,
        message=Message(role="user", parts=(TextPart(text),)),
    )


def session(place: Place, name: str, state: HostState, client: HindsightClient) -> tuple[Session, InProcessHost]:
    """A session over a state folder, its entries read from the host's file."""
    settings = merge([Layer(origin="test", values={})])
    host = InProcessHost()
    for number in range(entries_in(place, name)):
        host.add(entry(name, number))
    identity = SessionIdentity(host="pi", key=sid(name), lineage=name, label=name, origin=place.url)
    made = Session(
        host=host,
        backend=client,
        config=memory_config(settings),
        project=Project(id="p", legacy_id="p", how="pin", root=str(place.root)),
        identity=identity,
        outbox=DiskOutbox(state, client, settings),
    )
    return made, host


def entries_in(place: Place, name: str) -> int:
    """How many entries the host has written: a byte each."""
    file = place.session_file(name)
    return file.stat().st_size if file.exists() else 0


def session_writer(root: str, url: str, name: str, seed: int, bug: str) -> None:
    """Talk without end: the host writes entries, the turn settles, sometimes after more than one."""
    with plant(bug):
        asyncio.run(_talk(Place(Path(root), url), name, Random(seed)))


async def _talk(place: Place, name: str, rng: Random) -> None:
    state = await place.open_flaky(rng)
    book = Book(place.log_file(name))
    async with place.client() as client:
        talking, host = session(place, name, state, client)
        file = os.open(place.session_file(name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        while True:
            for _ in range(rng.choice([1, 1, 2, 5])):
                host.add(entry(name, entries_in(place, name)))
                os.write(file, b".")
            turn = await talking.settled()
            for job in turn.jobs:
                book.note(job=job.id, operation=job.operation_id)
            await asyncio.sleep(rng.random() * 0.01)


def job_writer(root: str, url: str, name: str, seed: int, bug: str) -> None:
    """Append plain jobs, some of them to documents that are refused; ledger and records in between."""
    with plant(bug):
        asyncio.run(_append(Place(Path(root), url), name, Random(seed)))


async def _append(place: Place, name: str, rng: Random) -> None:
    state = await place.open_flaky(rng)
    book = Book(place.log_file(name))
    ledger = FactLedger(StateDir.open(OsFileLayer(), place.folder), wait=5.0)
    for job in _jobs(name, rng):
        try:
            await state.ask(lambda queue, job=job: queue.append(job))  # type: ignore[misc]
            book.note(job=job.id, operation=job.operation_id, document=job.item.document_id, content=job.item.content)
            if rng.random() < 0.1:
                tag = f"{name} {uuid.UUID(int=rng.getrandbits(128))}"
                await state.run(lambda tag=tag: _replace_tag(state, name, tag))  # type: ignore[misc]
                book.note(tag=tag)
            if rng.random() < 0.05:
                fact = str(uuid.UUID(int=rng.getrandbits(128)))
                await state.run(lambda fact=fact: _refused_fact(ledger, fact))  # type: ignore[misc]
                book.note(fact=fact)
        except StoreError:
            continue
        await asyncio.sleep(rng.random() * 0.01)


def sid(name: str) -> str:
    """The session id of a writer's record."""
    return name.encode().hex().ljust(16, "0")[:16]


def _replace_tag(state: HostState, name: str, tag: str) -> None:
    before = state.records.read(sid(name)).tags
    state.records.add_tag(sid(name), tag)
    for old in before[:-3]:
        state.records.remove_tag(sid(name), old)


def _refused_fact(ledger: FactLedger, fact: str) -> None:
    place = Document(base_url="https://h.example.com", bank_id="b", project_id="p", document_id=fact)
    receipt = ledger.insert(place, revision="r", operation_id=fact, kind="k", title="t", now=1_000)
    ledger.update(receipt.key, State.SUBMITTED, Event.REFUSED, 1_001)


def _jobs(name: str, rng: Random) -> Iterator[RetainJob]:
    first = rng.getrandbits(40)
    for number in range(first, first + 1_000_000):
        document = f"refused-{name}-{number}" if rng.random() < 0.1 else f"doc-{name}-{rng.randrange(3)}"
        identity = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{name} {number}"))
        item = RetainItem(content=f"{name} {number}", document_id=document, update_mode="append")
        yield RetainJob(
            id=identity, bank=BANK_OF_JOBS, item=item, operation_id=identity, created_at="2026-01-01T00:00:00Z"
        )


def flusher(root: str, url: str, name: str, seed: int, bug: str) -> None:
    """Send what waits, without end; compact now and then."""
    with plant(bug):
        asyncio.run(_flush(Place(Path(root), url), name, Random(seed)))


async def _flush(place: Place, _name: str, rng: Random) -> None:
    state = await place.open_flaky(rng)
    async with place.client() as client:
        flush = state.flusher(client, FlushPolicy(base_backoff=0.0, max_backoff=0.0, coalesce=rng.random() < 0.5))
        while True:
            await flush.flush(max_jobs=rng.choice([1, 5, 50]), max_elapsed=2.0)
            if rng.random() < 0.05:
                try:
                    await state.ask(lambda queue: queue.compact())
                except StoreError:
                    continue
            await asyncio.sleep(rng.random() * 0.02)
