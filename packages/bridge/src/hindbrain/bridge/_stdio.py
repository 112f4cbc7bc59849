"""Standard input and output as a pair of streams that nobody else in this process can reach."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Final

from hindbrain.bridge._frames import Reader
from hindbrain.bridge._outbox import Writer
from hindbrain.bridge._threads import ThreadReader, ThreadWriter

IGNORED: Final = ("SIGINT", "SIGTERM", "SIGHUP")
HELD: Final = 256 * 1024
"""Bytes read ahead, at most twice as many."""
POLL: Final = 0.2
"""Seconds between two looks at who the parent is."""


def keep_alive() -> None:
    """Let no signal to the host's process group end this process: the end of standard input is the stop.

    The handlers do nothing; programs that are started from here get the default back.
    """
    for name in IGNORED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda _number, _frame: None)


def take_stdio() -> tuple[int, int]:
    """Descriptors of the real standard input and output, which no library and no child process has.

    What anybody writes to descriptor 1 or to ``sys.stdout`` from now on is thrown away, and descriptor 0 is at its
    end: only frames are on the wire, whoever prints.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    taken = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return taken


async def open_streams(read_from: int, write_to: int) -> tuple[Reader, Writer]:
    """Streams over two descriptors: on the event loop for pipes and sockets, on threads for anything else."""
    return await _reader(read_from), await _writer(write_to)


async def _reader(descriptor: int) -> Reader:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=HELD, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    try:
        await loop.connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", buffering=0, closefd=False))
    except (ValueError, OSError, NotImplementedError):
        return ThreadReader(descriptor)
    return reader


async def _writer(descriptor: int) -> Writer:
    loop = asyncio.get_running_loop()
    pipe = os.fdopen(descriptor, "wb", buffering=0, closefd=False)
    try:
        transport, flow = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    except (ValueError, OSError, NotImplementedError):
        return ThreadWriter(descriptor)
    transport.set_write_buffer_limits(high=0)  # a frame counts as written when the system has all of it
    return asyncio.StreamWriter(transport, flow, None, loop)


def watch_parent(gone: Callable[[], None]) -> None:
    """Call ``gone`` from a thread when the parent process is no more.

    This is for a standard input that somebody else holds open, and for an event loop that a handler blocks.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL)
        gone()

    threading.Thread(target=watch, daemon=True).start()
