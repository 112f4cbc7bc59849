"""A queue of somebody else in its own process: reads ``put N`` or ``done N``, answers microseconds an item.

Every one is set so that what it took survives a loss of power. ``done`` takes an item and acknowledges it; huey has no
acknowledgement, so there it is taking alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

Pair = tuple[Callable[[bytes], Any], Callable[[], Any]]


def persist_queue(folder: Path) -> Pair:
    """SQLiteAckQueue, in SQLite's full durability by default."""
    from persistqueue import SQLiteAckQueue  # type: ignore[import-not-found]  # lives in the bench's own environment

    queue = SQLiteAckQueue(str(folder / "persist"), auto_commit=True)
    return queue.put, lambda: queue.ack(queue.get())


def litequeue(folder: Path) -> Pair:
    """LiteQueue, whose default does not sync."""
    from litequeue import LiteQueue  # type: ignore[import-not-found]  # lives in the bench's own environment

    queue = LiteQueue(str(folder / "lite.db"))
    queue.conn.execute("PRAGMA synchronous = FULL;")
    return (lambda data: queue.put(data.decode())), lambda: queue.done(queue.pop().message_id)


def huey(folder: Path) -> Pair:
    """The SQLite storage of huey, told to sync."""
    from huey.storage import SqliteStorage  # type: ignore[import-not-found]  # lives in the bench's own environment

    queue = SqliteStorage(filename=str(folder / "huey.db"), fsync=True)
    return queue.enqueue, queue.dequeue


def main() -> None:
    """Serve until the input ends."""
    name, folder, size = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    put, done = {"persist-queue": persist_queue, "litequeue": litequeue, "huey": huey}[name](folder)
    data = b"x" * size
    for line in sys.stdin:
        verb, count = line.split()
        took = []
        for _ in range(int(count)):
            begun = time.perf_counter()
            if verb == "put":
                put(data)
            else:
                done()
            took.append(time.perf_counter() - begun)
        print(median(took) * 1e6, flush=True)


if __name__ == "__main__":
    main()
