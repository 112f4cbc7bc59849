"""Planted bugs: what each part has to catch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hindbrain.contracts import Retained, RetainJob
from hindbrain.store import DurableQueue
from hindbrain.store._flush._round import Round
from hindbrain.store._queue._journal import Journal
from hindbrain.store.testing import ForwardingLayer


def ack_before_send() -> AbstractContextManager[Any]:
    """A job leaves the queue before the server has it."""
    send = Round._send

    async def wrong(self: Round, job: RetainJob) -> Retained | None:
        await self.means.worker.run(lambda _: self.means.queue.ack([job.id]))
        return await send(self, job)

    return patch.object(Round, "_send", wrong)


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


PLANTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "": nullcontext,
    "ack before send": ack_before_send,
    "the log does not move cursors": log_does_not_move_cursors,
}


@contextmanager
def plant(name: str) -> Iterator[None]:
    """The bug of that name for as long as the block lasts; none for the empty name."""
    with PLANTS[name]():
        yield
