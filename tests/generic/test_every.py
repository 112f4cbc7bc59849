"""Work by the clock, with a clock that the test turns."""

from __future__ import annotations

import asyncio

import pytest

from hindbrain.generic._every import every


class Clock:
    """Sleeps end when the test says so."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self._ends: asyncio.Queue[None] = asyncio.Queue()

    async def sleep(self, seconds: float) -> None:
        self.asked.append(seconds)
        await self._ends.get()
        self._ends.task_done()

    async def turn(self) -> None:
        self._ends.put_nowait(None)
        await self._ends.join()
        await asyncio.sleep(0)


class Work:
    def __init__(self) -> None:
        self.done = 0
        self.hang = False
        self.cancelled = False

    async def __call__(self) -> None:
        if self.hang:
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                self.cancelled = True
                raise
        self.done += 1


def others() -> set[asyncio.Task[object]]:
    return asyncio.all_tasks() - {asyncio.current_task()}


async def test_the_work_is_done_once_each_time_the_interval_has_passed() -> None:
    clock, work = Clock(), Work()
    async with every(1.5, work, sleep=clock.sleep):
        await asyncio.sleep(0)
        assert work.done == 0
        await clock.turn()
        assert work.done == 1
        await clock.turn()
        assert (work.done, set(clock.asked)) == (2, {1.5})


@pytest.mark.req("S0-flush-005")
async def test_without_an_interval_nothing_is_ever_done() -> None:
    clock, work = Clock(), Work()
    async with every(0, work, sleep=clock.sleep):
        await asyncio.sleep(0)
        assert others() == set()
    assert (work.done, clock.asked) == (0, [])


@pytest.mark.req("S0-flush-013")
async def test_nothing_is_done_and_nothing_is_left_after_the_end() -> None:
    clock, work = Clock(), Work()
    async with every(1, work, sleep=clock.sleep):
        await clock.turn()
    assert others() == set()
    assert work.done == 1


async def test_what_is_under_way_at_the_end_is_cancelled() -> None:
    clock, work = Clock(), Work()
    work.hang = True
    async with every(1, work, sleep=clock.sleep):
        await clock.turn()
    assert (work.cancelled, work.done, others()) == (True, 0, set())
