"""The application behind the bridge: each of the host's calls, and the sessions they are about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from hindbrain.contracts import HindbrainError, JsonValue
from hindbrain.generic.sidecar._commands import completions, run_command
from hindbrain.generic.sidecar._om_recall import OM_TOOLS, om_recall
from hindbrain.generic.sidecar._params import (
    BeforeSettle,
    Close,
    CommandComplete,
    CommandRun,
    Compact,
    Context,
    Open,
    Settled,
    ToolCall,
    Turn,
    read,
)
from hindbrain.generic.sidecar._peer import Peer
from hindbrain.generic.sidecar._said import Said
from hindbrain.generic.sidecar._sitting import LoadSettings, Sitting
from hindbrain.generic.sidecar._tools import call_tool

_WIDTH = 80
"""The cells of a line where the host does not say how wide its terminal is."""
Handler = Callable[[Mapping[str, JsonValue]], Awaitable[JsonValue]]


class UnknownSessionError(HindbrainError):
    """The host speaks of a session that it has not opened; nothing was done."""

    code = "unknown-session"

    def __init__(self) -> None:
        super().__init__("This session was not opened; nothing was done.")


class Application:
    """Serves the sessions of one host process.

    Args:
        peer: the host.
        host: its name, pi or omp.
        settings: looks the effective settings up for a working directory.
        folder: the host's own settings folder, for debug logs; None writes none.

    Source: docs/protocol.md.
    """

    def __init__(self, peer: Peer, host: str, settings: LoadSettings, folder: str | None = None) -> None:
        self._peer = peer
        self._host = host
        self._settings = settings
        self._folder = None if folder is None else Path(folder)
        self._sittings: dict[str, Sitting] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    def handlers(self) -> dict[str, Handler]:
        """The methods that are served. Each raises a ``HindbrainError`` for what it refuses."""
        return {
            "session/open": self._open,
            "session/context": self._context,
            "session/settled": self._settled,
            "session/turn": self._turn,
            "session/compact": self._compact,
            "session/before-settle": self._before_settle,
            "session/close": self._close,
            "tool/call": self._tool,
            "command/run": self._command,
            "command/complete": self._complete,
            "shutdown": self._shutdown,
        }

    async def close(self) -> None:
        """Close every session; what could not be sent waits on the disk."""
        sittings = list(self._sittings.values())
        self._sittings.clear()
        await asyncio.gather(*self._leaving, *(each.close() for each in sittings), return_exceptions=True)

    async def _shutdown(self, _params: Mapping[str, JsonValue]) -> JsonValue:
        await self.close()
        return {}

    async def _open(self, params: Mapping[str, JsonValue]) -> JsonValue:
        opened = read(Open, "session/open", params)
        known = self._sittings.get(opened.session)
        if known is None or not known.is_of(opened):
            self._sittings[opened.session] = Sitting(self._peer, self._host, opened, self._settings, self._folder)
            self._sittings[opened.session].wake()
            if known is not None:
                self._leave(known)
        else:
            known.opened = opened
        return {}

    async def _context(self, params: Mapping[str, JsonValue]) -> JsonValue:
        asked = read(Context, "session/context", params)
        return await self._of(asked.session).context(asked)

    async def _settled(self, params: Mapping[str, JsonValue]) -> JsonValue:
        told = read(Settled, "session/settled", params)
        return await self._of(told.session).settled(told)

    async def _turn(self, params: Mapping[str, JsonValue]) -> JsonValue:
        told = read(Turn, "session/turn", params)
        await self._of(told.session).turn(told)
        return {}

    async def _compact(self, params: Mapping[str, JsonValue]) -> JsonValue:
        asked = read(Compact, "session/compact", params)
        return await self._of(asked.session).compact(asked)

    async def _before_settle(self, params: Mapping[str, JsonValue]) -> JsonValue:
        asked = read(BeforeSettle, "session/before-settle", params)
        return await self._of(asked.session).before_settle(asked)

    async def _close(self, params: Mapping[str, JsonValue]) -> JsonValue:
        sitting = self._sittings.pop(read(Close, "session/close", params).session, None)
        if sitting is not None:
            await sitting.close()
        return {}

    async def _tool(self, params: Mapping[str, JsonValue]) -> JsonValue:
        call = read(ToolCall, "tool/call", params)
        sitting = self._of(call.session)
        sitting.stands(call)
        if call.name in OM_TOOLS:
            said = await om_recall(await sitting.observing(), call.arguments)
        elif (session := await sitting.session()) is None:
            said = Said(text="Memory is off in this session.", is_error=True)
        else:
            said = await call_tool(call.name, session, sitting.host, call.arguments, ui=sitting.opened.ui)
        return {"text": said.text, "isError": said.is_error, "details": dict(said.details)}

    async def _command(self, params: Mapping[str, JsonValue]) -> JsonValue:
        call = read(CommandRun, "command/run", params)
        sitting = self._of(call.session)
        sitting.stands(call)
        told = await run_command(call.name, sitting, call.args, call.width or _WIDTH)
        return {"text": told.text, "level": told.level}

    async def _complete(self, params: Mapping[str, JsonValue]) -> JsonValue:
        asked = read(CommandComplete, "command/complete", params)
        items: list[dict[str, Any]] = [
            {"value": each, "label": each.split()[-1]} for each in completions(asked.name, asked.prefix)
        ]
        return {"items": items}

    def _leave(self, sitting: Sitting) -> None:
        """Close a session that another one stands for by now: its last flush is nothing that the host waits for."""
        task = asyncio.create_task(sitting.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def _of(self, session: str) -> Sitting:
        sitting = self._sittings.get(session)
        if sitting is None:
            raise UnknownSessionError
        return sitting
