"""A chat model behind an OpenAI-compatible endpoint, under the usual address and token policy.

Source: the wire format of the OpenAI chat completions route; spec/observe.md section 10 (I-2, I-16).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hindbrain.contracts import (
    Completion,
    Endpoint,
    HindbrainError,
    JsonValue,
    Message,
    NoAuth,
    Part,
    TextPart,
    TokenPolicy,
    Tool,
    ToolCallPart,
    scrub,
)
from hindbrain.generic._chat_answer import Answer, read_answer
from hindbrain.generic._poster import NoAnswerError, Poster

if TYPE_CHECKING:
    import httpx

_OK, _BAD, _SERVER = 200, 400, 500
_REFUSED = frozenset({401, 403})
_PASSING = frozenset({408, 425, 429})
_TOO_LONG = re.compile(rb"context|too (?:long|large)|exceed", re.IGNORECASE)
_OTHER_NAME = b"max_completion_tokens"
_STOPS = {"tool_calls": "toolUse", "function_call": "toolUse", "length": "length", "content_filter": "error"}


class EndpointModelError(HindbrainError):
    """The model gave no answer. Nothing of what it was asked, or of what came back, is repeated.

    Attributes:
        retryable: whether the same request may succeed in a moment.
    """

    def __init__(self, code: str, why: str, *, retryable: bool = False) -> None:
        super().__init__(f"The model gave no answer: {why}.", next_step="Check observe.endpoint.* and the server.")
        self.code = code  # type: ignore[misc]  # one class for the few ways in which a model does not answer
        self.retryable = retryable


class EndpointModel:
    """Implements the ``Model`` port over ``POST /chat/completions``.

    All texts are scrubbed before they leave: what a tool printed may hold anything.

    Args:
        endpoint: the address up to and with ``/v1``.
        model: the model's name there.
        token: where the key comes from; read at each request.
        thinking: the reasoning effort asked for; None asks for none, and such servers as know the word only take it.
        deadline: seconds one answer may take in all.
        transport: for tests.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        token: TokenPolicy = NoAuth(),  # noqa: B008  (a frozen value)
        thinking: str | None = None,
        deadline: float = 300.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._poster = Poster(endpoint, token=token, deadline=deadline, transport=transport)
        self._model = model
        self._thinking = thinking
        self._limit = "max_tokens"

    @property
    def name(self) -> str:
        """Model and address."""
        return f"{self._model}@{self._poster.url}"

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), max_tokens: int | None = None
    ) -> Completion:
        """Answer the messages once.

        Raises:
            EndpointModelError: no answer in time, a refusal, or an answer of another shape.
            TokenUnavailableError: the key that is named is not there; nothing was sent.
        """
        body: dict[str, JsonValue] = {"model": self._model, "messages": [each for m in messages for each in _said(m)]}
        if tools:
            body["tools"] = [{"type": "function", "function": _function(tool)} for tool in tools]
        if self._thinking is not None:
            body["reasoning_effort"] = self._thinking
        return _completion(await self._asked(body, max_tokens))

    async def close(self) -> None:
        """Close the connections. Idempotent."""
        await self._poster.close()

    async def _asked(self, body: dict[str, JsonValue], max_tokens: int | None) -> Answer:
        status, raw = await self._posted(body, max_tokens)
        if status == _BAD and _OTHER_NAME in raw and self._limit == "max_tokens":
            self._limit = _OTHER_NAME.decode()
            status, raw = await self._posted(body, max_tokens)
        if status != _OK:
            raise _refusal(status, raw)
        answer = read_answer(raw)
        if answer is None:
            raise EndpointModelError("model-answer", "what came back was no chat completion")
        return answer

    async def _posted(self, body: dict[str, JsonValue], max_tokens: int | None) -> tuple[int, bytes]:
        limit = {} if max_tokens is None else {self._limit: max_tokens}
        try:
            return await self._poster.post("chat/completions", body | limit)
        except NoAnswerError as error:
            raise EndpointModelError("model-unreachable", error.why, retryable=error.passing) from None


def _refusal(status: int, raw: bytes) -> EndpointModelError:
    if _TOO_LONG.search(raw) and status != 429:  # noqa: PLR2004  (a limit of requests is exceeded, too, and passes)
        return EndpointModelError("model-too-long", "the request is longer than the server takes")
    if status in _REFUSED:
        return EndpointModelError("model-auth", f"the server refused the key ({status})")
    passing = status in _PASSING or status >= _SERVER
    return EndpointModelError("model-refused", f"it answered {status}", retryable=passing)


def _said(message: Message) -> list[dict[str, JsonValue]]:
    """The message as the route spells it. Thinking and images stay here."""
    text = scrub(message.text)
    if message.role == "toolResult":
        return [{"role": "tool", "tool_call_id": message.tool_call_id or "", "content": text}]
    if message.role != "assistant":
        return [{"role": "system" if message.role == "system" else "user", "content": text}]
    called = [_call(part) for part in message.parts if isinstance(part, ToolCallPart)]
    return [{"role": "assistant", "content": text or None, **({"tool_calls": called} if called else {})}]


def _call(part: ToolCallPart) -> dict[str, JsonValue]:
    arguments = scrub(json.dumps(dict(part.arguments), ensure_ascii=False))
    return {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": arguments}}


def _function(tool: Tool) -> dict[str, JsonValue]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def _completion(answer: Answer) -> Completion:
    choice = answer.choices[0]
    parts: list[Part] = [TextPart(choice.message.content)] if choice.message.content else []
    for number, call in enumerate(choice.message.tool_calls or ()):
        parts.append(ToolCallPart(call.id or f"call-{number}", call.function.name, _arguments(call.function.arguments)))
    stop = _STOPS.get(choice.finish_reason or "", "stop")
    usage = answer.usage
    return Completion(
        message=Message(role="assistant", parts=tuple(parts), stop_reason=stop, model=answer.model),
        input_tokens=usage.prompt_tokens if usage else None,
        output_tokens=usage.completion_tokens if usage else None,
        cost_usd=usage.cost if usage else None,
    )


def _arguments(text: str | Mapping[str, JsonValue] | None) -> Mapping[str, JsonValue]:
    """The arguments of a call; none where they are no JSON object, which the tool then refuses."""
    try:
        value = json.loads(text or "{}") if not isinstance(text, Mapping) else text
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}
