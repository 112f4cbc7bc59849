"""Handing events to whoever listens, without letting a turn wait or fail for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable

from hindbrain.contracts import Host, TelemetryEvent

Listener = Callable[[TelemetryEvent], object]
"""Called for each event, in the context of the call that it is about; what it returns or raises changes nothing."""

_LAST_WORDS = 1.0


class Telemetry:
    """Events go to the host's bus and to a listener. Nothing is written anywhere.

    Args:
        host: whose bus.
        listener: called for each event; None means nobody listens beside the host.
    """

    def __init__(self, host: Host, listener: Listener | None = None) -> None:
        self._host = host
        self._listener = listener
        self._under_way: set[asyncio.Task[None]] = set()

    def tell(self, events: Callable[[], Iterable[TelemetryEvent]]) -> None:
        """Hand events over, in order, as soon as the caller has gone on: no turn waits for its own telemetry.

        Args:
            events: makes them, when their time has come.
        """
        task = asyncio.create_task(self._emit(events))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _emit(self, events: Callable[[], Iterable[TelemetryEvent]]) -> None:
        batch = tuple(events())
        for event in batch:
            with contextlib.suppress(Exception):  # a listener may raise anything
                if self._listener is not None:
                    self._listener(event)
        for event in batch:
            with contextlib.suppress(Exception):  # a host may raise anything
                await self._host.emit(event)

    async def close(self) -> None:
        """Let what is under way arrive, within a second."""
        tasks = set(self._under_way)
        if not tasks:
            return
        await asyncio.wait(tasks, timeout=_LAST_WORDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
