"""Jobs, and queues on a disk in memory."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hindbrain.contracts import Coverage, RetainItem, RetainJob
from hindbrain.store._files import FileLayer
from hindbrain.store._lock import Lock, Patience
from hindbrain.store._queue import DurableQueue
from hindbrain.store._seal import SealKey
from hindbrain.store.testing import MemoryLayer

QUEUE = Path("/state/retain-queue.jsonl")

MakeJob: TypeAlias = Callable[..., RetainJob]
OpenQueue: TypeAlias = Callable[..., DurableQueue]


@pytest.fixture
def path() -> Path:
    return QUEUE


@pytest.fixture
def key() -> SealKey:
    return SealKey(b"k" * 32)


@pytest.fixture
def disk() -> MemoryLayer:
    disk = MemoryLayer()
    disk.make_folders(QUEUE.parent)
    return disk


@pytest.fixture
def make_job() -> MakeJob:
    """The next job: ``make_job("words", document_id="d")``."""
    numbers = itertools.count(1)

    def make(content: str = "", *, bank: str = "bank", covers: bool = True, **fields: Any) -> RetainJob:
        number = next(numbers)
        item = {"document_id": "doc", "update_mode": "append", "tags": ("a", "b"), **fields}
        return RetainJob(
            id=str(uuid.UUID(int=number)),
            bank=bank,
            item=RetainItem(content=content or f"content {number}", **item),
            operation_id=str(uuid.UUID(int=number + 10_000)),
            created_at=f"2026-01-01T00:00:{number % 60:02}Z",
            covers=_covers(bank, number) if covers else None,
        )

    return make


def _covers(bank: str, number: int) -> Coverage:
    tail = ((f"e{number}", f"{number:064x}"),)
    after = f"e{number - 1}" if number > 1 else None
    return Coverage(
        lineage="root",
        bank=bank,
        first_id=f"e{number}",
        last_id=f"e{number}",
        chain=f"{number:064x}",
        after_id=after,
        count=number,
        tail=tail,
    )


@pytest.fixture
def open_queue(disk: MemoryLayer, key: SealKey) -> OpenQueue:
    """Open the queue on this test's disk, or on another; nobody waits for a lock."""

    def open_it(layer: FileLayer | None = None, *, path: Path = QUEUE, key: SealKey = key, **more: Any) -> DurableQueue:
        layer = layer or disk
        patience = Patience(clock=lambda: 0.0, sleep=lambda _: None)
        lock = Lock(layer, path.with_name(f"{path.name}.lock"), patience=patience)
        return DurableQueue.open(path, key=key, layer=layer, lock=lock, wait=0, **more)

    return open_it
