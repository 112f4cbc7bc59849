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
        self._committing: asyncio.Task[None] | None = None

    async def enqueue(self, job: RetainJob) -> None:
        """Take the job; it is durable when this returns. Cancelled before its write began, nothing of it is kept.

        Raises:
            JobRefusedError: the file cannot carry it.
            StoreError: it is not durable.
        """
        line = self._queue.line(job)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append((job.id, line, done))
        if self._committing is None:
            self._committing = asyncio.create_task(self._commit())
        await done

    async def _commit(self) -> None:
        try:
            while batch := [each for each in self._waiters if not each[2].cancelled()]:
                self._waiters.clear()
                await self._commit_one(batch)
        finally:
            self._waiters.clear()
            self._committing = None

    async def _commit_one(self, batch: list[_Waiter]) -> None:
        lines = [(job_id, line) for job_id, line, _ in batch]
        error: BaseException | None = None
        try:
            await self._worker.run(lambda _: self._queue.append_lines(lines))
        except BaseException as raised:
            error = raised
            if not isinstance(raised, Exception):
                raise
        finally:
            for _, _, done in batch:
                if done.done():
                    continue
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)
