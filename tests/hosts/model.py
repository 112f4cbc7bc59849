"""A loopback chat-completions server that does what the last message of the user tells it to.

``CALL name {arguments}`` makes one tool call and repeats its result; a text with ``SUBTASK`` is a subagent's, which
gives its result back at once; anything else is answered with ``ok: `` and the text. Every request is kept in
``requests``. After ``hold`` a request waits, so that a test can do something in the middle of a turn.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

MODEL = "obedient-1"
OURS = "<hindsight-memory>"
Body = dict[str, Any]


class RefusedError(Exception):
    """The server refuses a request, with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class ObedientModel:
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        self.requests: list[Body] = []
        self._changed = threading.Condition()
        self._held_at = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """The base URL for a host's provider settings."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def take(self, body: Body) -> Iterator[Body]:
        """Keep a request and return the chunks of its answer."""
        with self._changed:
            self.requests.append(body)
            self._changed.notify_all()
            self._changed.wait_for(lambda: len(self.requests) != self._held_at, 60)
        messages = body["messages"]
        size = len(json.dumps(messages, ensure_ascii=False)) // 4
        asked = [text_of(message) for message in messages if message["role"] == "user"]
        last = next((text for text in reversed(asked) if OURS not in text), "")
        results = [text_of(message) for message in _since_user(messages) if message["role"] == "tool"]
        if last.startswith("CALL ") and not results:
            _, name, arguments = last.split(" ", 2)
            return chunks("", [(name, arguments)], len(self.requests), size)
        if "SUBTASK" in last and not results:
            return chunks("", [("yield", '{"data": {"verdict": "done"}}')], len(self.requests), size)
        said = f"tool said: {results[-1]}" if results else f"ok: {last[:60]}"
        return chunks(said, [], len(self.requests), size)

    def wait(self, count: int, seconds: float = 60) -> Body:
        """Wait for the request of this number, counted from one, and return it."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, seconds), f"no request number {count}"
        return self.requests[count - 1]

    def hold(self, nth: int) -> None:
        """Let the nth request from now on wait until `release`."""
        self._held_at = len(self.requests) + nth

    def held(self) -> None:
        """Wait until that request is there."""
        self.wait(self._held_at)

    def release(self) -> None:
        """Let it go on."""
        with self._changed:
            self._held_at = 0
            self._changed.notify_all()

    def about(self, text: str) -> list[Body]:
        """The requests that show this text."""
        return [body for body in self.requests if text in json.dumps(body["messages"], ensure_ascii=False)]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


def text_of(message: Body) -> str:
    """The text of a message of a request, without what omp itself puts into it."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    texts = [part.get("text", "") for part in content]
    return "".join(text for text in texts if not text.startswith("<system-reminder>"))


def _since_user(messages: list[Body]) -> list[Body]:
    at = max((n for n, message in enumerate(messages) if message["role"] == "user"), default=0)
    return messages[at:]


def chunks(text: str, calls: list[tuple[str, str]], number: int, size: int) -> Iterator[Body]:
    base = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": MODEL}

    def chunk(delta: Body, finish: str | None = None) -> Body:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": text})
    for at, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": arguments}
        yield chunk({"tool_calls": [{"index": at, "id": f"call_{number}", "type": "function", "function": function}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    usage = {"prompt_tokens": size, "completion_tokens": 10, "total_tokens": size + 10}
    yield {**base, "choices": [], "usage": usage}


def _handler_of(model: ObedientModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"object": "list", "data": [{"id": MODEL}]}))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            try:
                lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in model.take(body)]
            except RefusedError as refused:
                return self._send("application/json", '{"error": {"message": "unavailable"}}', refused.status)
            return self._send("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]))

        def _send(self, kind: str, text: str, status: int = 200) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Keep quiet: `requests` tells more."""

    return Handler
