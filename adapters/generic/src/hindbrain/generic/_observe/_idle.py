"""One thing to do after a silence, unless something happens before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

Sleep = Callable[[float], Awaitable[None]]


class IdleTimer:
    """Does something once a silence has lasted.

    Args:
        sleep: waits so many seconds.
    """

    def __init__(self, sleep: Sleep = asyncio.sleep) -> None:
        self._sleep = sleep
        self._waiting: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def armed(self) -> bool:
        """Whether something is going to be done."""
        return self._waiting is not None and not self._waiting.done()

    def arm(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Do this after so many seconds, in place of what was going to be done."""
        self.drop()
        self._waiting = asyncio.create_task(self._wait(seconds, work))
        self._tasks.add(self._waiting)
        self._waiting.add_done_callback(self._tasks.discard)

    def drop(self) -> None:
        """Do nothing. What has begun goes on."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    async def close(self) -> None:
        """Do nothing any more, and break off what has begun."""
        self.drop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _wait(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        await self._sleep(seconds)
        self._waiting = None  # what is done now is not part of the silence: nothing that happens cuts it off
        await work()
