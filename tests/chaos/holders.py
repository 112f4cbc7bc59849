"""The processes that part 6 stops: one that holds a lock and commits, one that is in the middle of a flush."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from pathlib import Path

from chaos.workers import POLICY, Place

from hindbrain.store._files import OsFileLayer
from hindbrain.store._lock import Lock, LockLostError

LEASE = timedelta(seconds=0.2)
_PAUSE = 0.005


def lock_in(root: Path, *, os_locks: bool, host: str | None = None) -> Lock:
    """The lock that all fight for, with a short lease."""
    return Lock(OsFileLayer(), root / "file.lock", os_locks=os_locks, stale_after=LEASE, host=host)


def commit(root: Path, who: str) -> None:
    """Take effect: a line that two committers would not write one after the other."""
    with (root / "commits").open("a") as file:
        file.write(f"{who}\n")


def hold(root: str, os_locks: bool) -> None:
    """Hold the lock, wait to be told, renew, and commit if it is still held."""
    place = Path(root)
    with lock_in(place, os_locks=os_locks).held(5.0) as held:
        (place / "held").touch()
        while not (place / "go").exists():
            time.sleep(_PAUSE)
        try:
            held.renew()
        except LockLostError:
            (place / "lost").touch()
            return
        commit(place, "holder")


def flush_once(root: str, url: str) -> None:
    """One flush of everything that waits."""

    async def flush() -> None:
        place = Place(Path(root), url)
        state = await place.open()
        async with place.client() as client:
            await state.flusher(client, POLICY).flush()
        await state.close()

    asyncio.run(flush())
