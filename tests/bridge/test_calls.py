"""Calling the peer: answers, deadlines, cancellation, and the end of the connection."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from hindbrain.bridge import ConnectionLostError, DeadlineError, Rpc, RpcError

if TYPE_CHECKING:
    from bridge.conftest import Connect


async def test_a_call_gets_the_answer_with_its_id(connect: Connect) -> None:
    connection, far = await connect()
    calls = [asyncio.create_task(connection.call("host/usage", {"n": n}, timeout=9)) for n in range(3)]
    asked = [await far.next() for _ in calls]
    far.send(*({"id": message["id"], "result": message["params"]["n"]} for message in reversed(asked)))
    assert await asyncio.gather(*calls) == [0, 1, 2]
    assert {message["method"] for message in asked} == {"host/usage"}


async def test_an_answer_that_is_an_error_is_raised_with_number_code_and_data(connect: Connect) -> None:
    connection, far = await connect()
    call = asyncio.create_task(connection.call("host/append", {}, timeout=9))
    number = (await far.next())["id"]
    error = {"code": -32805, "message": "The branch moved.", "data": {"code": "branch-moved", "leaf": "a"}}
    far.send({"id": number, "error": error})
    with pytest.raises(RpcError) as caught:
        await call
    assert (caught.value.rpc, caught.value.code, caught.value.data["leaf"]) == (Rpc.BRANCH_MOVED, "branch-moved", "a")


async def test_a_call_without_an_answer_ends_at_its_deadline_and_is_given_up(connect: Connect) -> None:
    connection, far = await connect()
    with pytest.raises(DeadlineError, match=r"host/confirm had no answer within 0\.01 s"):
        await connection.call("host/confirm", {}, timeout=0.01)
    number = (await far.next())["id"]
    assert await far.next() == {"method": "$/cancel", "params": {"id": number}}


async def test_a_cancelled_caller_gives_its_call_up(connect: Connect) -> None:
    connection, far = await connect()
    call = asyncio.create_task(connection.call("host/confirm", {}, timeout=9))
    number = (await far.next())["id"]
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await far.next() == {"method": "$/cancel", "params": {"id": number}}


async def test_an_answer_that_comes_too_late_changes_nothing(connect: Connect) -> None:
    connection, far = await connect()
    with pytest.raises(DeadlineError):
        await connection.call("host/confirm", {}, timeout=0.01)
    far.send({"id": (await far.next())["id"], "result": "late"}, {"id": 999, "result": 1}, {"id": None, "error": {}})
    await far.next()
    call = asyncio.create_task(connection.call("host/confirm", {}, timeout=9))
    far.send({"id": (await far.next())["id"], "result": "in time"})
    assert await call == "in time"
    assert far.events == ["stray-answer"] * 3


async def test_an_answered_call_is_not_given_up(connect: Connect) -> None:
    connection, far = await connect()
    call = asyncio.create_task(connection.call("a", {}, timeout=9))
    far.send({"id": (await far.next())["id"], "result": 1})
    await call
    connection.notify("b", {})
    assert (await far.next())["method"] == "b"


@pytest.mark.parametrize("who", ["host", "we"])
async def test_the_end_of_the_connection_fails_the_calls_that_wait(connect: Connect, who: str) -> None:
    connection, far = await connect()
    calls = [asyncio.create_task(connection.call("host/usage", {}, timeout=9)) for _ in range(2)]
    await far.next()
    if who == "host":
        far.writer.close()
    else:
        connection.close()
    for call in calls:
        with pytest.raises(ConnectionLostError):
            await call
    await far.running
    with pytest.raises(ConnectionLostError):
        await connection.call("host/usage", {}, timeout=9)
    assert not connection.notify("host/status", {})


async def test_a_call_that_does_not_fit_into_a_frame_is_not_sent(connect: Connect) -> None:
    connection, far = await connect(limit=1000)
    with pytest.raises(RpcError) as caught:
        await connection.call("a", {"text": "x" * 1000}, timeout=9)
    assert caught.value.rpc == Rpc.TOO_LARGE
    assert not connection.notify("a", {"text": "x" * 1000})
    connection.notify("b", {})
    assert (await far.next())["method"] == "b"


async def test_calls_and_requests_cross(connect: Connect) -> None:
    async def serve(_method: str, params: dict[str, Any]) -> Any:
        asked = await connection.call("host/select", {"for": params["n"]}, timeout=9)
        return asked["index"] + params["n"]

    connection, far = await connect(serve)
    far.send(*({"id": n, "method": "command/run", "params": {"n": n}} for n in range(5)))
    asked = [await far.next() for _ in range(5)]
    far.send(*({"id": message["id"], "result": {"index": 10}} for message in asked))
    answers = [await far.next() for _ in range(5)]
    assert {answer["id"]: answer["result"] for answer in answers} == {n: 10 + n for n in range(5)}
