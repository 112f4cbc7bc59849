"""A loopback server that speaks a Hindsight server's retain and status, and remembers what took effect."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from urllib.parse import unquote

from attrs import define, field

_PATH = re.compile(r"/v1/default/banks/([^/]+)/(memories|operations/([^/]+))")
_REASONS = {200: "OK", 404: "Not Found", 422: "Unprocessable Entity", 503: "Service Unavailable"}
REFUSED = "refused"
"""A document whose name begins so is refused by the server."""


@define
class RecordingServer:
    """As the real one: an operation id that it knows is the same operation, and takes effect once.

    ``trouble`` is the share of requests whose answer is lost, or that are told to come again, and of operations that
    are taken and come to nothing; ``pause`` the longest time in seconds before an operation takes effect, which is when
    a killed client is surest to be in the middle.

    Attributes:
        documents: by name, the contents that took effect, in order.
        operations: by id, document and content.
        failed: the same of those that were taken and came to nothing.
        altered: operations that came again with other content, which nobody could resolve.
    """

    rng: Random
    trouble: float = 0.1
    pause: float = 0.004
    url: str = ""
    documents: dict[str, list[str]] = field(factory=dict)
    operations: dict[str, tuple[str, str]] = field(factory=dict)
    failed: dict[str, tuple[str, str]] = field(factory=dict)
    counts: Counter[str] = field(factory=Counter)
    altered: list[str] = field(factory=list)
    _held: threading.Event = field(factory=threading.Event)

    def hold(self) -> None:
        """Let no retain take effect or be answered until ``release``."""
        self._held.set()

    def release(self) -> None:
        """Go on."""
        self._held.clear()

    @contextmanager
    def running(self) -> Iterator[RecordingServer]:
        """Serve from a thread of its own; ``url`` says where."""
        ready, loop = threading.Event(), asyncio.new_event_loop()
        stop = asyncio.Event()

        async def serve() -> None:
            server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            ready.set()
            await stop.wait()
            server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
        thread.start()
        ready.wait()
        try:
            yield self
        finally:
            self.release()
            loop.call_soon_threadsafe(stop.set)
            thread.join()
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, path = head.decode("latin-1").split(" ", 2)[:2]
                length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
                body = await reader.readexactly(int(length[1])) if length else b""
                answer = await self._answer(method, path, body)
                if answer is None:
                    break
                status, fields = answer
                data = json.dumps(fields).encode()
                lines = f"HTTP/1.1 {status} {_REASONS[status]}\r\ncontent-type: application/json\r\n"
                writer.write(f"{lines}content-length: {len(data)}\r\n\r\n".encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, OSError):
            pass
        finally:
            writer.close()

    async def _answer(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any]] | None:
        found = _PATH.fullmatch(unquote(path))
        if found is None:
            return 404, {"detail": "Not Found"}
        self.counts["requests"] += 1
        if method == "GET":
            return 200, {"operation_id": found[3], "status": self._status(found[3])}
        return await self._retain(found[1], json.loads(body))

    async def _retain(self, bank: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
        [item] = body["items"]
        document, content, operation = item["document_id"], item["content"], body["operation_id"]
        while self._held.is_set():  # noqa: ASYNC110 - see below
            await asyncio.sleep(0.005)  # the event is a thread's, which no loop can await
        await asyncio.sleep(self.rng.random() * self.pause)
        if self.rng.random() < self.trouble / 2:
            self.counts["busy"] += 1
            return 503, {"detail": "busy"}
        if document.startswith(REFUSED):
            self.counts["refused"] += 1
            return 422, {"detail": [{"msg": "refused", "type": "value_error"}]}
        self._take(document, content, operation)
        if self.rng.random() < self.trouble / 2:
            self.counts["answers lost"] += 1
            return None
        answer = {"success": True, "bank_id": bank, "items_count": 1, "async": True, "operation_id": operation}
        return 200, {**answer, "operation_ids": None, "usage": {"total_tokens": 3}}

    def _status(self, operation: str) -> str:
        if operation in self.failed:
            return "failed"
        return "completed" if operation in self.operations else "not_found"

    def _take(self, document: str, content: str, operation: str) -> None:
        known = self.operations.get(operation) or self.failed.get(operation)
        if known is None and self.rng.random() < self.trouble / 2:
            self.failed[operation] = (document, content)
        elif known is None:
            self.operations[operation] = (document, content)
            self.documents.setdefault(document, []).append(content)
        else:
            self.counts["repeated"] += 1
            self.altered += [operation] if known != (document, content) else []
