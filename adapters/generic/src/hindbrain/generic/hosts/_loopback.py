"""A model on loopback that says "ok" to everything, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

NAME = "loopback-1"


class LoopbackModel:
    """Chat completions in the form of OpenAI, streamed. Use it as a context manager.

    Attributes:
        requests: the body of each request, oldest first.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.requests))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """The base URL, for a host's settings."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(requests: list[dict[str, Any]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            try:
                requests.append(json.loads(self.rfile.read(length)))
            except ValueError:
                requests.append({})
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(_answer(len(requests)))

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _answer(number: int) -> bytes:
    base = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": NAME}
    words = {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "ok"}, "finish_reason": None}]}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    end = {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}
    frames = [f"data: {json.dumps(each)}\n\n" for each in (words, end)]
    return "".join([*frames, "data: [DONE]\n\n"]).encode()
