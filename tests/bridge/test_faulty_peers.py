"""Peers that send nonsense, too much, or do not read: each piece is told, no good frame is lost, nothing grows."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.bridge import Connection, DeadlineError, Rpc
from hindbrain.bridge._frames import LIMIT

if TYPE_CHECKING:
    from bridge.conftest import Connect

ASK = b'{"jsonrpc":"2.0","id":%d,"method":"m"}\n'


@pytest.mark.parametrize(
    ("frame", "code", "stable", "number"),
    [
        (b"nonsense", Rpc.PARSE, "not-json", None),
        (b"\xff\xfe\x00", Rpc.PARSE, "not-json", None),
        (b'{"jsonrpc":"2.0","id":5,"meth', Rpc.PARSE, "not-json", None),
        (b'[{"jsonrpc":"2.0","id":5,"method":"m"}]', Rpc.INVALID, "batch", None),
        (b'{"id":5,"method":"m"}', Rpc.INVALID, "not-a-message", None),
        (b'{"jsonrpc":"2.0","id":5,"method":"m","params":[1]}', Rpc.PARAMS, "params", 5),
        (b"x" * (LIMIT + 1), Rpc.TOO_LARGE, "frame-too-large", None),
    ],
    ids=["nonsense", "not-utf8", "cut", "batch", "no-version", "by-position", "oversize"],
)
async def test_a_bad_frame_is_answered_and_the_next_is_read(
    connect: Connect, frame: bytes, code: int, stable: str, number: int | None
) -> None:
    _, far = await connect()
    far.writer.write(frame + b"\n" + ASK % 6)
    refused = await far.next()
    assert (refused["id"], refused["error"]["code"], refused["error"]["data"]["code"]) == (number, code, stable)
    assert await far.next() == {"id": 6, "result": {}}
    assert far.notes == [("refused", {"code": stable})]


async def test_empty_lines_are_passed_over_in_silence(connect: Connect) -> None:
    _, far = await connect()
    far.writer.write(b"\n\r\n  \n" + ASK % 1 + b"\n")
    assert await far.next() == {"id": 1, "result": {}}
    assert far.notes == []


async def test_a_frame_may_come_byte_by_byte(connect: Connect) -> None:
    _, far = await connect()
    for byte in ASK % 1:
        far.writer.write(bytes([byte]))
        await asyncio.sleep(0)
    assert await far.next() == {"id": 1, "result": {}}


async def test_a_frame_that_is_cut_off_by_the_end_is_not_carried_out(connect: Connect) -> None:
    _, far = await connect()
    far.writer.write((ASK % 1)[:-1])
    far.writer.write_eof()
    await far.running
    assert await far.reader.read() == b""
    assert far.events == ["frame-cut-off"]


class Broken:
    """A reader whose stream breaks."""

    async def read(self, _n: int, /) -> bytes:
        raise ConnectionResetError


class Sink:
    """A writer that keeps everything."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    async def drain(self) -> None:
        """Be done."""

    def close(self) -> None:
        """Be done."""


async def nothing(_method: str, _params: dict[str, Any]) -> Any:
    return {}


async def test_a_stream_that_breaks_is_the_end() -> None:
    events: list[str] = []
    await Connection(Broken(), Sink(), nothing, note=lambda event, **_: events.append(event)).run()
    assert events == ["reading-failed"]


class Pieces:
    """A reader that gives these pieces and then the end."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    async def read(self, _n: int, /) -> bytes:
        await asyncio.sleep(0)
        return self.pieces.pop(0) if self.pieces else b""


LINES = st.binary(max_size=60).map(lambda line: line.replace(b"\n", b"") + b"\n") | st.sampled_from(
    [
        b"[]\n",
        b'{"jsonrpc":"2.0","id":1,"result":7}\n',
        b'{"jsonrpc":"2.0","id":null,"error":{}}\n',
        b'{"jsonrpc":"2.0","method":"n"}\n',
        b'{"jsonrpc":"2.0","method":"$/cancel","params":{"id":99}}\n',
        b"x" * 500 + b"\n",
    ]
)


@settings(deadline=None)
@given(st.lists(LINES | st.none(), max_size=30), st.lists(st.integers(0, 2000), max_size=30))
def test_whatever_a_peer_sends_no_good_request_is_lost(lines: list[bytes | None], cuts: list[int]) -> None:
    stream = b"".join(ASK % n if line is None else line for n, line in enumerate(lines, 1000))
    edges = [0, *sorted({min(cut, len(stream)) for cut in cuts}), len(stream)]
    pieces = [piece for start, end in pairwise(edges) if (piece := stream[start:end])]
    sink = Sink()
    asyncio.run(Connection(Pieces(pieces), sink, nothing, limit=400).run(grace=9.0))
    answers = [json.loads(line) for line in sink.data.splitlines()]
    answered = sorted(answer["id"] for answer in answers if "result" in answer)
    assert answered == [n for n, line in enumerate(lines, 1000) if line is None]


# A peer that does not read


class Stuck:
    """A writer whose other side takes nothing until it is let go."""

    def __init__(self) -> None:
        self.released = asyncio.Event()
        self.data = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        self.data += data

    async def drain(self) -> None:
        await self.released.wait()

    def close(self) -> None:
        self.closed = True


class Open:
    """A reader whose peer says nothing more after these bytes."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data
        self.asked = 0

    async def read(self, n: int, /) -> bytes:
        self.asked += 1
        if not self.data:
            await asyncio.Event().wait()
        piece, self.data = self.data[:n], self.data[n:]
        return piece


async def turns(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_what_may_wait_for_a_peer_that_does_not_read_is_bounded() -> None:
    stuck = Stuck()
    connection = Connection(Open(), stuck, nothing, bound=1000)
    running = asyncio.create_task(connection.run())
    told = [connection.notify("host/status", {"text": "x" * 100}) for _ in range(100)]
    assert told == sorted(told, reverse=True)
    assert 5 < sum(told) < 10
    calls = [asyncio.create_task(connection.call("a", {"text": "x" * 100}, timeout=9)) for _ in range(20)]
    await turns(20)
    assert connection._outbox._size < 1000 + 200
    stuck.released.set()
    await turns(100)
    assert stuck.data.count(b'"id":') == 20
    connection.close()
    await asyncio.gather(*calls, return_exceptions=True)
    await running


async def test_answers_that_wait_at_the_end_are_written_when_the_peer_reads_again() -> None:
    stuck = Stuck()
    running = asyncio.create_task(Connection(Pieces([ASK % 1 + ASK % 2]), stuck, nothing).run(grace=9.0))
    await turns(50)
    assert stuck.data.count(b"result") == 1
    stuck.released.set()
    await running
    assert stuck.data.count(b"result") == 2


async def test_a_call_waits_for_room_no_longer_than_its_deadline() -> None:
    connection = Connection(Open(), Stuck(), nothing, bound=10)
    running = asyncio.create_task(connection.run())
    connection.notify("host/status", {"text": "fills it"})
    with pytest.raises(DeadlineError):
        await connection.call("a", {}, timeout=0.01)
    connection.close()
    await running


async def test_a_peer_that_leaves_a_frame_unread_for_too_long_counts_as_gone() -> None:
    stuck = Stuck()
    connection = Connection(Open(ASK % 1), stuck, nothing, patience=0.01)
    await connection.run()
    assert stuck.closed


async def test_answers_that_can_no_longer_be_given_are_let_go() -> None:
    events: list[str] = []
    asked = b"".join(ASK % number for number in range(5))
    connection = Connection(
        Open(asked), Stuck(), nothing, bound=1, patience=0.01, note=lambda event, **_: events.append(event)
    )
    await connection.run()
    assert events == ["answer-lost"] * 4
    assert connection._serving._answers == {}


async def test_a_peer_that_asks_and_does_not_read_is_not_read_for_ever() -> None:
    reader = Open(b"nonsense\n" * 400_000)
    connection = Connection(reader, Stuck(), nothing, bound=1000, patience=9.0)
    running = asyncio.create_task(connection.run())
    await turns(2000)
    assert reader.asked == 1
    assert connection._outbox._size < 1000 + 200
    connection.close()
    await running
