"""What holds for any bytes."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.memory.sessions import SessionFile, SessionFileError, SessionReader, read_session
from hindbrain.memory.sessions._lines import LineSplitter
from hindbrain.memory.sessions._parser import SessionParser

HEADER = b'{"type":"session","version":3,"id":"s","cwd":"/p"}\n'
FIELDS = [
    *("type", "id", "parentId", "timestamp", "message", "role", "content", "text", "thinking", "data", "details"),
    *("summary", "customType", "firstKeptEntryIndex", "files", "image", "sections", "arguments", "name", "mimeType"),
    *("exitCode", "cancelled", "excludeFromContext"),
]
WORDS = [
    "session",
    "title",
    "message",
    "custom",
    "user",
    "text",
    "toolCall",
    "image",
    "bashExecution",
    "a",
    "b",
    "\ud800",
]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
    max_leaves=12,
)
entries = st.dictionaries(st.sampled_from(FIELDS), values, max_size=8).map(lambda entry: {"type": "message", **entry})
sound = st.sampled_from(
    [b'{"type":"message","id":"m%d","parentId":null,"message":{"role":"user","content":"hi"}}' % n for n in range(4)]
)
broken = st.sampled_from(
    [b"", b"\r", b"\0\0", b"{", b'{"type":"x"}{"type":"y"}', b'{"type":', b'"z"}', b"\xff\xfe", b"[]"]
)
lines = st.lists(sound | broken | st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"")), max_size=12)


def parse(data: bytes) -> Any:
    splitter, parser = LineSplitter(), SessionParser()
    return parser.feed(splitter.feed(data) + splitter.rest())


@given(entries)
def test_any_json_is_read_as_an_entry_or_reported(entry: dict[str, Any]) -> None:
    items = parse(HEADER + json.dumps(entry).encode() + b"\n")

    assert len(items) >= 2


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    parse(HEADER + data)
    parse(data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_bytes(data)
        with suppress(SessionFileError):
            read_session(path)


@given(st.binary(max_size=60))
def test_entries_before_and_after_anything_survive(noise: bytes) -> None:
    before, after = b'{"type":"a","id":"before"}\n', b'\n{"type":"a","id":"after","parentId":"before"}\n'

    items = parse(HEADER + before + noise + after)

    found = {item.id: item for item in items if hasattr(item, "kind")}
    assert {"before", "after"} <= found.keys()
    assert found["after"].line == 4 + noise.count(b"\n")


@settings(max_examples=60)
@given(lines, st.lists(st.integers(0, 2000), max_size=6))
def test_reading_as_it_grows_equals_reading_at_once(written: list[bytes], cuts: list[int]) -> None:
    data = HEADER + b"".join(line + b"\n" for line in written)
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.touch()
        reader = SessionReader(path)
        read = SessionFile()
        for start, end in pairwise(edges):
            with path.open("ab") as file:
                file.write(data[start:end])
            read = read.extended(reader.read_new())

        assert read == read_session(path)
