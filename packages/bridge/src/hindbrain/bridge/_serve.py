"""The process of a sidecar, from its first line to its end."""

from __future__ import annotations

import asyncio
import faulthandler
import os
from contextlib import suppress
from typing import Final

from hindbrain.bridge._connection import Connection
from hindbrain.bridge._peer import Peer
from hindbrain.bridge._serving import within
from hindbrain.bridge._sidecar import BOUNDS, Load, Sidecar
from hindbrain.bridge._stdio import keep_alive, open_streams, take_stdio, watch_parent

FINISH: Final = 0.3
"""Seconds that running requests have to end once the host is gone; the application then has as many to commit."""
LAST: Final = 0.75
"""Seconds after which the process ends whatever still runs. What was answered is durable by then."""


def serve(surface_path: str | os.PathLike[str], load: Load, version: str) -> None:
    """Serve the host on standard input and output until it closes them or is gone.

    ``initialize`` is answered from ``surface_path``, a JSON file with ``tools`` and ``commands``, before anything but
    the standard library and this package is imported. Then ``load`` makes the handlers of all other methods; a
    ``shutdown`` among them is called at the end if the host did not. A load that fails is the answer to every request.

    From the first line on, standard output carries frames only, whatever prints, and SIGINT, SIGTERM and SIGHUP change
    nothing: the end of standard input, or of the parent process, is the stop. The process is then gone within a second.
    """
    keep_alive()
    descriptors = take_stdio()
    asyncio.run(_main(Sidecar(surface_path, load, version, peer := Peer()), peer, descriptors))


async def _main(sidecar: Sidecar, peer: Peer, descriptors: tuple[int, int]) -> None:
    loop, end_soon = asyncio.get_running_loop(), _Last()
    reader, writer = await open_streams(*descriptors)
    connection = Connection(reader, writer, sidecar.serve, note=peer.note, bounds=BOUNDS, closing=end_soon)
    peer.attach(connection)

    def parent_gone() -> None:
        end_soon()  # here and now, for the loop may be blocked
        with suppress(RuntimeError):  # it is closed already
            loop.call_soon_threadsafe(connection.close)

    watch_parent(parent_gone)
    await connection.run(grace=FINISH)
    await within(sidecar.end(), FINISH)
    peer.note("ended")


class _Last:
    """Ends the process `LAST` seconds after it is first called, also where a handler, a thread or a C library hangs."""

    def __init__(self) -> None:
        self._nothing: int | None = None

    def __call__(self) -> None:
        if self._nothing is None:
            self._nothing = os.open(os.devnull, os.O_WRONLY)  # stays open: where everything stood is written there
            faulthandler.dump_traceback_later(LAST, exit=True, file=self._nothing)
