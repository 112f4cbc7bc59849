"""Answers ``initialize`` at once, loads the application behind it, and hands everything else to that."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hindbrain.bridge import _initialize
from hindbrain.bridge._errors import Rpc, RpcError, explain, where
from hindbrain.bridge._peer import Peer
from hindbrain.bridge._serving import After

if TYPE_CHECKING:
    import os

Handler: TypeAlias = Callable[[dict[str, Any]], Awaitable[Any]]
Handlers: TypeAlias = Mapping[str, Handler]
Load: TypeAlias = Callable[[Peer], Handlers | Awaitable[Handlers]]
"""Makes the application. Called in a worker thread; what it gives may be awaitable, and is then awaited in the loop."""

SHUTDOWN: Final = "shutdown"
PING: Final = "$/ping"
BOUNDS: Final = {"command/run": 120.0}
"""Seconds: a command may ask the user."""


class Sidecar:
    """The methods of this process.

    Args:
        surface: the adapter's data file with ``tools`` and ``commands``.
        load: makes the handlers of all other methods. Called once, when the answer to ``initialize`` has left.
        version: the adapter's version.
        peer: what the application gets.
    """

    def __init__(self, surface: str | os.PathLike[str], load: Load, version: str, peer: Peer) -> None:
        self._surface, self._load, self._version, self._peer = surface, load, version, peer
        self._handlers: Handlers = {}
        self._loading: asyncio.Task[None] | None = None
        self._loaded = asyncio.Event()
        self._refusal: RpcError | None = RpcError(
            Rpc.INVALID, "The first request is initialize.", code="not-initialized"
        )
        self._ended = False

    async def serve(self, method: str, params: dict[str, Any]) -> Any:
        """Carry out a method; what comes before the application is loaded waits for it."""
        if method == "initialize":
            return self._initialize(params)
        if method == PING:
            return {}
        if self._peer.hello:
            await self._loaded.wait()
        if self._refusal is not None:
            raise RpcError(self._refusal.rpc, str(self._refusal), code=self._refusal.code, data=self._refusal.data)
        handler = self._handlers.get(method)
        if handler is None:
            raise RpcError(Rpc.NO_METHOD, "There is no such method.", code="no-method")
        self._ended = self._ended or method == SHUTDOWN
        return await handler(params)

    async def end(self) -> None:
        """Let the application commit what it holds, unless the host has asked it to already."""
        if self._loading is not None and not self._loaded.is_set():
            self._loading.cancel()
        elif not self._ended and SHUTDOWN in self._handlers:
            self._ended = True
            await self._handlers[SHUTDOWN]({})

    def _initialize(self, params: dict[str, Any]) -> Any:
        try:
            _initialize.check(params, self._version)
            answer = _initialize.answer(self._surface, self._version, params.get("host"))
        except RpcError as error:
            if self._loading is None:
                self._refusal = error
            raise
        if self._peer.hello:
            return answer
        self._peer.hello, self._refusal = params, None
        return After(answer, self._begin)

    def _begin(self) -> None:
        self._loading = asyncio.create_task(self._bring_up())

    async def _bring_up(self) -> None:
        try:
            made = await asyncio.to_thread(self._load, self._peer)
            self._handlers = dict(await made if inspect.isawaitable(made) else made)
            self._peer.note("loaded", methods=len(self._handlers))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  (each request is told; the host goes on without memory)
            self._peer.note("load-failed", kind=type(error).__name__, where=where(error))
            self._refusal = self._could_not(error)
        self._loaded.set()

    def _could_not(self, error: BaseException) -> RpcError:
        told = explain(error, "load")
        why = str(told) if told.code != "internal" else f"({type(error).__name__}) Run `hindbrain doctor`."
        message = f"Memory is off: hindbrain {self._version} could not start. {why}"
        return RpcError(Rpc.FAILED, message, code="load-failed")
