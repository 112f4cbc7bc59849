"""One client under the client bench: ``_client_worker.py WHO PORT``, run by the interpreter that has that client.

Reads lines ``VERB AT_ONCE CALLS`` and answers each with the seconds one call took on average.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

TEXT = "The user wants listeners detached when their view closes. " * 17
QUESTION = "how should unsubscribing treat the event listeners?"
OPERATION = "2de40b13-52e9-41d7-877e-8d3fc4a21637"
TAGS = ["project:atlas", "user:alice"]
Verbs = dict[str, Callable[[], Awaitable[object]]]


async def ours(port: int, transport: str, stack: AsyncExitStack) -> Verbs:
    """The public verbs of hindbrain-client."""
    from hindbrain.client import ClientConfig, HindsightClient, TransportKind
    from hindbrain.contracts import Endpoint, EnvToken, RecallQuery, RetainItem

    client = await stack.enter_async_context(
        HindsightClient(
            Endpoint.parse(f"http://127.0.0.1:{port}"),
            EnvToken("HINDSIGHT_API_TOKEN"),
            ClientConfig(transport=TransportKind(transport)),
        )
    )

    def retain() -> Awaitable[object]:
        item = RetainItem(content=TEXT, document_id="doc-1", context="bench", tags=tuple(TAGS))
        return client.retain("bench", item, operation_id=OPERATION)

    def recall() -> Awaitable[object]:
        return client.recall("bench", RecallQuery(text=QUESTION, tags=tuple(TAGS)))

    return {"retain": retain, "recall": recall}


async def official(port: int, stack: AsyncExitStack) -> Verbs:
    """The official hindsight-client."""
    from hindsight_client import Hindsight

    client = Hindsight(base_url=f"http://127.0.0.1:{port}", api_key="bench-key")
    stack.push_async_callback(client.aclose)

    def retain() -> Awaitable[object]:
        return client.aretain(  # type: ignore[no-any-return]  # the package has no types in this environment
            bank_id="bench", content=TEXT, document_id="doc-1", context="bench", tags=TAGS, retain_async=True
        )

    def recall() -> Awaitable[object]:
        return client.arecall(  # type: ignore[no-any-return]  # as above
            bank_id="bench", query=QUESTION, tags=TAGS, tags_match="any_strict", types=["observation"]
        )

    return {"retain": retain, "recall": recall}


def raw(port: int) -> Verbs:
    """The floor: one socket, requests written out in advance, no parsing beyond the length."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(path: str, body: dict[str, object]) -> Callable[[], Awaitable[object]]:
        data = json.dumps(body).encode()
        request = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data

        async def call() -> object:
            connection.sendall(request)
            answer = connection.recv(65_536)
            head = answer.find(b"\r\n\r\n")
            length = int(answer[:head].partition(b"content-length: ")[2].split(b"\r\n", 1)[0])
            while len(answer) < head + 4 + length:
                answer += connection.recv(65_536)
            return answer

        return call

    base = "/v1/default/banks/bench/memories"
    return {
        "retain": exchange(base, {"items": [{"content": TEXT, "tags": TAGS}], "async": True}),
        "recall": exchange(f"{base}/recall", {"query": QUESTION, "tags": TAGS}),
    }


async def average(call: Callable[[], Awaitable[object]], at_once: int, calls: int) -> float:
    """Seconds a call, with ``at_once`` callers that each make their share."""

    async def caller() -> None:
        for _ in range(calls // at_once):
            await call()

    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(caller())
    return (time.perf_counter() - begun) / (calls // at_once * at_once)


async def main(who: str, port: int) -> None:
    """Answer the lines on standard input."""
    async with AsyncExitStack() as stack:
        match who:
            case "raw":
                verbs = raw(port)
            case "official":
                verbs = await official(port, stack)
            case _:
                verbs = await ours(port, who, stack)
        for line in iter(sys.stdin.readline, ""):
            verb, at_once, calls = line.split()
            print(await average(verbs[verb], int(at_once), int(calls)), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
