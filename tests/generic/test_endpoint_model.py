"""A chat model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from hindbrain.contracts import Endpoint, EnvToken, HindbrainError, Message, Model, TextPart, Tool, ToolCallPart
from hindbrain.contracts.testing import planted_secrets
from hindbrain.generic import EndpointModel, EndpointModelError, Layer, SettingsError, merge, open_model

Answer = Callable[[httpx.Request], httpx.Response]
USER = Message(role="user", parts=(TextPart("What was said?"),))
TOOL = Tool(name="record", description="Record.", parameters={"type": "object", "properties": {}})


def model(answer: Answer, **kw: Any) -> EndpointModel:
    endpoint = Endpoint.parse("http://127.0.0.1:1/v1")
    return EndpointModel(endpoint, "m", transport=httpx.MockTransport(answer), **kw)


def completion(message: dict[str, Any], stop: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": stop}], **more}


def answering(*answers: httpx.Response) -> tuple[Answer, list[dict[str, Any]]]:
    """Gives these one after the other, and keeps what was asked."""
    asked: list[dict[str, Any]] = []
    left = list(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        return left.pop(0)

    return answer, asked


def said(text: str | None = "Noted.", **more: Any) -> httpx.Response:
    return httpx.Response(200, json=completion({"role": "assistant", "content": text}, **more))


async def test_a_conversation_with_a_tool_goes_out_and_comes_back() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "record", "arguments": '{"n": 1}'}}
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "cost": 0.02}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer, asked = answering(httpx.Response(200, json=completion(message, "tool_calls", usage=usage, model="m-1")))
    asker: Model = model(answer)
    messages = [
        Message(role="system", parts=(TextPart("Be brief."),)),
        USER,
        Message(role="assistant", parts=(TextPart("First."), ToolCallPart("c0", "record", {"n": 0}))),
        Message(role="toolResult", parts=(TextPart("done"),), tool_call_id="c0", tool_name="record"),
    ]
    made = await asker.complete(messages, tools=[TOOL], max_tokens=100)
    assert made.message.parts == (ToolCallPart("c1", "record", {"n": 1}),)
    assert (made.message.stop_reason, made.message.model, made.failed) == ("toolUse", "m-1", False)
    assert (made.input_tokens, made.output_tokens, made.cost_usd) == (12, 3, 0.02)
    (body,) = asked
    assert (body["model"], body["max_tokens"]) == ("m", 100)
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What was said?"},
        {
            "role": "assistant",
            "content": "First.",
            "tool_calls": [{"id": "c0", "type": "function", "function": {"name": "record", "arguments": '{"n": 0}'}}],
        },
        {"role": "tool", "tool_call_id": "c0", "content": "done"},
    ]
    function = {"name": "record", "description": "Record.", "parameters": {"type": "object", "properties": {}}}
    assert body["tools"] == [{"type": "function", "function": function}]
    assert "reasoning_effort" not in body


async def test_what_is_not_asked_for_is_not_sent() -> None:
    answer, asked = answering(said())
    await model(answer).complete([USER])
    assert set(asked[0]) == {"model", "messages"}
    answer, asked = answering(said())
    await model(answer, thinking="low").complete([USER])
    assert asked[0]["reasoning_effort"] == "low"


async def test_no_secret_of_a_session_leaves() -> None:
    for secret in planted_secrets():
        answer, asked = answering(said())
        messages = [
            Message(role="user", parts=(TextPart(secret.text),)),
            Message(role="assistant", parts=(ToolCallPart("c", "record", {"text": secret.text}),)),
            Message(role="toolResult", parts=(TextPart(secret.text),), tool_call_id="c"),
        ]
        await model(answer).complete(messages)
        assert secret.core not in json.dumps(asked, ensure_ascii=False), secret.family


async def test_the_key_goes_in_the_header_and_a_redirect_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k-1secret")
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(307, headers={"location": "https://elsewhere.example/v1/chat/completions"})

    with pytest.raises(EndpointModelError) as caught:
        await model(answer, token=EnvToken("MY_KEY")).complete([USER])
    assert [str(each.url) for each in seen] == ["http://127.0.0.1:1/v1/chat/completions"]
    assert seen[0].headers["authorization"] == "Bearer k-1secret"
    assert "k-1secret" not in str(caught.value)


async def test_a_key_that_is_named_and_not_there_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    answer, asked = answering(said())
    with pytest.raises(HindbrainError):
        await model(answer, token=EnvToken("MY_KEY")).complete([USER])
    assert asked == []


@pytest.mark.parametrize(
    ("status", "text", "code", "retryable"),
    [
        (500, "Context size has been exceeded.", "model-too-long", False),
        (400, "maximum context length is 8192 tokens", "model-too-long", False),
        (413, "Payload Too Large", "model-too-long", False),
        (401, "bad key k-1", "model-auth", False),
        (403, "forbidden here", "model-auth", False),
        (404, "no such model", "model-refused", False),
        (429, "rate limit exceeded", "model-refused", True),
        (408, "slow", "model-refused", True),
        (503, "busy", "model-refused", True),
        (500, "oops", "model-refused", True),
    ],
)
async def test_a_refusal_is_told_by_its_kind_and_not_by_its_words(
    status: int, text: str, code: str, retryable: bool
) -> None:
    with pytest.raises(EndpointModelError) as caught:
        await model(lambda _request: httpx.Response(status, text=text)).complete([USER])
    assert (caught.value.code, caught.value.retryable) == (code, retryable)
    assert text not in str(caught.value)


async def test_a_server_that_cannot_be_reached_may_be_in_a_moment() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("10.0.0.7 refused", request=request)

    with pytest.raises(EndpointModelError) as caught:
        await model(answer).complete([USER])
    assert (caught.value.code, caught.value.retryable) == ("model-unreachable", True)
    assert "10.0.0.7" not in str(caught.value)


async def test_an_answer_that_takes_too_long_is_given_up() -> None:
    async def answer(_request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    asker = EndpointModel(
        Endpoint.parse("http://127.0.0.1:1/v1"), "m", transport=httpx.MockTransport(answer), deadline=0.01
    )
    with pytest.raises(EndpointModelError) as caught:
        await asker.complete([USER])
    assert (caught.value.code, caught.value.retryable) == ("model-unreachable", False)
    await asker.close()
    await asker.close()


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"tool_calls": [{}]}}]}', b"<html>"]
)
async def test_an_answer_of_another_shape_is_an_error(body: bytes) -> None:
    with pytest.raises(EndpointModelError) as caught:
        await model(lambda _request: httpx.Response(200, content=body)).complete([USER])
    assert (caught.value.code, caught.value.retryable) == ("model-answer", False)


async def test_content_that_is_null_is_an_empty_answer() -> None:
    answer, _asked = answering(said(None))
    made = await model(answer).complete([USER])
    assert (made.message.parts, made.message.stop_reason) == ((), "stop")
    assert (made.input_tokens, made.cost_usd) == (None, None)


@pytest.mark.parametrize(
    ("stop", "told"), [("length", "length"), ("content_filter", "error"), (None, "stop"), ("other", "stop")]
)
async def test_why_it_stopped_is_told_in_our_words(stop: str | None, told: str) -> None:
    answer, _asked = answering(httpx.Response(200, json=completion({"role": "assistant", "content": "x"}, stop)))
    assert (await model(answer).complete([USER])).message.stop_reason == told


@pytest.mark.parametrize(
    ("arguments", "read"),
    [("{not json", {}), ("[1]", {}), ("", {}), (None, {}), ({"n": 1}, {"n": 1}), ('{"n":1}', {"n": 1})],
)
async def test_arguments_that_are_no_object_are_none(arguments: Any, read: dict[str, Any]) -> None:
    call = {"function": {"name": "record", "arguments": arguments}}
    answer, _asked = answering(
        httpx.Response(200, json=completion({"role": "assistant", "tool_calls": [call]}, "tool_calls"))
    )
    made = await model(answer).complete([USER])
    assert made.message.parts == (ToolCallPart("call-0", "record", read),)


async def test_a_server_that_has_another_word_for_the_limit_is_asked_with_that_from_then_on() -> None:
    refusal = httpx.Response(400, text="Unsupported parameter: use 'max_completion_tokens' instead.")
    answer, asked = answering(refusal, said(), said())
    asker = model(answer)
    await asker.complete([USER], max_tokens=7)
    await asker.complete([USER], max_tokens=8)
    assert [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in asked] == [
        (7, None),
        (None, 7),
        (None, 8),
    ]
    assert asker.name == "m@http://127.0.0.1:1/v1"


def settings(**endpoint: Any) -> Any:
    return merge([Layer(origin="file", values={"observe": {"endpoint": endpoint}})])


async def test_the_settings_name_the_model_or_there_is_none() -> None:
    async with open_model(settings(baseUrl="http://localhost:1/v1", model="m", window=32_000)) as source:
        worker = await source.resolve()
        assert worker is not None
        assert (worker.name, worker.window, worker.max_tokens) == ("m", 32_000, None)
    for half in ({}, {"model": "m"}, {"baseUrl": "http://localhost:1/v1"}):
        async with open_model(settings(**half)) as source:
            assert await source.resolve() is None


@pytest.mark.parametrize("wrong", [{"baseUrl": "http://models.example"}, {"apiKeyRef": "sk-ant-abcdefghijklmnopqrst"}])
async def test_an_address_or_a_key_that_cannot_be_read_is_no_other(wrong: dict[str, Any]) -> None:
    below = Layer(
        origin="global file", values={"observe": {"endpoint": {"baseUrl": "http://localhost:1/v1", "model": "m"}}}
    )
    made = merge([below, Layer(origin="file", values={"observe": {"endpoint": wrong}})])
    with pytest.raises(SettingsError) as caught:
        async with open_model(made):
            raise AssertionError
    assert f"observe.endpoint.{next(iter(wrong))}" in str(caught.value)
    assert "sk-ant" not in str(caught.value)
