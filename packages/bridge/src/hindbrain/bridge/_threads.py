"""Streams over descriptors that an event loop cannot wait for: files, devices, and pipes on Windows."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

T = TypeVar("T")


def _in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Its result, from a thread of its own that does not keep the process alive."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(set_it: Callable[[], None]) -> None:
        if not future.done():
            set_it()

    def run() -> None:
        try:
            outcome = partial(future.set_result, work())
        except OSError as error:
            outcome = partial(future.set_exception, error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=run, daemon=True).start()
    return future


class ThreadReader:
    """Reads a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def read(self, n: int, /) -> bytes:
        """Some bytes, at most ``n``; none at the end."""
        return await _in_thread(partial(os.read, self._descriptor, n))


class ThreadWriter:
    """Writes to a descriptor, whole pieces in order."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._held = b""

    def write(self, data: bytes) -> None:
        """Take these bytes; `drain` carries them."""
        self._held += data

    async def drain(self) -> None:
        """Wait until the system has all of it."""
        data, self._held = self._held, b""
        while data:
            data = data[await _in_thread(partial(os.write, self._descriptor, data)) :]

    def close(self) -> None:
        """Let go."""
        os.close(self._descriptor)
