"""A connection whose other end is a socket in the hands of the test, and sidecars that run as processes."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hindbrain.bridge import Connection

APP = Path(__file__).with_name("app.py")


class Far:
    """The other side: raw bytes, or messages as dicts."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.notes: list[tuple[str, dict[str, str | int]]] = []
        self.running: asyncio.Task[None]
        self.closing = asyncio.Event()

    def note(self, event: str, **figures: str | int) -> None:
        self.notes.append((event, figures))

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.notes]

    def send(self, *messages: dict[str, Any]) -> None:
        self.writer.write(b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages))

    async def next(self) -> dict[str, Any]:
        line = await self.reader.readline()
        assert line, "the connection ended"
        message: dict[str, Any] = json.loads(line)
        assert message.pop("jsonrpc") == "2.0"
        return message

    async def hang_up(self) -> None:
        self.writer.close()
        await self.running


Serve: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Any]]
Connect: TypeAlias = Callable[..., Awaitable[tuple[Connection, Far]]]


async def nothing(_method: str, _params: dict[str, Any]) -> Any:
    return {}


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes a running connection and its far side."""
    opened: list[tuple[Connection, Far]] = []

    async def connect(serve: Serve = nothing, *, grace: float = 0.0, **settings: Any) -> tuple[Connection, Far]:
        near, far = socket.socketpair()
        end = Far(*await asyncio.open_connection(sock=far, limit=1 << 24))
        settings = {"note": end.note, "closing": end.closing.set, **settings}
        connection = Connection(*await asyncio.open_connection(sock=near), serve, **settings)
        end.running = asyncio.create_task(connection.run(grace))
        opened.append((connection, end))
        return connection, end

    yield connect
    for connection, end in opened:
        connection.close()
        end.writer.close()
        await end.running


class Process:
    """A sidecar as a child process."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.child = child

    def write(self, data: bytes) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def send(self, number: int, method: str, **params: Any) -> None:
        frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.write(json.dumps(frame).encode() + b"\n")

    def next(self) -> dict[str, Any]:
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        assert line, "the sidecar ended"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, number: int, method: str, **params: Any) -> Any:
        self.send(number, method, **params)
        answer = self.next()
        assert answer["id"] == number
        return answer.get("result", answer.get("error"))

    def initialize(self) -> Any:
        return self.ask(0, "initialize", protocol=1, host="pi", shim="test", hostVersion="0", agentDir="/a", pid=1)

    def end(self) -> tuple[int, bytes]:
        """Close its input; its exit code and what else it wrote."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.close()
        rest = self.child.stdout.read()
        return self.child.wait(timeout=20), rest


Start: TypeAlias = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts ``app.py``; its arguments say what the application does."""
    started: list[Process] = []
    (tmp_path / "surface.json").write_text('{"tools": [{"name": "t"}], "commands": [{"name": "c"}]}', "utf-8")

    def start(*arguments: str, options: tuple[str, ...] = (), **popen: Any) -> Process:
        run = [sys.executable, "-I", *options, str(APP), str(tmp_path), *arguments]
        streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = Process(subprocess.Popen(run, **{**streams, **popen}))
        started.append(process)
        return process

    yield start
    for process in started:
        process.child.kill()
        process.child.wait(timeout=20)
        for stream in (process.child.stdin, process.child.stdout, process.child.stderr):
            if stream is not None:
                with suppress(OSError):  # what was not yet written cannot be any more
                    stream.close()
