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
