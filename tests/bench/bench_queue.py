"""The durable queue beside a bare append and sync of the same bytes, and beside queues of others.

All are on one disk and take short turns of several items, so that a noisy moment hits each of them and none is measured
with the caches of another. Times are microseconds an item unless said otherwise; a figure is the median over all items.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from _row import Row, median
from bench_client import CACHE, environment

from hindbrain.contracts import Coverage, RetainItem, RetainJob
from hindbrain.store._files import OsFileLayer
from hindbrain.store._queue import AsyncQueue, DurableQueue
from hindbrain.store._seal import SealKey
from hindbrain.store._worker import Worker
from hindbrain.store.testing import RecordingLayer

HERE = Path(__file__).parent
PEERS = ("persist-queue", "litequeue", "huey")
REQUIREMENTS = ("persist-queue==1.1.0", "litequeue==0.9", "huey==3.5.4")
KEY = SealKey(b"k" * 32)
CONTENT = "What was said in a turn, about as long as they are. " * 20
ROUNDS = 25
TURN = 10
PAGE = 20
AT_ONCE = 32
BACKLOG = 100_000
OPENINGS = 5


def new_job(number: int = 0) -> RetainJob:
    """A job of about 1.5 kB."""
    item = RetainItem(content=CONTENT, document_id="pi-session:0f0e0d0c0b0a0908", update_mode="append", tags=("a", "b"))
    covers = Coverage(
        lineage="root", bank="bank", first_id=f"{number:x}", last_id=f"{number:x}", chain="c" * 64, count=number
    )
    return RetainJob(
        id=str(uuid.uuid4()),
        bank="bank",
        item=item,
        operation_id=str(uuid.uuid4()),
        created_at="2026-01-01T00:00:00.000Z",
        covers=covers,
    )


def open_queue(folder: Path, layer: RecordingLayer | None = None) -> DurableQueue:
    """The queue in this folder."""
    return DurableQueue.open(folder / "queue.jsonl", key=KEY, layer=layer)


class Floor:
    """A file that is appended to and synced, and nothing else."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append(self, data: bytes) -> None:
        """One write, one sync."""
        os.write(self._fd, data)
        os.fsync(self._fd)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._fd)


class Peer:
    """A queue of others in its own process."""

    def __init__(self, python: Path, name: str, folder: Path, size: int) -> None:
        self._process = subprocess.Popen(
            [str(python), str(HERE / "_queue_peer.py"), name, str(folder), str(size)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def microseconds(self, verb: str, count: int) -> float:
        """The median of so many items."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{verb} {count}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def stop(self) -> None:
        """End the process by ending its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


def clocked(work: Callable[[], object]) -> float:
    """The microseconds of doing it once."""
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1e6


@contextmanager
def peers(folder: Path, size: int) -> Iterator[dict[str, Peer]]:
    """All of them, each with a queue of its own."""
    python = environment("queue-peers", *REQUIREMENTS)
    running: dict[str, Peer] = {}
    try:
        for name in PEERS:
            running[name] = Peer(python, name, folder, size)
        yield running
    finally:
        for peer in running.values():
            peer.stop()


def fill(folder: Path) -> None:
    """A queue with a backlog."""
    queue = open_queue(folder)
    for start in range(0, BACKLOG, 1000):
        queue.append_many([new_job(number) for number in range(start, start + 1000)])
    queue.close()


async def alone(queue: AsyncQueue) -> float:
    """Microseconds of an enqueue through the port."""
    job = new_job()
    begun = time.perf_counter()
    await queue.enqueue(job)
    return (time.perf_counter() - begun) * 1e6


async def at_once(queue: AsyncQueue) -> float:
    """Microseconds an item of many enqueues at once."""
    jobs = [new_job() for _ in range(AT_ONCE)]
    begun = time.perf_counter()
    await asyncio.gather(*(queue.enqueue(job) for job in jobs))
    return (time.perf_counter() - begun) * 1e6 / AT_ONCE


class Taker:
    """Takes jobs as the flusher does: a page of what waits, then each whole and with its seal checked, then its ack."""

    def __init__(self, queue: DurableQueue) -> None:
        self._queue = queue
        self._page: list[str] = []
        self._paging = 0.0

    def microseconds(self) -> float:
        """Those of one job, with its share of the page."""
        if not self._page:
            self._queue.append_many([new_job() for _ in range(PAGE)])
            self._paging = clocked(self._turn) / PAGE
        job_id = self._page.pop(0)
        return self._paging + clocked(lambda: self._deliver(job_id))

    def _deliver(self, job_id: str) -> None:
        self._queue.load(job_id)
        self._queue.ack([job_id])

    def _turn(self) -> None:
        self._page = [job.id for job in self._queue.waiting(PAGE)]


def measure(folder: Path) -> dict[str, float]:
    """The medians by name."""
    line = len(open_queue(folder / "size").line(new_job()))
    queue, full, port = (open_queue(folder / name) for name in ("empty", "full", "port"))
    worker, floor, small = Worker("bench"), Floor(folder / "floor"), Floor(folder / "floor-ack")
    concurrent, taker = AsyncQueue(port, worker), Taker(open_queue(folder / "taken"))
    data, ack = b"x" * (line - 1) + b"\n", b"x" * 90 + b"\n"
    samples: dict[str, list[float]] = {}
    with peers(folder, line) as others, asyncio.Runner() as runner:
        for round_ in range(-3, ROUNDS):
            jobs = [new_job() for _ in range(TURN)]
            taken = {
                "floor": [clocked(lambda: floor.append(data)) for _ in jobs],
                "enqueue": [clocked(partial(queue.append, job)) for job in jobs],
                "full": [clocked(partial(full.append, job)) for job in [new_job() for _ in jobs]],
                "floor-ack": [clocked(lambda: small.append(ack)) for _ in jobs],
                "ack": [clocked(partial(queue.ack, [job.id])) for job in jobs],
                "port": [runner.run(alone(concurrent)) for _ in jobs],
                "at-once": [runner.run(at_once(concurrent))],
                "done": [taker.microseconds() for _ in jobs],
            }
            for name, peer in others.items():
                taken[f"put {name}"] = [peer.microseconds("put", TURN)]
                taken[f"done {name}"] = [peer.microseconds("done", TURN)]
            if round_ >= 0:  # the first rounds warm up
                for name, values in taken.items():
                    samples.setdefault(name, []).extend(values)
        runner.run(worker.close(lambda: None))
    for each in (queue, full, port, floor, small):
        each.close()
    return {name: median(values) for name, values in samples.items()}


def opening(folder: Path) -> float:
    """Median milliseconds of opening the backlog."""

    def work() -> None:
        open_queue(folder).close()

    return median([clocked(work) for _ in range(OPENINGS)]) / 1000


def syncs(folder: Path) -> dict[str, int]:
    """Syncs of one enqueue, one ack, and many enqueues at once, once the files are there."""
    layer = RecordingLayer(OsFileLayer())
    queue = open_queue(folder, layer)
    first, second = new_job(), new_job()
    queue.append(first)
    queue.ack([first.id])

    def counted(work: Callable[[], object]) -> int:
        layer.operations.clear()
        work()
        return layer.count("fsync", "sync_dir")

    async def many() -> None:
        worker = Worker("bench")
        port = AsyncQueue(queue, worker)
        await asyncio.gather(*(port.enqueue(new_job()) for _ in range(AT_ONCE)))
        await worker.close(lambda: None)

    return {
        "enqueue": counted(lambda: queue.append(second)),
        "ack": counted(lambda: queue.ack([second.id])),
        "at-once": counted(lambda: asyncio.run(many())),
    }


def run() -> Iterable[Row]:
    """All rows."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="queue-", dir=CACHE))
    try:
        yield from rows(folder)
    finally:
        shutil.rmtree(folder)


def rows(folder: Path) -> Iterable[Row]:
    """All rows, measured in a folder."""
    for name, count in syncs(folder / "syncs").items():
        yield Row(name=f"queue.syncs.{name}", value=count, unit="syncs", runs=1, bar="value <= 1")
    fill(folder / "full")
    yield Row(
        name=f"queue.open.{BACKLOG}", value=opening(folder / "full"), unit="ms", runs=OPENINGS, bar="value <= 300"
    )
    took = measure(folder)
    put = {name: took[f"put {name}"] for name in PEERS}
    done = {name: took[f"done {name}"] for name in PEERS}
    faster = " and ".join(f"x {name} < 1" for name in PEERS)
    async_bar = f"value <= {took['floor'] + 250:.1f}"
    plan = [
        ("enqueue", took["enqueue"], took["floor"], put, f"x floor <= 1.35 and {faster}"),
        ("ack", took["ack"], took["floor-ack"], {}, "x floor <= 1.35"),
        ("take-and-ack", took["done"], took["floor-ack"], done, faster),
        ("enqueue.async", took["port"], took["floor"], put, async_bar),
        (f"enqueue.{AT_ONCE}-at-once", took["at-once"], took["floor"], put, f"x floor <= 0.13 and {faster}"),
        (f"enqueue.behind-{BACKLOG}", took["full"], took["floor"], {"empty": took["enqueue"]}, "x empty <= 1.1"),
    ]
    for name, value, floor, others, bar in plan:
        yield Row(name=f"queue.{name}", value=value, unit="us", runs=ROUNDS * TURN, floor=floor, peers=others, bar=bar)


if __name__ == "__main__":
    sys.exit("Run it through run.py.")
