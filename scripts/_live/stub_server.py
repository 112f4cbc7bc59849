"""The stub model as an OpenAI-compatible loopback server: models, embeddings, chat completions.

Run it as ``python scripts/_live/stub_server.py``; it takes a free port and names it in its first line of output.

Tests steer it:

- ``POST /stub/control`` sets any of: ``fail`` (how many calls to refuse), ``status`` (with which status, 500),
  ``headers`` (sent with a refusal), ``malformed`` (how many chat answers are not JSON), ``delay`` (seconds before each
  answer), ``only`` (``"chat"`` or ``"embeddings"``: which calls the faults hit; null means both).
- ``POST /stub/reset`` ends all faults and empties the log.
- ``GET /stub/log`` lists the last calls: ``kind``, ``bytes``, ``outcome``.
"""

import base64
import json
import struct
import sys
import threading
import time
import uuid
from collections import deque
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

if __package__ in {None, ""}:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _live.stub_answers import complete, embed

MODEL = "stub"
MAX_DELAY = 60.0


@dataclass(frozen=True, slots=True)
class Faults:
    """The trouble to make next."""

    fail: int = 0
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    malformed: int = 0
    delay: float = 0.0
    only: str | None = None

    def hits(self, kind: str) -> bool:
        return self.only in {None, kind}


class Switchboard:
    """The faults and the log, shared by the handler threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults = Faults()
        self._log: deque[dict[str, Any]] = deque(maxlen=200)

    def control(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Change the named faults; a name that does not exist raises TypeError."""
        with self._lock:
            self._faults = replace(self._faults, **changes)
            return _shown(self._faults)

    def reset(self) -> dict[str, Any]:
        with self._lock:
            self._faults = Faults()
            self._log.clear()
            return _shown(self._faults)

    def log(self) -> list[dict[str, Any]]:
        with self._lock:
            return list(self._log)

    def take(self, kind: str, size: int) -> tuple[str, Faults]:
        """What happens to this call (``answer``, ``fail`` or ``malformed``), using up one of the counted faults."""
        with self._lock:
            faults = self._faults
            outcome = "answer"
            if faults.hits(kind) and faults.fail > 0:
                outcome = "fail"
                self._faults = replace(faults, fail=faults.fail - 1)
            elif kind == "chat" and faults.hits(kind) and faults.malformed > 0:
                outcome = "malformed"
                self._faults = replace(faults, malformed=faults.malformed - 1)
            self._log.append({"kind": kind, "bytes": size, "outcome": outcome})
            return outcome, faults


def _shown(faults: Faults) -> dict[str, Any]:
    return {name: getattr(faults, name) for name in Faults.__slots__}


class Handler(BaseHTTPRequestHandler):
    """One connection. ``board`` belongs to the whole server."""

    board: ClassVar[Switchboard] = Switchboard()
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a small answer would otherwise wait 40 ms for the other side's delayed ACK

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Say nothing: /stub/log is the log."""

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._send(200, {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "stub"}]})
        elif self.path == "/stub/log":
            self._send(200, self.board.log())
        else:
            self._send(404, {"error": {"message": "no such route"}})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw or b"{}")
            if self.path == "/stub/control":
                self._send(200, self.board.control(body))
            elif self.path == "/stub/reset":
                self._send(200, self.board.reset())
            elif self.path == "/v1/embeddings":
                self._model_call("embeddings", body, len(raw))
            elif self.path == "/v1/chat/completions":
                self._model_call("chat", body, len(raw))
            else:
                self._send(404, {"error": {"message": "no such route"}})
        except (ValueError, TypeError) as error:
            self._send(400, {"error": {"message": f"unusable request: {error}"}})

    def _model_call(self, kind: str, body: dict[str, Any], size: int) -> None:
        outcome, faults = self.board.take(kind, size)
        if faults.hits(kind) and faults.delay > 0:
            time.sleep(min(faults.delay, MAX_DELAY))
        if outcome == "fail":
            refusal = {"error": {"message": "the stub was told to fail", "type": "stub"}}
            self._send(faults.status, refusal, faults.headers)
        elif kind == "embeddings":
            self._send(200, _embeddings(body))
        else:
            broken = {"role": "assistant", "content": "this is not JSON"}
            self._send(200, _completion(broken if outcome == "malformed" else complete(body), size))

    def _send(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        payload = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    texts = body.get("input", [])
    texts = [texts] if isinstance(texts, str) else texts
    packed = body.get("encoding_format") == "base64"
    vectors = [embed(str(text)) for text in texts]
    data = [
        {"object": "embedding", "index": index, "embedding": _packed(vector) if packed else vector}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "model": MODEL, "data": data, "usage": usage}


def _packed(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _completion(message: dict[str, Any], size: int) -> dict[str, Any]:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    asked, said = size // 4, len(json.dumps(message)) // 4
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
    }


class StubServer(ThreadingHTTPServer):
    """Loopback only, on a port the kernel picks."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


if __name__ == "__main__":
    server = StubServer()
    print(f"stub model on {server.url}", flush=True)
    server.serve_forever()
