"""Runs of whole lines, bounded."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.memory.sessions import MAX_LINE, LineProblem, Reason, read_session
from hindbrain.memory.sessions._lines import LineSplitter


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(c % (len(data) + 1) for c in cuts)})
    return [data[a:b] for a, b in pairwise(edges)]


@given(st.lists(st.sampled_from([b"", b"a", b"bc", b"\r", b"defg"])), st.lists(st.integers(0, 99)))
def test_any_cut_of_the_bytes_gives_the_same_lines(lines: list[bytes], cuts: list[int]) -> None:
    data = b"\n".join(lines)
    splitter = LineSplitter()
    runs = [run for block in cut(data, cuts) for run in splitter.feed(block)]

    whole = data[: data.rfind(b"\n") + 1]
    assert b"".join(run or b"" for _, run in runs) == whole
    assert all(data[at : at + len(run or b"")] == run for at, run in runs)
    assert splitter.consumed == len(whole)
    assert splitter.rest() == ([(len(whole), data[len(whole) :])] if data[len(whole) :] else [])


@given(st.lists(st.integers(0, 30), max_size=6), st.integers(1, 7))
def test_a_line_over_the_bound_is_named_and_the_others_are_whole(lengths: list[int], size: int) -> None:
    data = b"".join(b"x" * length + b"\n" for length in lengths)
    splitter = LineSplitter(limit=10)
    runs = [run for at in range(0, len(data), size) for run in splitter.feed(data[at : at + size])]

    assert b"".join(run or b"" for _, run in runs) == b"".join(b"x" * n + b"\n" for n in lengths if n <= 10)
    assert sum(run is None for _, run in runs) == sum(n > 10 for n in lengths)
    assert splitter.consumed == len(data)


def test_what_waits_for_its_end_stays_within_the_bound() -> None:
    splitter = LineSplitter(limit=100)

    for _ in range(1000):
        assert splitter.feed(b"x" * 10) == []

    assert sum(map(len, splitter._waiting)) <= 100
    assert splitter.rest() == [(0, None)]


def test_a_line_of_a_hundred_megabytes_is_reported_and_skipped(
    write: Callable[..., Path], said: Callable[..., dict[str, Any]]
) -> None:
    path = write(said("a", None))
    offset = path.stat().st_size
    with path.open("ab") as file:
        file.truncate(offset + 100_000_000)
        file.seek(0, 2)
        file.write(b"\n")
    with path.open("ab") as file:
        file.write(b'{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"after"}}\n')

    read = read_session(path)

    assert MAX_LINE < 100_000_000
    assert [(entry.id, entry.line) for entry in read.entries] == [("a", 2), ("b", 4)]
    assert read.problems == (LineProblem(3, offset, Reason.TOO_LONG, kept=False),)


@pytest.mark.parametrize("length", [0, 1, 127, 128, 129])
def test_the_bound_itself_is_allowed(length: int) -> None:
    splitter = LineSplitter(limit=128)

    (run,) = splitter.feed(b"x" * length + b"\n")

    assert run == (0, None if length > 128 else b"x" * length + b"\n")
