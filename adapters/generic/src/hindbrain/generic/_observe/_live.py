"""The engine for an agent in this process, opened and closed with what it needs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hindbrain.contracts import Host
from hindbrain.generic._config import Settings, observe_config
from hindbrain.generic._observe._observing import Observing
from hindbrain.generic._observe._zone import local_zone
from hindbrain.generic._open_model import open_model
from hindbrain.observe import ModelSource


@asynccontextmanager
async def live_observing(
    host: Host, settings: Settings, source: ModelSource | None = None
) -> AsyncIterator[Observing | None]:
    """Observe a session for as long as the block lasts; None where the settings switch it off.

    Args:
        host: where the conversation lives.
        settings: the effective settings.
        source: where the workers' model comes from; None is the one that ``observe.endpoint`` names.

    Raises:
        SettingsError: that model, its address or its key was named in a way that cannot be read.
    """
    if not settings["observe.enabled"]:
        yield None
        return
    async with contextlib.AsyncExitStack() as stack:
        if source is None:
            source = await stack.enter_async_context(open_model(settings))
        engine = Observing(
            host, source, observe_config(settings), clock=lambda: time.time_ns() // 1_000_000, zone=local_zone()
        )
        stack.push_async_callback(engine.close)
        engine.opened()
        yield engine
