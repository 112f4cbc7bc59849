"""Any bytes are some message, and none of them an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.bridge import Rpc, RpcError
from hindbrain.bridge import _messages as wire
from hindbrain.bridge._messages import Answer, Malformed, Message, Notice, Request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["code", "message", "data"]), inner),
    max_leaves=8,
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | JSON},
    optional=dict.fromkeys(("id", "method", "params", "result", "error"), JSON),
)


def read(value: Any) -> Message:
    return wire.read(json.dumps(value).encode())


def refusal(value: Any) -> tuple[str, Any]:
    message = read({"jsonrpc": "2.0", **value}) if isinstance(value, dict) else read(value)
    assert isinstance(message, Malformed), message
    return message.error.code, message.id


@settings(deadline=None)
@given(st.binary())
def test_bytes_that_are_no_json_are_malformed(frame: bytes) -> None:
    assert isinstance(wire.read(frame), Malformed)


@settings(deadline=None)
@given(MESSAGES | JSON)
def test_any_json_is_some_message(value: Any) -> None:
    assert isinstance(read(value), (Request, Notice, Answer, Malformed))


def test_the_four_kinds_of_message_are_told_apart() -> None:
    assert read({"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"a": 1}}) == Request(1, "m", {"a": 1})
    assert read({"jsonrpc": "2.0", "id": "x", "method": "m"}) == Request("x", "m", {})
    assert read({"jsonrpc": "2.0", "method": "m"}) == Notice("m", {})
    assert read({"jsonrpc": "2.0", "id": 1, "result": None}) == Answer(1, None, None)


@pytest.mark.parametrize(
    "frame",
    [b"", b"{", b"\xff\xfe", b'{"a": NaN}', b"[" * 100_000, b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b"}"],
    ids=["empty", "cut", "not-utf8", "nan", "deep", "huge-int"],
)
def test_what_no_json_reader_should_take_is_refused(frame: bytes) -> None:
    message = wire.read(frame)
    assert isinstance(message, Malformed)
    assert (message.error.rpc, message.error.code) == (Rpc.PARSE, "not-json")


def test_a_batch_is_refused_as_one() -> None:
    assert refusal([{"jsonrpc": "2.0", "id": 1, "method": "m"}]) == ("batch", None)
    assert refusal([]) == ("batch", None)


@pytest.mark.parametrize("number", [None, True, 1.0, [], {}])
def test_an_id_is_a_whole_number_or_a_text(number: Any) -> None:
    assert refusal({"id": number, "method": "m"}) == ("not-a-message", None)


@pytest.mark.parametrize(
    "value",
    [
        {"id": 1, "method": 7},
        {"id": 1},
        {"id": 1, "result": 1, "error": {}},
        {"result": 1},
        {"jsonrpc": "1.0", "id": 1, "method": "m"},
    ],
)
def test_what_is_neither_request_nor_answer_is_refused(value: dict[str, Any]) -> None:
    assert refusal(value)[0] == "not-a-message"


def test_parameters_come_by_name_and_the_request_is_told_so_under_its_id() -> None:
    assert refusal({"id": 4, "method": "m", "params": [1]}) == ("params", 4)
    assert refusal({"method": "m", "params": None}) == ("params", None)


def test_an_error_that_is_hardly_one_is_read_all_the_same() -> None:
    for error in (None, "no", {}, {"code": "x", "message": 3, "data": []}):
        answer = read({"jsonrpc": "2.0", "id": 1, "error": error})
        assert isinstance(answer, Answer)
        assert answer.error is not None
        assert (answer.error.rpc, answer.error.code) == (Rpc.INTERNAL, "remote")


def test_an_error_with_a_number_alone_gets_the_word_for_it() -> None:
    answer = read({"jsonrpc": "2.0", "id": 1, "error": {"code": -32805, "message": "It moved."}})
    assert isinstance(answer, Answer)
    assert answer.error is not None
    assert answer.error.code == "branch-moved"


def test_an_error_survives_the_wire() -> None:
    sent = RpcError(Rpc.BRANCH_MOVED, "The branch moved.", code="branch-moved", data={"leaf": "a1"})
    answer = wire.read(wire.failure(7, sent))
    assert isinstance(answer, Answer)
    assert answer.error is not None
    assert (answer.id, answer.error.wire()) == (7, sent.wire())


@settings(deadline=None)
@given(st.dictionaries(st.text(), JSON))
def test_what_is_written_is_one_line_of_utf8_that_reads_the_same(params: dict[str, Any]) -> None:
    try:
        frame = wire.request(1, "m", params)
    except ValueError:  # a float that JSON has no word for
        return
    assert frame.count(b"\n") == 1
    assert wire.read(frame) == Request(1, "m", params)


def test_half_a_surrogate_pair_travels_as_an_escape() -> None:
    frame = wire.notice("m", {"text": "\ud83d"})
    assert b"\\ud83d" in frame
    assert wire.read(frame) == Notice("m", {"text": "\ud83d"})


def test_text_is_not_blown_up_by_escapes() -> None:
    assert "жук".encode() in wire.notice("m", {"text": "жук"})
