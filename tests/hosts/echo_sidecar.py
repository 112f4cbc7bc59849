"""A sidecar that only repeats: the shim's tests need one whose every move is known.

``python -I echo_sidecar.py LOG [BEHAVIOUR]``: LOG gets one JSON line for each frame that arrived and each thing that
happened. BEHAVIOUR, a JSON object, names what goes wrong: ``{"initialize": "hang|exit|garbage|protocol"}`` and
``{"context": "hang|exit|garbage|error|huge"}``; with ``{"once": true}`` only the first process of a LOG misbehaves.
"""

import itertools
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Frame = dict[str, Any]

TOOL = {
    "name": "hindsight_echo",
    "label": "Echo",
    "description": "Repeats a text, a number of times.",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
        "required": ["text"],
        "additionalProperties": False,
    },
}
COMMANDS = [
    {"name": "hindsight", "description": "Does what its first word says", "completes": True},
    {"name": "hindsight:queue", "description": "Says that nothing waits", "completes": False},
]
WORDS = (
    "status",
    "append",
    "entries",
    "confirm",
    "select",
    "view",
    "complete",
    "emit",
    "memory",
    "usage",
    "tasks",
    "exit",
)
LARGE = 9 * 1024 * 1024


class CancelledError(Exception):
    """The host gave up waiting."""


class Sidecar:
    def __init__(self, log: Path, behaviour: Frame) -> None:
        self._log = log
        self._first = not log.exists()
        self._behaviour = behaviour if self._first or not behaviour.get("once") else {}
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._waiting: dict[int, tuple[threading.Event, list[Frame]]] = {}
        self._cancelled: dict[Any, threading.Event] = {}
        self._seen = 0

    def run(self) -> None:
        """Serve until stdin ends, which is how a host's end looks from here, however it came."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        self.note("start", parent=os.getppid())
        for line in sys.stdin.buffer:
            frame = json.loads(line)
            self.note("frame", frame=frame)
            if "method" not in frame:
                event, answer = self._waiting.pop(frame["id"], (threading.Event(), []))
                answer.append(frame)
                event.set()
            elif frame["method"] == "$/cancel":
                self._cancelled.setdefault(frame["params"]["id"], threading.Event()).set()
            else:
                threading.Thread(target=self._serve, args=(frame,), daemon=True).start()
        self.note("eof")

    def note(self, kind: str, **more: Any) -> None:
        with self._lock, self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"at": time.time(), "pid": os.getpid(), "kind": kind, **more}) + "\n")

    def call(self, method: str, **params: Any) -> Any:
        number = next(self._ids)
        event, answer = threading.Event(), list[Frame]()
        self._waiting[number] = (event, answer)
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        event.wait(30)
        return answer[0].get("result", answer[0].get("error")) if answer else "no answer"

    def _write(self, frame: Frame) -> None:
        data = json.dumps(frame).encode() + b"\n"
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def _serve(self, frame: Frame) -> None:
        handlers: dict[str, Callable[[Frame, Any], Any]] = {
            "initialize": self._initialize,
            "session/context": self._context,
            "tool/call": self._tool,
            "command/run": self._command,
            "command/complete": self._complete,
        }
        method, number = frame["method"], frame.get("id")
        known = method.startswith("session/") or method == "shutdown"
        handler = handlers.get(method, (lambda _params, _number: {}) if known else None)
        try:
            if handler is None:
                answer: Frame = {"error": {"code": -32601, "message": "unknown method"}}
            else:
                answer = {"result": handler(frame["params"], number)}
        except CancelledError:
            answer = {"error": {"code": -32800, "message": "cancelled"}}
        except ValueError as error:
            answer = {"error": {"code": -32000, "message": str(error)}}
        self._write({"jsonrpc": "2.0", "id": number, **answer})

    def _misbehave(self, how: str | None, number: Any) -> None:
        if how == "exit":
            os._exit(3)
        if how == "hang":
            self._hang(number)
        if how == "garbage":
            with self._lock:
                sys.stdout.buffer.write(b"Traceback (most recent call last):\n\xff\xfe[1,2]\nnull\n" * 50)
                sys.stdout.buffer.flush()
            self._hang(number)
        if how == "huge":
            with self._lock:
                sys.stdout.buffer.write(b"x" * LARGE)
                sys.stdout.buffer.flush()
            self._hang(number)
        if how == "error":
            raise ValueError("broken on purpose")

    def _hang(self, number: Any) -> None:
        self.note("hangs")
        self._cancelled.setdefault(number, threading.Event()).wait()
        self.note("cancelled", id=number)
        raise CancelledError

    def _initialize(self, _params: Frame, number: Any) -> Frame:
        how = self._behaviour.get("initialize")
        if how == "stop":
            # The whole process stands still, as one does whose interpreter waits for a lock.
            os.kill(os.getpid(), signal.SIGSTOP)
            self._hang(number)
        self._misbehave(how, number)
        protocol = 2 if how == "protocol" else 1
        return {"protocol": protocol, "version": "0", "tools": [TOOL], "commands": COMMANDS}

    def _context(self, params: Frame, number: Any) -> Frame:
        how = self._behaviour.get("context")
        text = _text(params["user"])
        if how == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
            self._hang(number)
        self._misbehave("hang" if "HANG" in text else how, number)
        self._seen += 1
        block = f"<hindsight-memory>\nechoes {text!r}\n</hindsight-memory>"
        return {self._behaviour.get("position", "append"): block}

    def _tool(self, params: Frame, number: Any) -> Frame:
        text = params["arguments"]["text"]
        if text == "hang":
            self._hang(number)
        self._misbehave(text, number)
        said = text * params["arguments"].get("times", 1)
        return {"text": f"py:{said}", "isError": False, "details": {"times": params["arguments"].get("times", 1)}}

    def _command(self, params: Frame, _number: Any) -> Frame:
        if params["name"] == "hindsight:queue":
            return {"text": "Nothing waits."}
        word, _, rest = params["args"].partition(" ")
        if word not in WORDS:
            return {"text": f"Say one of {', '.join(WORDS)}.", "level": "warning"}
        if word == "exit":
            os._exit(4)
        return {"text": f"{word}: {json.dumps(self._ask_host(word, rest, params['session']))}"}

    def _ask_host(self, word: str, rest: str, session: str) -> Any:
        items = ["first 日本語", "second", "second"]
        asked: dict[str, tuple[str, Frame]] = {
            "append": (
                "host/append",
                {"customType": "hindbrain.echo", "data": {"n": 1}, "expectAncestor": rest or None},
            ),
            "entries": ("host/entries", {"after": rest or None, "limitBytes": 100_000}),
            "confirm": ("host/confirm", {"title": "Sure?", "text": "It does nothing."}),
            "select": ("host/select", {"title": "Which?", "items": items}),
            "view": ("host/view", {"title": "Echo", "lines": ["ready"], "items": items, "keys": {"f": "flush"}}),
            "complete": ("host/complete", {"system": "Be brief.", "messages": [{"role": "user", "content": rest}]}),
            "memory": ("host/memory", {}),
            "usage": ("host/usage", {}),
            "tasks": ("host/tasks", {}),
        }
        if word == "status":
            self._write(_notice("host/status", session=session, text=rest or None))
            return {"seen": self._seen, "pid": os.getpid()}
        if word == "emit":
            self._write(_notice("host/emit", channel="hindsight:retrieval", data={"phase": rest}))
            return {}
        method, params = asked[word]
        return self.call(method, session=session, **params)

    def _complete(self, params: Frame, _number: Any) -> Frame:
        items = [{"value": word, "label": word} for word in WORDS if word.startswith(params["prefix"])]
        return {"items": items}


def _notice(method: str, **params: Any) -> Frame:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _text(message: Frame | None) -> str:
    content = (message or {}).get("content", "")
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


if __name__ == "__main__":
    Sidecar(Path(sys.argv[1]), json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}).run()
