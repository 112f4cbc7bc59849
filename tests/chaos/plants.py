"""Planted bugs: what each part has to catch."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hindbrain.contracts import Retained, RetainJob
from hindbrain.store import DurableQueue, QueuedJob, _sealed
from hindbrain.store._files import OsFileLayer
from hindbrain.store._flush._round import Round
from hindbrain.store._lock._owner import Owner
from hindbrain.store._lock._record import Record
from hindbrain.store._queue import _seal_line
from hindbrain.store._queue._journal import Journal
from hindbrain.store.testing import ForwardingLayer


def ack_before_send() -> AbstractContextManager[Any]:
    """A job leaves the queue before the server has it."""
    send = Round._send

    async def wrong(self: Round, job: RetainJob) -> Retained | None:
        await self.means.worker.run(lambda _: self.means.queue.ack([job.id]))
        return await send(self, job)

    return patch.object(Round, "_send", wrong)


def accepted_is_done() -> AbstractContextManager[Any]:
    """A job leaves the queue when the server takes it, whatever then comes of it."""
    return patch.object(DurableQueue, "taken", lambda self, job_id, _operations: self.ack([job_id]))


def log_does_not_move_cursors() -> AbstractContextManager[Any]:
    """The durable job is not the cursor's move."""
    return patch.object(DurableQueue, "covers", lambda _self, _lineage=None: ())


class SyncsNothing(ForwardingLayer):
    """A dropped sync of files."""

    def fsync(self, fd: int) -> None:
        """Nothing."""


class SyncsNoFolder(ForwardingLayer):
    """A skipped sync of folders."""

    def sync_dir(self, path: Path) -> None:
        """Nothing."""


class BelievesSync(ForwardingLayer):
    """A sync that failed is taken for one that worked."""

    def fsync(self, fd: int) -> None:
        with suppress(OSError):
            super().fsync(fd)


class BelievesWrite(ForwardingLayer):
    """A write that took a part, or nothing, is taken for whole."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        with suppress(OSError):
            super().write(fd, data)
        return len(data)


@contextmanager
def torn_tail_stays() -> Iterator[None]:
    """A torn last line is not ended before the next append."""
    with patch.object(Journal, "_ends_whole", lambda *_: True), patch.object(Journal, "end_torn", lambda _: None):
        yield


class FollowsLinks(ForwardingLayer):
    """Files are opened wherever a link leads."""

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        return super().open(path, flags & ~os.O_NOFOLLOW, mode)


@contextmanager
def any_seal_is_believed() -> Iterator[None]:
    """Nobody looks at seals."""
    with patch.object(_seal_line, "check", lambda *_: True), patch.object(_sealed, "check", lambda *_: True):
        yield


def os_lock_is_anybodys() -> AbstractContextManager[Any]:
    """The operating system's lock keeps nobody out."""
    return patch.object(OsFileLayer, "try_lock", lambda _self, _fd: True)


def _judged_by_age_alone(self: Record, owner: Owner | None, me: Owner) -> bool:
    return owner is not None and me.acquired_at - owner.acquired_at > self.stale_after


def a_live_holder_is_taken_for_dead() -> AbstractContextManager[Any]:
    """A record's age decides, whether its process lives or not."""
    return patch.object(Record, "is_stale", _judged_by_age_alone)


def jobs_go_by_their_time() -> AbstractContextManager[Any]:
    """The queue is sorted by what clocks said."""
    waiting = DurableQueue.waiting

    def wrong(self: DurableQueue, limit: int | None = None, *, skip: Container[str] = ()) -> tuple[QueuedJob, ...]:
        return tuple(sorted(waiting(self, limit, skip=skip), key=lambda job: job.created_at))

    return patch.object(DurableQueue, "waiting", wrong)


PLANTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "": nullcontext,
    "ack before send": ack_before_send,
    "accepted is done": accepted_is_done,
    "the log does not move cursors": log_does_not_move_cursors,
}


@contextmanager
def plant(name: str) -> Iterator[None]:
    """The bug of that name for as long as the block lasts; none for the empty name."""
    with PLANTS[name]():
        yield
