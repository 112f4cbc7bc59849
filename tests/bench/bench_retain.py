"""The retain path: from a settled turn to its job in the durable queue, beside a bare append and sync.

Every turn is a question, an answer with a tool call and a failed result, over a history of the given size that was
retained before. Times are microseconds a turn and stand beside those of one append and sync of as many bytes on the
same disk, taken in turns, so that a noisy moment hits both; the row of processor time holds on a busy machine, too.
Nothing is sent: sending comes after the turn is durable.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from _row import Row, median, p95
from bench_client import CACHE

from hindbrain.contracts import Entry, Message, TextPart, ToolCallPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import DiskOutbox, InProcessHost, merge
from hindbrain.generic._governance import RecordedGovernance
from hindbrain.generic._retainer import Retainer
from hindbrain.memory import Checkout, MemoryConfig, ScopeConfig, SessionIdentity, identify
from hindbrain.store import HostState
from hindbrain.store._files import OsFileLayer
from hindbrain.store.testing import RecordingLayer

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="session.jsonl", origin="local")
SIZES = (100, 1_000, 10_000)
MEGABYTE = 1_000_000
TURNS = 200
WARM = 20
WORDS = "We looked at why the release of Thursday failed and chose to retry with a longer wait between two tries. "
OWN_TIME = 2_000
"""Microseconds that a turn may take beside its sync."""


class Talk:
    """A conversation that grows turn by turn in a host."""

    def __init__(self) -> None:
        self.host = InProcessHost()
        self.count = 0
        self._last: str | None = None

    def add(self, role: str, text: str, *calls: ToolCallPart, tool: str | None = None) -> None:
        """One entry after the last one."""
        self.count += 1
        message = Message(
            role=role, parts=(TextPart(text), *calls), at=self.count * 1000, tool_name=tool, is_error=tool is not None
        )
        new = Entry(id=f"{self.count:08x}", parent_id=self._last, kind="message", message=message)
        self.host.add(new)
        self._last = new.id

    def turn(self) -> None:
        """What was said in one turn, about 1.5 kB."""
        self.add("user", f"{self.count}: {WORDS * 2}")
        self.add("assistant", WORDS * 6, ToolCallPart("1", "bash", {"command": "make test", "timeout": 60}))
        self.add("toolResult", f"{WORDS * 4}\nexit status 2", tool="bash")


class Place:
    """A state folder and the path that leads a talk into it."""

    def __init__(self, state: HostState) -> None:
        self.state = state
        self.talk = Talk()
        self._retainer = Retainer(
            DiskOutbox(state, InMemoryBackend(), merge([])),
            RecordedGovernance(state, IDENTITY.key),
            MemoryConfig(),
            project=PROJECT,
            identity=IDENTITY,
            bank=PROJECT.bank,
            always=(PROJECT.bank,),
            clock=lambda: 1_767_323_045_000,
        )

    @classmethod
    async def open(cls, folder: Path, layer: RecordingLayer | None = None) -> Place:
        """A new one."""
        return cls(await HostState.open(folder / "state", seal_file=folder / "seal.key", layer=layer))

    async def settle(self) -> float:
        """Microseconds until what is new is durable."""
        branch = await self.talk.host.branch()
        begun = time.perf_counter()
        kept = await self._retainer.settle(branch)
        took = (time.perf_counter() - begun) * 1e6
        assert kept.jobs
        return took

    async def history(self, entries: int, size: int) -> None:
        """A history of so many entries and characters, retained."""
        each = size // entries
        for number in range(entries):
            text = f"{number} {WORDS * (each // len(WORDS) + 1)}"[:each]
            self.talk.add("user" if number % 2 == 0 else "assistant", text)
        await self.settle()


class Floor:
    """A file that is appended to and synced, and nothing else, in a thread as the path's own disk is."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def append(self, size: int) -> float:
        """Microseconds of one write and one sync of so many bytes."""
        data = b"x" * size
        begun = time.perf_counter()
        os.write(self._fd, data)
        os.fsync(self._fd)
        return (time.perf_counter() - begun) * 1e6

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._fd)


async def measure(folder: Path, entries: int, size: int) -> tuple[list[float], list[float]]:
    """The microseconds of each turn, and of the syncs beside them."""
    place, floor = await Place.open(folder), Floor(folder / "floor")
    await place.history(entries, size)
    queue = folder / "state" / "retain-queue.jsonl"
    turns: list[float] = []
    syncs: list[float] = []
    for number in range(WARM + TURNS):
        place.talk.turn()
        before = queue.stat().st_size
        took = await place.settle()
        sync = await floor.append(queue.stat().st_size - before)
        if number >= WARM:
            turns.append(took)
            syncs.append(sync)
    floor.close()
    await place.state.close()
    return turns, syncs


async def work_of_a_turn(folder: Path) -> list[float]:
    """Microseconds of processor, in all threads, that each turn takes: the same on a machine that is busy."""
    place = await Place.open(folder)
    await place.history(2_000, MEGABYTE)
    found: list[float] = []
    for number in range(WARM + TURNS):
        place.talk.turn()
        begun = time.process_time()
        await place.settle()
        if number >= WARM:
            found.append((time.process_time() - begun) * 1e6)
    await place.state.close()
    return found


async def syncs_of_a_turn(folder: Path) -> int:
    """How often the disk is told to sync in a turn, once the files are there."""
    layer = RecordingLayer(OsFileLayer())
    place = await Place.open(folder, layer)
    for _ in range(3):
        place.talk.turn()
        layer.operations.clear()
        await place.settle()
    count = layer.count("fsync", "sync_dir")
    await place.state.close()
    return count


def run() -> Iterable[Row]:
    """All rows."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="retain-", dir=CACHE))
    try:
        yield from rows(folder)
    finally:
        shutil.rmtree(folder)


def rows(folder: Path) -> Iterable[Row]:
    """All rows, measured in a folder."""

    def fresh(name: str) -> Path:
        (folder / name).mkdir()
        return folder / name

    count = asyncio.run(syncs_of_a_turn(fresh("syncs")))
    yield Row(name="retain.syncs", value=count, unit="syncs", runs=1, bar="value <= 1")
    turns, syncs = asyncio.run(measure(fresh("megabyte"), 2_000, MEGABYTE))
    floor = median(syncs)
    yield Row(
        name="retain.turn.1-MB-history.p50",
        value=median(turns),
        unit="us",
        runs=TURNS,
        floor=floor,
        bar=f"value <= {OWN_TIME + floor:.1f}",
    )
    work = asyncio.run(work_of_a_turn(fresh("work")))
    yield Row(
        name="retain.turn.1-MB-history.cpu", value=median(work), unit="us", runs=TURNS, bar=f"value <= {OWN_TIME}"
    )
    yield Row(name="retain.turn.1-MB-history.p95", value=p95(turns), unit="us", runs=TURNS, floor=p95(syncs))
    own: dict[int, float] = {}
    for size in SIZES:
        turns, syncs = asyncio.run(measure(fresh(str(size)), size, 100 * size))
        own[size] = median([turn - sync for turn, sync in zip(turns, syncs, strict=True)])
        few = {f"{SIZES[0]}-entries": own[SIZES[0]]}
        grows = None if size == SIZES[0] else f"x {SIZES[0]}-entries <= 1.5"
        yield Row(name=f"retain.own-time.{size}-entries", value=own[size], unit="us", runs=TURNS, peers=few, bar=grows)


if __name__ == "__main__":
    sys.exit("Run it through run.py.")
