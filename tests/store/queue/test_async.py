"""The queue as the port: one thread at the disk, one sync for all who wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest

from hindbrain.contracts import RetainJob, RetainQueue
from hindbrain.store import StoreClosedError, StoreError
from hindbrain.store._queue import AsyncQueue, DurableQueue, JobRefusedError
from hindbrain.store._worker import Worker
from hindbrain.store.testing import MemoryLayer, RecordingLayer

MakeJob = Callable[..., RetainJob]
OpenQueue = Callable[..., DurableQueue]


@pytest.fixture
async def worker() -> AsyncIterator[Worker]:
    made = Worker("queue")
    yield made
    await made.close(lambda: None)


async def test_it_is_the_port_that_the_rest_knows(open_queue: OpenQueue, worker: Worker, make_job: MakeJob) -> None:
    queue = open_queue()
    port: RetainQueue = AsyncQueue(queue, worker)
    await port.enqueue(job := make_job())
    assert open_queue().load(job.id) == job


@pytest.mark.req("S0-queue-005")
async def test_those_who_come_at_once_share_one_sync(
    disk: MemoryLayer, open_queue: OpenQueue, worker: Worker, make_job: MakeJob
) -> None:
    layer = RecordingLayer(disk)
    queue = open_queue(layer)
    port = AsyncQueue(queue, worker)
    await port.enqueue(make_job())
    layer.operations.clear()
    jobs = [make_job() for _ in range(32)]
    await asyncio.gather(*(port.enqueue(job) for job in jobs))
    assert [each.name for each in layer.changes()] == ["write", "fsync"]
    assert [job.id for job in queue.waiting()][1:] == [job.id for job in jobs]


async def test_a_job_that_is_refused_fails_alone(open_queue: OpenQueue, worker: Worker, make_job: MakeJob) -> None:
    port = AsyncQueue(open_queue(), worker)
    good = make_job()
    bad = RetainJob(id="", bank="b", item=good.item, operation_id="o", created_at="")
    results = await asyncio.gather(port.enqueue(bad), port.enqueue(good), return_exceptions=True)
    assert [type(each) for each in results] == [JobRefusedError, type(None)]


async def test_a_disk_that_refuses_is_told_to_everyone_who_waits_and_the_next_may_work(
    open_queue: OpenQueue, worker: Worker, make_job: MakeJob
) -> None:
    queue = open_queue()
    port = AsyncQueue(queue, worker)
    queue.close()
    results = await asyncio.gather(*(port.enqueue(make_job()) for _ in range(3)), return_exceptions=True)
    assert [type(each) for each in results] == [StoreClosedError] * 3
    assert isinstance(results[0], StoreError)
    with pytest.raises(StoreClosedError):
        await port.enqueue(make_job())


async def test_a_caller_who_is_gone_before_the_write_leaves_nothing(
    open_queue: OpenQueue, worker: Worker, make_job: MakeJob
) -> None:
    port = AsyncQueue(open_queue(), worker)
    gone = asyncio.ensure_future(port.enqueue(make_job()))
    stays = asyncio.ensure_future(port.enqueue(job := make_job()))
    await asyncio.sleep(0)
    gone.cancel()
    await stays
    with suppress(asyncio.CancelledError):
        await gone
    assert job.id in {each.id for each in open_queue().waiting()}
    await port.enqueue(later := make_job())
    assert later.id in {each.id for each in open_queue().waiting()}
