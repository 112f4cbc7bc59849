"""No planted secret reaches the disk or the wire, whichever way the text came in."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hindbrain.contracts.testing import planted_secrets
from hindbrain.generic import Layer, Replay, merge, open_backend

HINDBRAIN = Path(sys.executable).with_name("hindbrain")
PLANTED = planted_secrets()


def session_file(folder: Path) -> Path:
    """A pi session in which a user, an assistant, a tool call and a failed tool say every planted secret."""
    lines: list[dict[str, object]] = [{"type": "session", "version": 3, "id": "s", "cwd": str(folder)}]
    for number, secret in enumerate(PLANTED):
        call = {"type": "toolCall", "id": "1", "name": "bash", "arguments": {"command": secret.text}}
        said: list[dict[str, object]] = [
            {"role": "user", "content": secret.text},
            {"role": "assistant", "content": [{"type": "text", "text": secret.text}, call]},
            {
                "role": "toolResult",
                "toolName": "bash",
                "toolCallId": "1",
                "isError": True,
                "content": [{"type": "text", "text": f"failed\n{secret.text}\nend"}],
            },
        ]
        for part, message in enumerate(said):
            last = lines[-1]["id"] if len(lines) > 1 else None
            lines.append({"type": "message", "id": f"{number}-{part}", "parentId": last, "message": message})
    path = folder / "session.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def found_in(raw: bytes) -> list[str]:
    """The families whose secret stands in the bytes, as it is or behind JSON's escapes."""
    texts = {raw, raw.replace(b"\\\\", b"\\"), raw.replace(b"\\/", b"/")}
    return sorted({s.family for s in PLANTED if any(s.core.encode() in text for text in texts)})


@pytest.fixture
async def recorder() -> AsyncIterator[tuple[str, bytearray]]:
    """A loopback server that takes every request as a Hindsight server would, and keeps all bytes it was sent."""
    seen = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = re.search(rb"(?i)content-length: (\d+)", head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            seen.extend(head + body)
            operation = {"success": True, "async": True, "operation_id": "7f0e0000-0000-4000-8000-000000000000"}
            answer = {"status": "completed", "results": [], **operation}
            raw = json.dumps(answer).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(raw) + raw)

    async def quiet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(quiet, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", seen
    server.close()


async def test_a_replayed_session_leaves_no_secret_in_the_embedded_store(tmp_path: Path) -> None:
    settings = merge([Layer(origin="test", values={"dataDir": str(tmp_path / "data")})])
    async with open_backend(settings) as backend:
        question = " ".join(secret.text for secret in PLANTED[:3])
        report = await Replay(session_file(tmp_path), backend, settings).run(question)
        files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
        written = b"".join(path.read_bytes() for path in files)
    assert report.retains >= len(PLANTED)
    assert b"worked" in written
    assert found_in(written) == []
    assert found_in(report.injected.encode()) == []


async def test_a_replayed_session_sends_no_secret(tmp_path: Path, recorder: tuple[str, bytearray]) -> None:
    url, seen = recorder
    settings = merge([Layer(origin="test", values={"backend": "hindsight", "hindsight": {"baseUrl": url}})])
    async with open_backend(settings) as backend:
        question = " ".join(secret.text for secret in PLANTED[:3])
        report = await Replay(session_file(tmp_path), backend, settings).run(question)
    assert report.retains >= len(PLANTED)
    assert b"worked" in seen
    assert b"/memories/recall" in seen
    assert found_in(bytes(seen)) == []


def test_the_explicit_verbs_store_no_secret(tmp_path: Path) -> None:
    text = "\n".join(secret.text for secret in PLANTED)
    for command in (("retain", "-"), ("recall", text[:2000])):
        subprocess.run(
            [HINDBRAIN, *command, "--data-dir", str(tmp_path / "data")],
            cwd=tmp_path,
            input=text,
            text=True,
            capture_output=True,
            check=command[0] == "retain",
            timeout=50,
        )
    written = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert b"worked" in written
    assert found_in(written) == []
