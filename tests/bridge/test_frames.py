"""Frames come out as they were put in, whatever the pieces; only a long one is lost, and only that."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.bridge._frames import LIMIT, OVERSIZE, Oversize, Splitter

LINES = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=20)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    return [stream[start:end] for start, end in pairwise(edges)]


@settings(deadline=None)
@given(LINES, st.lists(st.integers(0, 400)))
def test_frames_survive_any_cut_of_the_stream(lines: list[bytes], cuts: list[int]) -> None:
    splitter = Splitter()
    stream = b"".join(line + b"\n" for line in lines)
    assert [frame for piece in pieces(stream, cuts) for frame in splitter.feed(piece)] == lines
    assert not splitter.partial


@settings(deadline=None)
@given(LINES, st.lists(st.integers(0, 400)))
def test_each_frame_over_the_limit_is_told_once_and_no_other_is_lost(lines: list[bytes], cuts: list[int]) -> None:
    splitter = Splitter(limit=10)
    stream = b"".join(line + b"\n" for line in lines)
    found = [frame for piece in pieces(stream, cuts) for frame in splitter.feed(piece)]
    assert found == [line if len(line) <= 10 else OVERSIZE for line in lines]


def test_only_the_byte_0x0a_ends_a_frame() -> None:
    text = "a\u2028b\u2029c\x85d\x0be\x0cf\rg".encode()
    assert Splitter().feed(text + b"\n") == [text]


def test_a_frame_of_eight_mebibytes_is_taken_and_one_byte_more_is_not() -> None:
    assert LIMIT == 8 * 1024 * 1024
    splitter = Splitter()
    assert splitter.feed(b"x" * LIMIT) == []
    assert splitter.feed(b"\n") == [b"x" * LIMIT]
    assert splitter.feed(b"x" * LIMIT + b"y\nz\n") == [OVERSIZE, b"z"]


def test_a_long_frame_is_told_when_it_grows_too_long_and_is_not_held() -> None:
    splitter = Splitter(limit=10)
    assert isinstance(splitter.feed(b"x" * 11)[0], Oversize)
    for _ in range(100):
        assert splitter.feed(b"x" * 1000) == []
        assert len(splitter._held) == 0
    assert splitter.partial
    assert splitter.feed(b"x\ngood\n") == [b"good"]


def test_a_frame_without_its_end_is_seen_as_partial() -> None:
    splitter = Splitter()
    splitter.feed(b"whole\nhal")
    assert splitter.partial
