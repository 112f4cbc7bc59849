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

    @property
    def armed(self) -> bool:
        """Whether something is going to be done."""
        return self._waiting is not None and not self._waiting.done()

    def arm(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Do this after so many seconds, in place of what was going to be done."""
        self.drop()

        async def wait() -> None:
            await self._sleep(seconds)
            self._waiting = None  # what is done now is not part of the silence: nothing that happens cuts it off
            await work()

        self._waiting = asyncio.create_task(wait())

    def drop(self) -> None:
        """Do nothing."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
