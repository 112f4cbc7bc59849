"""The one thread that touches the disk, and how a caller who stops waiting stops it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from hindbrain.store._errors import StoreClosedError, translated

T = TypeVar("T")


class Job:
    """One piece of work. The thread names the connection it uses; the caller may stop it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._stopped = False

    def uses(self, connection: sqlite3.Connection) -> None:
        """Say which connection works for this job from now on."""
        with self._lock:
            self._connection = connection
        self.check()

    def done(self) -> None:
        """Let go of the connection, so that a late stop cannot interrupt the next job."""
        with self._lock:
            self._connection = None

    def check(self) -> None:
        """Stop here if nobody waits any more.

        Raises:
            JobStopped: the caller was cancelled.
        """
        if self._stopped:
            raise JobStopped

    def stop(self) -> None:
        """Interrupt the running statement, and let no other begin."""
        with self._lock:
            self._stopped = True
            if self._connection is not None:
                self._connection.interrupt()


class JobStopped(Exception):  # noqa: N818  (a signal between two threads, never seen by a caller)
    """Nobody waits for this job."""


class Worker:
    """Runs jobs one after another in a thread of its own."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._closed = False

    async def run(self, work: Callable[[Job], T]) -> T:
        """Run ``work`` in the thread. Cancelling the caller interrupts it; its transaction is then rolled back.

        Raises:
            StoreError: what SQLite or the operating system said, in our words.
        """
        if self._closed:
            raise StoreClosedError
        job = Job()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, _guarded, work, job)
        except asyncio.CancelledError:
            job.stop()
            raise

    async def close(self, last: Callable[[], None]) -> None:
        """Run ``last`` after all that waits, then end the thread. Idempotent."""
        if self._closed:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(self._pool, last)
        self._pool.shutdown(wait=False)


def _guarded(work: Callable[[Job], T], job: Job) -> T:
    with translated():
        job.check()
        try:
            return work(job)
        finally:
            job.done()
