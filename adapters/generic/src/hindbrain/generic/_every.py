"""Work that is done now and then while a host runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def every(
    seconds: float,
    work: Callable[[], Awaitable[object]],
    *,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> AsyncIterator[None]:
    """Do the work each time so many seconds have passed, inside the block and never after it; 0 means never.

    The time runs from the end of one piece of work to the beginning of the next, so that two never overlap. What is
    under way when the block ends is cancelled. Work that raises is not done again.

    Args:
        seconds: the interval.
        work: what is to be done; it says itself what went wrong.
        sleep: waits for so many seconds; tests pass another.
    """
    if seconds <= 0:
        yield
        return

    async def run() -> None:
        while True:
            await sleep(seconds)
            await work()

    task = asyncio.create_task(run(), name="hindbrain-every")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
