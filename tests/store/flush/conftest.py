"""A queue in memory, and a backend that answers as it is told."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hindbrain.contracts import (
    BackendError,
    Deleted,
    Operation,
    OperationStatus,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    RetainJob,
)
from hindbrain.store._flush import Flusher
from hindbrain.store._lock import Lock, Patience
from hindbrain.store._queue import DurableQueue
from hindbrain.store._seal import SealKey
from hindbrain.store._worker import Worker
from hindbrain.store.testing import MemoryLayer

QUEUE = Path("/state/retain-queue.jsonl")

MakeJob: TypeAlias = Callable[..., RetainJob]


class Server:
    """A backend.

    Attributes:
        answers: what the next retains do: an error is raised, a status answers a conflict's question, a number is the
            facts found, None hangs for ever. Empty: everything is taken.
        statuses: the same for status calls.
        took: what was taken, in order: operation id and content.
        asked: every retain that arrived, as its operation id.
        works: where an operation stands when it is taken.
        looked_at: every status call that arrived, as its operation id.
    """

    def __init__(self) -> None:
        self.answers: deque[BackendError | Retained | None] = deque()
        self.statuses: deque[BackendError | OperationStatus] = deque()
        self.took: list[tuple[str, RetainItem]] = []
        self.asked: list[str] = []
        self.works = OperationStatus.COMPLETED
        self.looked_at: list[str] = []
        self.was_cancelled = False
        self.before: Callable[[], object] = lambda: None

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:  # noqa: ARG002 - the port's
        self.before()
        self.asked.append(operation_id)
        answer = self.answers.popleft() if self.answers else Retained(operation_id=operation_id, status=self.works)
        if answer is None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.was_cancelled = True
                raise
        if isinstance(answer, BackendError):
            raise answer
        assert answer is not None
        self.took.append((operation_id, item))
        return answer

    async def status(self, bank: str, operation_id: str) -> Operation:  # noqa: ARG002 - the port's
        self.looked_at.append(operation_id)
        answer = self.statuses.popleft() if self.statuses else OperationStatus.NOT_FOUND
        if isinstance(answer, BackendError):
            raise answer
        return Operation(operation_id=operation_id, status=answer)

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        raise NotImplementedError

    async def delete(self, bank: str, document_id: str) -> Deleted:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def disk() -> MemoryLayer:
    disk = MemoryLayer()
    disk.make_folders(QUEUE.parent)
    return disk


@pytest.fixture
def open_queue(disk: MemoryLayer) -> Callable[[], DurableQueue]:
    def open_it() -> DurableQueue:
        patience = Patience(clock=lambda: 0.0, sleep=lambda _: None)
        lock = Lock(disk, QUEUE.with_name(f"{QUEUE.name}.lock"), patience=patience)
        return DurableQueue.open(QUEUE, key=SealKey(b"k" * 32), layer=disk, lock=lock, wait=0)

    return open_it


@pytest.fixture
def queue(open_queue: Callable[[], DurableQueue]) -> DurableQueue:
    return open_queue()


@pytest.fixture
def make_job() -> MakeJob:
    numbers = itertools.count(1)

    def make(content: str = "", *, bank: str = "bank", **fields: Any) -> RetainJob:
        number = next(numbers)
        item = {"document_id": f"doc-{number}", "update_mode": "append", **fields}
        return RetainJob(
            id=str(uuid.UUID(int=number)),
            bank=bank,
            item=RetainItem(content=content or f"content {number}", **item),
            operation_id=str(uuid.UUID(int=number + 10_000)),
            created_at="2026-01-01T00:00:00Z",
        )

    return make


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    made = Worker("queue")
    yield made
    await made.close(lambda: None)


MakeFlusher: TypeAlias = Callable[..., Flusher]


@pytest.fixture
def make_flusher(queue: DurableQueue, server: Server, worker: Worker, clock: Clock) -> MakeFlusher:
    def make(**more: Any) -> Flusher:
        given = {"clock": clock, "random": lambda: 1.0, "now": lambda: "2026-01-01T00:00:00.000Z", **more}
        return Flusher(given.pop("queue", queue), server, worker, **given)

    return make
