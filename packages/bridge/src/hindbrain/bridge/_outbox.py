"""Frames on their way out: in order, bounded in bytes, and given up where the other side does not read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from hindbrain.bridge._errors import ConnectionLostError

BOUND: Final = 8 * 1024 * 1024
"""Bytes that may wait before whoever sends has to wait. One frame more than that can be held."""
PATIENCE: Final = 30.0
"""Seconds that one frame may take until the other side has made room for the next."""


class Writer(Protocol):
    """The part of `asyncio.StreamWriter` that is used."""

    def write(self, data: bytes) -> None:
        """Take these bytes, at once and whole."""

    async def drain(self) -> None:
        """Wait until few enough bytes are held back."""

    def close(self) -> None:
        """Let go."""


class Outbox:
    """The one place that writes. ``run`` must be running for anything to leave."""

    def __init__(self, writer: Writer, *, bound: int = BOUND, patience: float = PATIENCE) -> None:
        self._writer = writer
        self._bound = bound
        self._patience = patience
        self._frames: deque[bytes] = deque()
        self._size = 0
        self._moved = asyncio.Event()
        self._filled = asyncio.Event()
        self._lost = False

    @property
    def full(self) -> bool:
        """Whether a sender has to wait."""
        return self._size >= self._bound

    def put(self, frame: bytes) -> None:
        """Line a frame up. Who can wait asks for `room` first; who cannot looks at ``full``."""
        self._frames.append(frame)
        self._size += len(frame)
        self._filled.set()

    async def room(self) -> None:
        """Wait until there is room for a frame. What is put before the next await is within the bound.

        Raises:
            ConnectionLostError: there will be none any more.
        """
        await self._until(lambda: not self.full)

    async def flushed(self) -> None:
        """Wait until everything has been handed to the writer. Raises as `room` does."""
        await self._until(lambda: self._size == 0)

    async def run(self) -> None:
        """Write until the other side no longer takes anything, then return."""
        try:
            while True:
                await self._filled.wait()
                while self._frames:
                    frame = self._frames.popleft()
                    self._writer.write(frame)
                    async with asyncio.timeout(self._patience):
                        await self._writer.drain()
                    self._size -= len(frame)
                    self._wake()
                self._filled.clear()
        except (OSError, RuntimeError):  # TimeoutError is an OSError; a closed transport is a RuntimeError
            return
        finally:
            self._lost = True
            self._frames.clear()
            self._wake()
            self._writer.close()

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    async def _until(self, there: Callable[[], bool]) -> None:
        while not self._lost:
            if there():
                return
            await self._moved.wait()
        raise ConnectionLostError
