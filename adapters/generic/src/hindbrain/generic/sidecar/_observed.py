"""Observational memory of one session of a host: opened and closed with it, and what the wire says of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from hindbrain.contracts import JsonValue
from hindbrain.generic._config import Settings, observe_config
from hindbrain.generic._observe import Cancelled, CompactionAnswer, CompactionAsk, DebugLog, Observing
from hindbrain.generic._session import now_ms
from hindbrain.generic.sidecar._host import PeerHost
from hindbrain.generic.sidecar._models import PeerModels
from hindbrain.generic.sidecar._params import BeforeSettle, Compact, Open
from hindbrain.generic.sidecar._peer import Peer
from hindbrain.generic.sidecar._settings import zone_here


class SittingObserved:
    """Opens the engine when it is first needed. A project is no condition: what is observed stays in the session.

    Args:
        peer: the host.
        opened: what it said of the session.
        settings: looks the settings up, once.
        folder: where debug logs go; None writes none.
    """

    def __init__(
        self, peer: Peer, opened: Open, settings: Callable[[], Awaitable[Settings]], folder: Path | None
    ) -> None:
        self._peer = peer
        self._opened = opened
        self._settings = settings
        self._folder = folder
        self._engine: asyncio.Task[Observing | None] | None = None

    async def get(self, host: PeerHost) -> Observing | None:
        """The engine; None where the session is not observed."""
        return await asyncio.shield(self.begin(host))

    def begin(self, host: PeerHost) -> asyncio.Task[Observing | None]:
        """Open the engine, unless it is."""
        if self._engine is None:
            self._engine = asyncio.create_task(self._open(host))
        return self._engine

    async def close(self) -> None:
        """Let go of the engine, where there is one."""
        if self._engine is not None and (engine := await self._engine) is not None:
            await engine.close()

    async def _open(self, host: PeerHost) -> Observing | None:
        try:
            settings = await self._settings()
        except Exception:  # noqa: BLE001  (the border to the host; what is wrong is said where memory is opened)
            return None
        is_meant = self._opened.kind == "main" or settings["observe.subagents"]
        if not (settings["observe.enabled"] and is_meant):
            return None
        config = observe_config(settings)
        source = PeerModels(self._peer, self._opened.session, config.model, host.notify)
        debug = None if self._folder is None else DebugLog(self._folder, self._opened.session)
        engine = Observing(host, source, config, clock=now_ms, debug=debug, zone=zone_here())
        engine.opened()
        return engine


def ask_of(asked: Compact) -> CompactionAsk:
    """What the host asks, as the engine takes it."""
    return CompactionAsk(
        first_kept=asked.first_kept,
        tokens_before=asked.tokens_before,
        window=asked.window,
        reserve=asked.reserve,
        system_tokens=asked.system_tokens,
        reason=asked.reason,
        instructions=asked.instructions,
    )


def boundary_of(asked: BeforeSettle) -> CompactionAsk:
    """What the host tells at the end of a run. Where it keeps from is not known yet."""
    return CompactionAsk(
        first_kept="",
        tokens_before=0,
        window=asked.window,
        reserve=asked.reserve,
        system_tokens=asked.system_tokens,
    )


def compaction_of(answer: CompactionAnswer | Cancelled | None) -> dict[str, JsonValue]:
    """The answer on the wire."""
    match answer:
        case CompactionAnswer():
            return {
                "summary": answer.summary,
                "firstKept": answer.first_kept,
                "tokensBefore": answer.tokens_before,
                "details": dict(answer.details),
            }
        case Cancelled():
            return {"cancel": True, "text": answer.text}
        case None:
            return {}
