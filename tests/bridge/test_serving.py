"""Serving the peer: concurrency, order, bounds, cancellation, and what a failing handler tells."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from hindbrain.bridge import Rpc, RpcError
from hindbrain.bridge._serving import AT_ONCE, After
from hindbrain.contracts import HindbrainError, InvalidValueError

if TYPE_CHECKING:
    from bridge.conftest import Connect


class Gate:
    """Handlers that wait at a gate, and a record of how they left it."""

    def __init__(self) -> None:
        self.opened, self.arrived = asyncio.Event(), asyncio.Event()
        self.left: list[str] = []

    async def __call__(self, method: str, _params: dict[str, Any]) -> Any:
        if method != "wait":
            return method
        self.arrived.set()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.left.append("cancelled")
            raise
        self.left.append("opened")
        return "through"


async def test_requests_are_carried_out_at_the_same_time(connect: Connect) -> None:
    gate = Gate()
    _, far = await connect(gate)
    far.send({"id": 1, "method": "wait"}, {"id": 2, "method": "quick"})
    assert await far.next() == {"id": 2, "result": "quick"}
    gate.opened.set()
    assert await far.next() == {"id": 1, "result": "through"}


async def test_the_peer_can_give_a_request_up(connect: Connect) -> None:
    gate = Gate()
    _, far = await connect(gate)
    far.send({"id": 1, "method": "wait"})
    await gate.arrived.wait()
    far.send({"method": "$/cancel", "params": {"id": 1}}, {"method": "$/cancel", "params": {"id": 1}})
    answer = await far.next()
    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]["code"]) == (1, Rpc.CANCELLED, "cancelled")
    assert gate.left == ["cancelled"]


async def test_a_request_given_up_in_the_same_piece_is_answered(connect: Connect) -> None:
    _, far = await connect(Gate())
    far.send({"id": 1, "method": "wait"}, {"method": "$/cancel", "params": {"id": 1}}, {"id": 2, "method": "quick"})
    assert {(await far.next())["id"] for _ in range(2)} == {1, 2}


@pytest.mark.parametrize("params", [{}, {"id": None}, {"id": [1]}, {"id": 77}, {"id": "1"}])
async def test_giving_up_what_is_not_there_changes_nothing(connect: Connect, params: dict[str, Any]) -> None:
    gate = Gate()
    _, far = await connect(gate)
    far.send({"id": 1, "method": "wait"}, {"method": "$/cancel", "params": params})
    await gate.arrived.wait()
    gate.opened.set()
    assert (await far.next())["result"] == "through"


async def test_notifications_are_carried_out_one_after_another_in_their_order(connect: Connect) -> None:
    seen: list[str] = []

    async def serve(method: str, params: dict[str, Any]) -> Any:
        if method == "end":
            return None
        seen.append(f"begin {params['n']}")
        for _ in range(5 - params["n"]):
            await asyncio.sleep(0)
        seen.append(f"end {params['n']}")
        if params["n"] == 1:
            raise ValueError
        if params["n"] == 4:
            done.set()
        return "nobody sees this"

    done = asyncio.Event()
    _, far = await connect(serve)
    far.send(*({"method": "tell", "params": {"n": n}} for n in range(5)))
    await done.wait()
    assert seen == [f"{part} {n}" for n in range(5) for part in ("begin", "end")]
    far.send({"id": 1, "method": "end"})
    assert (await far.next())["id"] == 1


async def test_a_notification_that_waits_holds_no_request_up(connect: Connect) -> None:
    gate = Gate()
    _, far = await connect(gate)
    far.send({"method": "wait"}, {"id": 1, "method": "quick"})
    assert (await far.next())["result"] == "quick"


async def test_an_id_in_use_is_refused_and_its_first_request_still_answered(connect: Connect) -> None:
    gate = Gate()
    _, far = await connect(gate)
    far.send({"id": 7, "method": "wait"}, {"id": 7, "method": "quick"}, {"id": "7", "method": "other"})
    refused, other = sorted([await far.next(), await far.next()], key=lambda answer: answer["id"] is not None)
    assert (refused["id"], refused["error"]["code"]) == (None, Rpc.INVALID)
    assert refused["error"]["data"] == {"code": "duplicate-id", "id": 7}
    assert other == {"id": "7", "result": "other"}
    gate.opened.set()
    assert await far.next() == {"id": 7, "result": "through"}
    far.send({"id": 7, "method": "again"})
    assert await far.next() == {"id": 7, "result": "again"}


async def test_a_handler_has_a_bound(connect: Connect) -> None:
    gate = Gate()
    _, far = await connect(gate, seconds=0.01)
    far.send({"method": "wait"}, {"id": 1, "method": "wait"})
    error = (await far.next())["error"]
    assert (error["code"], error["data"]["code"]) == (Rpc.TOO_LATE, "too-late")
    assert gate.left == ["cancelled", "cancelled"]


async def test_a_method_can_have_a_bound_of_its_own(connect: Connect) -> None:
    gate = Gate()
    _, far = await connect(gate, seconds=9.0, bounds={"wait": 0.01})
    far.send({"id": 1, "method": "wait"})
    assert (await far.next())["error"]["message"] == "wait took more than 0.01 s."


async def test_more_requests_than_can_be_held_are_refused(connect: Connect) -> None:
    gate = Gate()
    _, far = await connect(gate)
    far.send(*({"id": n, "method": "wait"} for n in range(AT_ONCE + 1)))
    refused = await far.next()
    assert (refused["id"], refused["error"]["code"]) == (AT_ONCE, Rpc.BUSY)
    gate.opened.set()
    assert {(await far.next())["id"] for _ in range(AT_ONCE)} == set(range(AT_ONCE))


class OddError(BaseException):
    pass


@pytest.mark.parametrize(
    "error", [KeyError("sk-secret"), SystemExit(3), OddError("sk-secret"), TimeoutError("sk-secret")]
)
async def test_of_a_strangers_error_only_its_class_is_told(connect: Connect, error: BaseException) -> None:
    async def serve(_method: str, _params: dict[str, Any]) -> Any:
        raise error

    _, far = await connect(serve)
    far.send({"id": 1, "method": "tool/call"})
    told = (await far.next())["error"]
    assert told["code"] == Rpc.INTERNAL
    assert told["data"] == {"code": "internal"}
    assert told["message"] == f"tool/call failed inside hindbrain ({type(error).__name__}); it was not done."
    ((event, figures),) = far.notes
    assert event == "failed"
    assert str(figures["where"]).startswith(f"{__name__}:")
    assert "sk-secret" not in str(figures)
    far.send({"id": 2, "method": "tool/call"})
    assert (await far.next())["id"] == 2


class UnknownError(HindbrainError):
    """As the application raises it."""

    code = "unknown-session"


async def test_our_own_errors_are_told_with_their_sentence_and_code(connect: Connect) -> None:
    async def serve(method: str, _params: dict[str, Any]) -> Any:
        if method == "moved":
            raise RpcError(Rpc.UNKNOWN_SESSION, "There is no such session.", code="unknown-session")
        if method == "session":
            raise UnknownError("This session was not opened.")
        raise InvalidValueError("bank", "a name")

    _, far = await connect(serve)
    far.send({"id": 1, "method": "moved"})
    assert (await far.next())["error"] == {
        "code": -32802,
        "message": "There is no such session.",
        "data": {"code": "unknown-session"},
    }
    far.send({"id": 3, "method": "session"})
    assert (await far.next())["error"]["code"] == Rpc.UNKNOWN_SESSION
    far.send({"id": 2, "method": "value"})
    assert (await far.next())["error"] == {
        "code": -32000,
        "message": "bank is refused: expected a name.",
        "data": {"code": "invalid-value"},
    }


@pytest.mark.parametrize("result", [object(), {"x": float("nan")}, {1: {2}}], ids=["object", "nan", "set"])
async def test_a_result_that_is_no_json_is_an_error(connect: Connect, result: Any) -> None:
    async def serve(_method: str, _params: dict[str, Any]) -> Any:
        return result

    _, far = await connect(serve)
    far.send({"id": 1, "method": "m"})
    assert (await far.next())["error"]["code"] == Rpc.INTERNAL


async def test_an_answer_that_does_not_fit_into_a_frame_is_replaced_by_one_that_says_so(connect: Connect) -> None:
    async def serve(_method: str, params: dict[str, Any]) -> Any:
        return "x" * params["n"]

    _, far = await connect(serve, limit=1000)
    far.send({"id": 1, "method": "m", "params": {"n": 1000}}, {"id": 2, "method": "m", "params": {"n": 1}})
    answers = {answer["id"]: answer for answer in [await far.next(), await far.next()]}
    assert answers[1]["error"]["code"] == Rpc.TOO_LARGE
    assert answers[2]["result"] == "x"


async def test_nothing_is_kept_of_what_was_answered(connect: Connect) -> None:
    connection, far = await connect()
    for number in range(50):
        far.send({"id": number, "method": "m"})
        await far.next()
        await asyncio.sleep(0)
    assert (len(connection._serving._handlers), len(connection._serving._answers), len(connection._calls)) == (0, 0, 0)


async def test_what_comes_after_an_answer_happens_after_it(connect: Connect) -> None:
    async def serve(_method: str, _params: dict[str, Any]) -> Any:
        return After("answer", lambda: connection.notify("then", {}))

    connection, far = await connect(serve)
    far.send({"id": 1, "method": "m"})
    assert [await far.next(), (await far.next())["method"]] == [{"id": 1, "result": "answer"}, "then"]


# The end


async def test_what_is_being_served_may_end_and_is_answered_when_the_peer_has_no_more_to_say(connect: Connect) -> None:
    gate = Gate()
    _, far = await connect(gate, grace=9.0)
    far.send({"id": 1, "method": "wait"})
    await gate.arrived.wait()
    far.writer.write_eof()
    await far.closing.wait()
    for _ in range(50):
        await asyncio.sleep(0)
    gate.opened.set()
    assert (await far.next())["result"] == "through"
    await far.running


async def test_what_does_not_end_in_time_is_cancelled_and_told(connect: Connect) -> None:
    gate = Gate()
    _, far = await connect(gate, grace=0.01)
    far.send({"id": 1, "method": "wait"}, {"method": "wait"})
    await gate.arrived.wait()
    far.writer.write_eof()
    assert (await far.next())["error"]["code"] == Rpc.CANCELLED
    await far.running
    assert gate.left == ["cancelled", "cancelled"]


async def test_a_handler_that_will_not_be_cancelled_is_left_behind(connect: Connect) -> None:
    opened, arrived = asyncio.Event(), asyncio.Event()

    async def serve(_method: str, _params: dict[str, Any]) -> Any:
        arrived.set()
        while not opened.is_set():
            try:
                await opened.wait()
            except asyncio.CancelledError:
                continue

    _, far = await connect(serve)
    far.send({"id": 1, "method": "m"})
    await arrived.wait()
    await far.hang_up()
    opened.set()
