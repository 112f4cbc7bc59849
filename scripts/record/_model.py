"""A loopback chat-completions server that answers exactly what it was told to, in order.

It speaks the streaming form of the OpenAI chat-completions protocol, which both hosts know. A request that the
script does not expect is refused and kept in `unexpected`, so a recording cannot go astray unnoticed.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from _story import Call, Reply

MODEL = "scripted-1"

Body = dict[str, Any]
Translate = Callable[[Call], tuple[str, dict[str, Any]]]
"""From a neutral call to a host's tool name and arguments."""
Aside = Callable[[Body], Reply | None]
"""The answer to a request that a host makes at no fixed moment, such as a label or a summary; None for all others."""


class ScriptedModel:
    """The server; use it as a context manager. `calls` holds the tool calls it has made, by their id."""

    def __init__(self, translate: Translate, aside: Aside) -> None:
        self.calls: dict[str, Call] = {}
        self.unexpected: list[str] = []
        self.aside = aside
        self._translate = translate
        self._queue: deque[Reply] = deque()
        self._answers = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """The base URL for a host's provider settings."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def play(self, replies: Iterable[Reply]) -> None:
        """Queue the answers of the next step."""
        with self._lock:
            self._queue.extend(replies)

    def drop(self) -> int:
        """Forget the answers nobody asked for and return how many there were."""
        with self._lock:
            count = len(self._queue)
            self._queue.clear()
        return count

    def answer(self, body: Body) -> list[dict[str, Any]] | None:
        """Return the chunks of the next answer, or None when the script has none."""
        with self._lock:
            self._answers += 1
            reply = self.aside(body) or (self._queue.popleft() if self._queue else None)
            if reply is None:
                self.unexpected.append(json.dumps(body["messages"][-1], ensure_ascii=False)[:400])
                return None
            calls = [self._wire_call(index, call) for index, call in enumerate(reply.calls)]
        return list(_chunks(self._answers, reply.say, calls, json.dumps(body["messages"])))

    def _wire_call(self, index: int, call: Call) -> dict[str, Any]:
        name, arguments = self._translate(call)
        identity = f"call_{len(self.calls) + 1:04}"
        self.calls[identity] = call
        function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        return {"index": index, "id": identity, "type": "function", "function": function}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


def _chunks(number: int, text: str, calls: list[dict[str, Any]], asked: str) -> Iterator[dict[str, Any]]:
    base = {"id": f"chatcmpl-{number:04}", "object": "chat.completion.chunk", "created": 0, "model": MODEL}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for start in range(0, len(text), 80):
        yield chunk({"content": text[start : start + 80]})
    if calls:
        yield chunk({"tool_calls": calls})
    yield chunk({}, "tool_calls" if calls else "stop")
    # Four characters a token is near enough: the hosts only show the numbers and compare them with the window.
    read, written = len(asked) // 4, (len(text) + len(json.dumps(calls))) // 4
    usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    yield {**base, "choices": [], "usage": usage}


def _handler_of(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, "application/json", json.dumps({"object": "list", "data": [{"id": MODEL}]}))

        def do_POST(self) -> None:
            chunks = model.answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            if chunks is None:
                # 400 and not 500, which hosts would try again and again.
                self._send(400, "application/json", json.dumps({"error": {"message": "the script has no answer"}}))
                return
            lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
            self._send(200, "text/event-stream", "".join([*lines, "data: [DONE]\n\n"]))

        def _send(self, status: int, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Keep quiet: `requests` tells more."""

    return Handler
