"""Handing events to whoever listens, without letting a turn wait or fail for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable

from hindbrain.contracts import Host, TelemetryEvent

Listener = Callable[[TelemetryEvent], object]
"""Called for each event in the session's own task; what it returns or raises changes nothing."""

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

    async def tell(self, events: Iterable[TelemetryEvent]) -> None:
        """Hand the events over, in order. A host that takes its time is not waited for."""
        batch = tuple(events)
        for event in batch:
            with contextlib.suppress(Exception):  # a listener may raise anything
                if self._listener is not None:
                    self._listener(event)
        task = asyncio.create_task(self._emit(batch))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.sleep(0)

    async def _emit(self, events: tuple[TelemetryEvent, ...]) -> None:
        for event in events:
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
