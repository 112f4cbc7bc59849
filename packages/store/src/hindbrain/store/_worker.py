"""The one thread that touches the disk, and how a caller who stops waiting stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from hindbrain.store._errors import StoreClosedError, translated

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")
_LOOK_EVERY = 10_000
"""Instructions of SQLite's machine, well under a millisecond."""


class Job:
    """One piece of work. The thread names the connection it uses; the caller may stop it from another thread."""

    def __init__(self) -> None:
        self._connections: list[sqlite3.Connection] = []
        self._stopped = False

    def uses(self, connection: sqlite3.Connection) -> None:
        """Let SQLite look now and then whether this job is still wanted.

        Asking SQLite to interrupt from outside would miss a statement that is only about to begin.
        """
        connection.set_progress_handler(self._unwanted, _LOOK_EVERY)
        self._connections.append(connection)
        self.check()

    def done(self) -> None:
        """Let go of the connections."""
        while self._connections:
            self._connections.pop().set_progress_handler(None, 0)

    def _unwanted(self) -> bool:
        return self._stopped

    def check(self) -> None:
        """Stop here if nobody waits any more.

        Raises:
            JobStopped: the caller was cancelled.
        """
        if self._stopped:
            raise JobStopped

    def stop(self) -> None:
        """Interrupt the running statement soon, and let no other begin."""
        self._stopped = True


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

    def start(self, work: Callable[[], object], then: Callable[[BaseException | None], None]) -> None:
        """Run ``work`` in the thread, and then ``then`` in this event loop with what was raised, in our words.

        Cheaper than ``run``, for work that nobody stops. ``then`` is left out where the loop has ended meanwhile.
        """
        loop = asyncio.get_running_loop()
        if self._closed:
            loop.call_soon(then, StoreClosedError())
        else:
            self._pool.submit(_told, work, lambda error: loop.call_soon_threadsafe(then, error))

    async def close(self, last: Callable[[], None]) -> None:
        """Run ``last`` after all that waits, then end the thread. Idempotent."""
        if self._closed:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(self._pool, last)
        self._pool.shutdown(wait=False)


def _told(work: Callable[[], object], tell: Callable[[BaseException | None], object]) -> None:
    error: BaseException | None = None
    try:
        with translated():
            work()
    except BaseException as raised:  # noqa: BLE001 - it is told, not swallowed
        error = raised
    with suppress(RuntimeError):  # the loop has ended, and nobody waits any more
        tell(error)


def _guarded(work: Callable[[Job], T], job: Job) -> T:
    with translated():
        job.check()
        try:
            return work(job)
        finally:
            job.done()
