"""A loopback server that answers what a test scripts, byte by byte, and remembers what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from hindbrain.client import ClientConfig, HindsightClient, Transport, TransportKind
from hindbrain.contracts import Endpoint, NoAuth, TokenPolicy


@dataclass
class Seen:
    """One request as it came over the wire."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


NO_AUTH = NoAuth()
Script = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def answer(status: int, body: bytes | dict[str, Any] = b"", **headers: str) -> bytes:
    """A whole HTTP answer. Underscores in header names become dashes; content-type is JSON unless given."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = {"content-type": "application/json", "content-length": str(len(data))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
    return f"HTTP/1.1 {status} Scripted\r\n{head}\r\n".encode() + data


@dataclass
class Loopback:
    """Answers each request with the next script; the last one is repeated."""

    scripts: list[Script] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, target, _ = head[0].split(" ")
                headers = [(k.lower(), v.strip()) for k, _, v in (line.partition(":") for line in head[1:] if line)]
                length = next((int(v) for k, v in headers if k == "content-length"), 0)
                self.seen.append(Seen(method, target, headers, await reader.readexactly(length)))
                self.arrived.set()
                script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
                if isinstance(script, bytes):
                    writer.write(script)
                    await writer.drain()
                else:
                    waiting = asyncio.ensure_future(script(writer))
                    gone = asyncio.ensure_future(reader.read(1))
                    await asyncio.wait({waiting, gone}, return_when=asyncio.FIRST_COMPLETED)
                    waiting.cancel()
                    gone.cancel()
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.hung_up.set()
            writer.close()


@pytest.fixture
async def loopback() -> AsyncIterator[Callable[..., Awaitable[Loopback]]]:
    """``await loopback(script, …)`` starts a server."""
    servers: list[asyncio.Server] = []

    async def start(*scripts: Script) -> Loopback:
        made = Loopback(list(scripts))
        server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
        made.port = server.sockets[0].getsockname()[1]
        servers.append(server)
        return made

    yield start
    for server in servers:
        server.close()
        await server.wait_closed()


@pytest.fixture(params=list(TransportKind))
def kind(request: pytest.FixtureRequest) -> TransportKind:
    """Each transport in turn."""
    found: TransportKind = request.param
    return found


@pytest.fixture
async def connect(kind: TransportKind) -> AsyncIterator[Callable[..., HindsightClient]]:
    """``connect(server_or_url, token, deadline=…)`` makes a client that is closed after the test."""
    clients: list[HindsightClient] = []

    def make(
        to: Loopback | str, token: TokenPolicy = NO_AUTH, *, transport: Transport | None = None, **config: Any
    ) -> HindsightClient:
        endpoint = Endpoint.parse(to if isinstance(to, str) else to.url)
        settings = ClientConfig(**{"transport": kind, "deadline": 10.0, **config})
        clients.append(HindsightClient(endpoint, token, settings, transport=transport))
        return clients[-1]

    yield make
    for client in clients:
        await client.close()


@pytest.fixture
def reply() -> Callable[..., bytes]:
    """``reply(status, body, header=…)``: a whole HTTP answer."""
    return answer
