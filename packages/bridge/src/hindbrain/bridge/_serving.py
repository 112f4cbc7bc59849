"""What the peer asks of us: requests at the same time, notifications one after another, each within its bound."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, Final, TypeAlias

from hindbrain.bridge import _messages as wire
from hindbrain.bridge._errors import ConnectionLostError, Rpc, RpcError, explain, too_large, where
from hindbrain.bridge._messages import Id, Notice, Params, Request
from hindbrain.bridge._outbox import Outbox

Serve: TypeAlias = Callable[[str, Params], Awaitable[Any]]
"""Carries out a method; gives the result or raises. Asked for requests and for notifications."""
Note: TypeAlias = Callable[..., None]
"""Told an event with its ids and counts, as in ``note("refused", code="batch")``."""

SECONDS: Final = 60.0
AT_ONCE: Final = 256
"""Requests that are carried out at the same time; more are refused."""
NOTICES: Final = 1024
"""Notifications that wait for their turn; then reading waits for them."""
LAST_WORD: Final = 0.1
"""Seconds that what was cancelled has to end."""


class After:
    """A handler's result, with something to do once the answer has left."""

    def __init__(self, result: Any, then: Callable[[], object]) -> None:
        self.result = result
        self.then = then


class Serving:
    """Carries out and answers; its connection reads and hands over.

    Args:
        serve: carries out a method.
        outbox: where answers go.
        note: told of faults.
        seconds: the longest a handler may take before it is cancelled.
        bounds: the same for methods that have another.
        limit: bytes of the longest frame.
    """

    def __init__(
        self, serve: Serve, outbox: Outbox, note: Note, *, seconds: float, bounds: Mapping[str, float], limit: int
    ) -> None:
        self._serve, self._outbox, self._note = serve, outbox, note
        self._seconds, self._bounds, self._limit = seconds, bounds, limit
        self._handlers: dict[Id, asyncio.Task[Any]] = {}
        self._answers: dict[Id, asyncio.Task[None]] = {}
        self._notices: asyncio.Queue[Notice] = asyncio.Queue(NOTICES)

    async def request(self, request: Request) -> None:
        """Begin to carry it out, or refuse it."""
        if request.id in self._answers:
            # Under that id the first request still gets its answer, so this one is refused under none.
            message = "A request came with the id of one that is still being answered, and was not carried out."
            await self.refuse(RpcError(Rpc.INVALID, message, code="duplicate-id", data={"id": request.id}))
        elif len(self._answers) >= AT_ONCE:
            message = f"{AT_ONCE} requests are being answered already; {request.method} was not carried out."
            await self.refuse(RpcError(Rpc.BUSY, message, code="busy"), request.id)
        else:
            handler = asyncio.create_task(self._handle(request))
            self._handlers[request.id] = handler
            self._answers[request.id] = asyncio.create_task(self._answer(request, handler))

    async def refuse(self, error: RpcError, number: Id | None = None) -> None:
        """Answer with an error right away."""
        self._note("refused", code=error.code)
        await self._outbox.room()
        self._outbox.put(wire.failure(number, error))

    async def notice(self, notice: Notice) -> None:
        """Line it up behind those that came before."""
        await self._notices.put(notice)

    def cancel(self, params: Params) -> None:
        """The peer gives a request up. It is answered all the same, mostly as cancelled."""
        number = params.get("id")
        handler = self._handlers.get(number) if isinstance(number, (int, str)) else None
        if handler is not None:
            handler.cancel()

    async def notices(self) -> None:
        """Carry out notifications, for ever."""
        while True:
            notice = await self._notices.get()
            handler = asyncio.create_task(self._carry_out(notice))
            try:
                await asyncio.wait([handler])
            finally:
                handler.cancel()

    async def end(self, grace: float) -> None:
        """Let what is being carried out end and be answered; after ``grace`` seconds cancel it.

        A handler that will not be cancelled is left behind.
        """
        await _wait(self._answers.values(), grace)
        for handler in list(self._handlers.values()):
            handler.cancel()
        await _wait(self._answers.values(), LAST_WORD)
        await stop(*self._answers.values())

    async def _handle(self, request: Request) -> None:
        """Carry out and answer in one task: what the handler left to do for later comes after the answer."""
        value = await self._carry_out(request)
        self._handlers.pop(request.id, None)  # from here on it cannot be given up
        await self._send(request, value.result if isinstance(value, After) else value)
        if isinstance(value, After):
            await self._outbox.flushed()
            value.then()

    async def _answer(self, request: Request, handler: asyncio.Task[None]) -> None:
        """See a request to its end, also where its handler was cancelled, before or after its first step."""
        try:
            await asyncio.wait([handler])
            if handler.cancelled():
                message = f"{request.method} was given up as asked."
                await self._send(request, RpcError(Rpc.CANCELLED, message, code="cancelled"))
            else:
                handler.result()
        except ConnectionLostError:
            self._note("answer-lost", method=request.method)
        finally:
            self._handlers.pop(request.id, None)
            self._answers.pop(request.id, None)

    async def _carry_out(self, message: Request | Notice) -> Any:
        """The result, or the error that is the answer."""
        method = message.method
        seconds = self._bounds.get(method, self._seconds)
        try:
            async with asyncio.timeout(seconds) as bound:
                return await self._serve(method, message.params)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  (whatever a handler does, the connection stays)
            late = RpcError(Rpc.TOO_LATE, f"{method} took more than {seconds:g} s.", code="too-late")
            answer = late if bound.expired() else explain(error, method)
            self._note("failed", method=method, code=answer.code, kind=type(error).__name__, where=where(error))
            return answer

    async def _send(self, request: Request, value: Any) -> None:
        await self._outbox.room()
        try:
            is_error = isinstance(value, RpcError)
            frame = wire.failure(request.id, value) if is_error else wire.result(request.id, value)
            if len(frame) > self._limit + 1:
                raise too_large(self._limit)
        except (RpcError, TypeError, ValueError, RecursionError) as error:
            self._note("no-answer", method=request.method, kind=type(error).__name__)
            frame = wire.failure(request.id, explain(error, request.method))
        self._outbox.put(frame)


async def _wait(tasks: Iterable[asyncio.Task[Any]], seconds: float) -> None:
    if running := [task for task in tasks if not task.done()]:
        await asyncio.wait(running, timeout=seconds)


async def stop(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and give them a moment to end."""
    for task in tasks:
        task.cancel()
    await _wait(tasks, LAST_WORD)
    for task in tasks:
        if task.done() and not task.cancelled():
            task.exception()  # seen, so that nobody is told that it was not


async def within(job: Coroutine[Any, Any, Any], seconds: float) -> None:
    """Run it for at most so long; how it ends does not matter."""
    task = asyncio.create_task(job)
    await _wait([task], seconds)
    await stop(task)
