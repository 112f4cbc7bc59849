"""The server of the client bench: answers a retain and a recall from two fixed bodies. ``_client_loopback.py``.

Prints its port on the first line and runs until its input ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import cast

OPERATION = "2de40b13-52e9-41d7-877e-8d3fc4a21637"
RETAINED = json.dumps(
    {
        "success": True,
        "bank_id": "bench",
        "items_count": 1,
        "async": True,
        "operation_id": OPERATION,
        "operation_ids": None,
        "usage": None,
    }
).encode()
RECALLED = json.dumps(
    {
        "results": [
            {
                "id": f"00000000-0000-4000-8000-{i:012d}",
                "text": f"Fact {i}: listeners are detached when their view closes.",
                "type": "observation",
                "entities": ["listener", "view"],
                "context": "a session",
                "occurred_start": None,
                "occurred_end": None,
                "mentioned_at": "2026-11-30T21:18:37.590536+00:00",
                "document_id": None,
                "metadata": {"session": "s-1", "source": "bench"},
                "chunk_id": None,
                "tags": ["project:atlas", "user:alice"],
                "source_fact_ids": None,
                "scores": {"final": 0.9 - i / 100, "reranker": None, "semantic": 0.4, "keyword": 0.1},
                "attachments": None,
            }
            for i in range(20)
        ],
        "trace": None,
        "entities": None,
        "chunks": None,
        "source_facts": None,
        "source_facts_truncated": None,
    }
).encode()


class Loopback(asyncio.Protocol):
    """One keep-alive connection, requests one after the other."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self.transport = cast("asyncio.Transport", transport)
        self.pending = b""

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        self.pending += data
        while (end := self.pending.find(b"\r\n\r\n")) >= 0:
            head = self.pending[:end].lower()
            length = head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]
            whole = end + 4 + int(length or 0)
            if len(self.pending) < whole:
                return
            self.pending = self.pending[whole:]
            body = RECALLED if b"/recall " in head.split(b"\r\n", 1)[0] else RETAINED
            self.transport.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
            )


async def main() -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Loopback, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
