"""Small session files, made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-12-01T00:00:00.000Z", "cwd": "/home/dev/p"}


def _line(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a session file: a header (None leaves it out), then lines; bytes stay as they are, values become JSON."""

    def write(*lines: Any, header: Any = HEADER) -> Path:
        path = tmp_path / "session.jsonl"
        all_lines = lines if header is None else (header, *lines)
        path.write_bytes(b"".join(map(_line, all_lines)))
        return path

    return write


@pytest.fixture
def said() -> Callable[..., dict[str, Any]]:
    """A user's message entry: id, parent, text."""

    def said(entry_id: str, parent: str | None, text: str = "words") -> dict[str, Any]:
        message = {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1_796_083_201_250}
        entry = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": "2026-12-01T00:00:01.500Z"}
        return {**entry, "message": message}

    return said
