"""One JSON-RPC 2.0 connection, both ways, over any pair of asynchronous streams."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final

from hindbrain.bridge import _messages as wire
from hindbrain.bridge._errors import ConnectionLostError, DeadlineError, too_large
from hindbrain.bridge._frames import LIMIT, Oversize, Reader, Splitter
from hindbrain.bridge._messages import Answer, Id, Malformed, Notice, Request
from hindbrain.bridge._outbox import BOUND, PATIENCE, Outbox, Writer
from hindbrain.bridge._serving import SECONDS, Note, Serve, Serving, stop, within

PIECE: Final = 256 * 1024
CANCEL: Final = "$/cancel"


def silent(_event: str, **_figures: str | int) -> None:
    """Note nothing."""


class Connection:
    """Calls the peer and serves it, until one side closes.

    Args:
        reader: where frames come from.
        writer: where frames go; nothing else may write there.
        serve: carries out what the peer asks. Requests run at the same time, notifications one after another in the
            order they came.
        note: told of faults and ends, in ids and counts.
        seconds: the longest a handler may take; then it is cancelled.
        bounds: the same for methods that have another bound than ``seconds``.
        limit: bytes of the longest frame, either way.
        bound: bytes that may wait to be written before whoever sends has to wait.
        patience: seconds that the peer may leave a frame unread before it counts as gone.
        closing: called once, when the end of the connection begins.
    """

    def __init__(
        self,
        reader: Reader,
        writer: Writer,
        serve: Serve,
        *,
        note: Note = silent,
        seconds: float = SECONDS,
        bounds: Mapping[str, float] | None = None,
        limit: int = LIMIT,
        bound: int = BOUND,
        patience: float = PATIENCE,
        closing: Callable[[], None] = lambda: None,
    ) -> None:
        self._reader, self._note, self._limit = reader, note, limit
        self._outbox = Outbox(writer, bound=bound, patience=patience)
        self._serving = Serving(serve, self._outbox, note, seconds=seconds, bounds=bounds or {}, limit=limit)
        self._ids = count(1)
        self._calls: dict[Id, asyncio.Future[Any]] = {}
        self._closed, self._closing = asyncio.Event(), closing

    async def call(self, method: str, params: Mapping[str, Any], timeout: float) -> Any:  # noqa: ASYNC109  (its own)
        """What the peer answers.

        A caller that is cancelled, or whose ``timeout`` in seconds is over, tells the peer to give it up.

        Raises:
            RpcError: the peer answered with an error, or the call does not fit into a frame.
            DeadlineError: no answer in time.
            ConnectionLostError: there is no connection, or it ended before the answer.
            TypeError, ValueError: the parameters are no JSON.
        """
        number, answer = next(self._ids), asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout):
                await self._send(wire.request(number, method, params))
                self._calls[number] = answer
                return await answer
        except TimeoutError:
            raise DeadlineError(method, timeout) from None
        finally:
            if self._calls.pop(number, None) is not None:
                self.notify(CANCEL, {"id": number})

    async def _send(self, frame: bytes) -> None:
        if len(frame) > self._limit + 1:
            raise too_large(self._limit)
        await self._outbox.room()
        if self._closed.is_set():
            raise ConnectionLostError
        self._outbox.put(frame)

    def notify(self, method: str, params: Mapping[str, Any]) -> bool:
        """Tell the peer something, at once; what matters is a call.

        False where it was let go: the peer is gone or does not read, or it does not fit into a frame.

        Raises:
            TypeError, ValueError: the parameters are no JSON.
        """
        frame = wire.notice(method, params)
        if self._closed.is_set() or self._outbox.full or len(frame) > self._limit + 1:
            self._note("notification-dropped", method=method)
            return False
        self._outbox.put(frame)
        return True

    async def run(self, grace: float = 0.0) -> None:
        """Read, serve and write until the peer closes, does not read any more, or `close` is called.

        Calls of ours that wait for an answer then fail at once. What is being served has ``grace`` seconds to end and
        be answered; the rest is cancelled.
        """
        reading, closed = asyncio.create_task(self._read()), asyncio.create_task(self._closed.wait())
        writing, notices = asyncio.create_task(self._outbox.run()), asyncio.create_task(self._serving.notices())
        try:
            await asyncio.wait([reading, closed, writing], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._closing()
            self.close()
            await stop(reading, closed)
            await self._serving.end(grace)
            await within(self._outbox.flushed(), grace)
            await stop(writing, notices)

    def close(self) -> None:
        """End the connection: calls that wait fail now, and ``run`` returns soon."""
        self._closed.set()
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(ConnectionLostError())
        self._calls.clear()

    async def _read(self) -> None:
        splitter = Splitter(self._limit)
        try:
            while piece := await self._reader.read(PIECE):
                for frame in splitter.feed(piece):
                    await self._take(frame)
        except (OSError, ConnectionLostError):
            self._note("reading-failed")
        if splitter.partial:
            self._note("frame-cut-off")

    async def _take(self, frame: bytes | Oversize) -> None:
        if isinstance(frame, Oversize):
            return await self._serving.refuse(too_large(self._limit))
        if not frame.strip():
            return None
        match wire.read(frame):
            case Request() as request:
                await self._serving.request(request)
            case Notice(method="$/cancel", params=params):
                self._serving.cancel(params)
            case Notice() as notice:
                await self._serving.notice(notice)
            case Answer() as answer:
                self._answered(answer)
            case Malformed(error, number):
                await self._serving.refuse(error, number)
        return None

    def _answered(self, answer: Answer) -> None:
        waiting = self._calls.pop(answer.id, None) if answer.id is not None else None
        if waiting is None or waiting.done():
            self._note("stray-answer")  # mostly of a call that was given up
        elif answer.error is not None:
            waiting.set_exception(answer.error)
        else:
            waiting.set_result(answer.result)
