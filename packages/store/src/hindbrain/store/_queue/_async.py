"""The queue as the port that the rest of hindbrain knows, its disk in one thread."""

from __future__ import annotations

import asyncio

from hindbrain.contracts import RetainJob
from hindbrain.store._queue._queue import DurableQueue
from hindbrain.store._worker import Worker

_Waiter = tuple[str, bytes, "asyncio.Future[None]"]


class AsyncQueue:
    """A :class:`hindbrain.contracts.RetainQueue` over the one in the file.

    Whoever comes while the disk is busy, or in the same turn of the event loop, shares one write and one sync. Neither
    the queue nor the worker is closed by it. Use it from one event loop.
    """

    def __init__(self, queue: DurableQueue, worker: Worker) -> None:
        self._queue = queue
        self._worker = worker
        self._waiters: list[_Waiter] = []
        self._busy = False

    async def enqueue(self, job: RetainJob) -> None:
        """Take the job; it is durable when this returns. Cancelled before its write began, nothing of it is kept.

        Raises:
            JobRefusedError: the file cannot carry it.
            StoreError: it is not durable.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiters.append((job.id, self._queue.line(job), done))
        if not self._busy:
            self._busy = True
            loop.call_soon(self._commit)
        await done

    def _commit(self) -> None:
        """Write what waits, if anything does. Callbacks and no task: each step of a task would cost as much again."""
        batch = [each for each in self._waiters if not each[2].cancelled()]
        self._waiters.clear()
        self._busy = bool(batch)
        if batch:
            lines = [(job_id, line) for job_id, line, _ in batch]
            self._worker.start(lambda: self._queue.append_lines(lines), lambda error: self._settle(batch, error))

    def _settle(self, batch: list[_Waiter], error: BaseException | None) -> None:
        for _, _, done in batch:
            if done.done():
                continue
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)
        self._commit()
