"""The session's model through the host."""

from __future__ import annotations

from typing import Any

import pytest

from hindbrain.contracts import Message, Model, TextPart, Tool, ToolCallPart
from hindbrain.generic.sidecar import PeerModel
from hindbrain.generic.sidecar._model import NoCompletionError

CALL = {"type": "toolCall", "id": "c1", "name": "record", "arguments": {"n": 1}}


async def test_a_question_goes_to_the_host_and_its_answer_comes_back(host: Any) -> None:
    raw = {"role": "assistant", "content": [{"type": "text", "text": "Noted."}, CALL], "stopReason": "toolUse"}
    host.answers["host/complete"] = {"message": raw, "usage": {"input": 12, "output": 3}}
    model: Model = PeerModel(host, "s1")
    messages = [
        Message(role="system", parts=(TextPart("Be brief."),)),
        Message(role="user", parts=(TextPart("What was said?"),)),
        Message(role="assistant", parts=(ToolCallPart("c0", "record", {"n": 0}),)),
        Message(role="toolResult", parts=(TextPart("done"),), tool_call_id="c0", tool_name="record"),
    ]
    tool = Tool(name="record", description="Record.", parameters={"type": "object"})
    answer = await model.complete(messages, tools=[tool], max_tokens=100)
    assert (answer.message.text, answer.input_tokens, answer.output_tokens) == ("Noted.", 12, 3)
    assert answer.message.parts[1] == ToolCallPart("c1", "record", {"n": 1})
    ((method, asked),) = host.calls
    assert (method, asked["session"], asked["system"], asked["maxTokens"]) == ("host/complete", "s1", "Be brief.", 100)
    assert [message["role"] for message in asked["messages"]] == ["user", "assistant", "toolResult"]
    assert asked["messages"][2]["toolCallId"] == "c0"
    assert asked["tools"][0]["parameters"] == {"type": "object"}


@pytest.mark.parametrize("answer", [None, {}, {"message": "text"}, {"message": {"content": "no role"}}])
async def test_an_answer_that_is_no_message_is_an_error(host: Any, answer: Any) -> None:
    host.answers["host/complete"] = answer
    with pytest.raises(NoCompletionError):
        await PeerModel(host, "s1").complete([Message(role="user", parts=(TextPart("hello"),))])


def said(**more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": "Noted."}], "stopReason": "stop", **more}


USER = Message(role="user", parts=(TextPart("hello"),))


async def test_another_model_and_its_thinking_are_asked_for_by_name(host: Any) -> None:
    host.answers["host/complete"] = {"message": said()}
    await PeerModel(host, "s1", {"provider": "p", "id": "small"}, "low").complete([USER])
    ((_method, asked),) = host.calls
    assert (asked["model"], asked["thinking"]) == ({"provider": "p", "id": "small"}, "low")


@pytest.mark.req("S4-settings-056")
async def test_thinking_that_is_off_asks_for_none(host: Any) -> None:
    host.answers["host/complete"] = {"message": said()}
    await PeerModel(host, "s1", None, "off").complete([USER])
    assert host.calls[0][1]["thinking"] is None


async def test_what_an_answer_cost_is_told(host: Any) -> None:
    usage = {"input": 12, "output": 3, "cost": {"input": 0.01, "total": 0.0125}}
    host.answers["host/complete"] = {"message": said(), "usage": usage}
    answer = await PeerModel(host, "s1").complete([USER])
    assert (answer.cost_usd, answer.failed, answer.retryable) == (0.0125, False, False)
    for cost in (None, {}, {"total": "1"}, {"total": True}):
        host.answers["host/complete"] = {"message": said(), "usage": {"cost": cost}}
        assert (await PeerModel(host, "s1").complete([USER])).cost_usd is None


@pytest.mark.parametrize(
    ("told", "passing"),
    [
        ("503 Service Unavailable", True),
        ("429 rate limit reached", True),
        ("Overloaded", True),
        ("fetch failed", True),
        ("500 Context size has been exceeded.", False),
        ("429 quota exceeded", False),
        ("401 Unauthorized", False),
        ("invalid api key", False),
        ("something else", False),
        (None, False),
    ],
)
async def test_a_failed_answer_says_whether_it_may_pass(host: Any, told: str | None, passing: bool) -> None:
    host.answers["host/complete"] = {"message": said(content=[], stopReason="error", errorMessage=told)}
    answer = await PeerModel(host, "s1").complete([USER])
    assert (answer.failed, answer.retryable) == (True, passing)


async def test_what_a_model_said_goes_back_to_it_as_the_host_spelt_it(host: Any) -> None:
    raw = said(
        content=[{"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}, CALL],
        stopReason="toolUse",
        provider="p",
        usage={"input": 1},
    )
    host.answers["host/complete"] = [{"message": raw}, {"message": said()}, {"message": said()}]
    model = PeerModel(host, "s1")
    first = (await model.complete([USER])).message
    result = Message(role="toolResult", parts=(TextPart("done"),), tool_call_id="c1", tool_name="record")
    await model.complete([USER, first, result])
    assert host.calls[1][1]["messages"][1] == raw
    await model.complete([USER])
    assert model._said[0][0] is not first
