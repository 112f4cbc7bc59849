"""A model of the host, asked through the host: no key for a model is ever needed here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hindbrain.contracts import Completion, HindbrainError, JsonValue, Message, Part, TextPart, Tool, ToolCallPart
from hindbrain.generic.sidecar._peer import Peer
from hindbrain.memory.sessions import parse_message
from hindbrain.observe import Thinking

SECONDS = 300.0
"""The longest an answer may take."""
_PASSING = re.compile(
    r"\b(408|425|429|5[0-9][0-9])\b|rate.?limit|overloaded|unavailable|time.?d? ?out|econn|socket|network|fetch failed|"
    r"try again",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"context|too (long|large)|exceed|quota|billing|credit|api.?key|unauthori|forbidden", re.IGNORECASE
)


class NoCompletionError(HindbrainError):
    """The host gave no answer of its model that can be read."""

    code = "no-completion"

    def __init__(self) -> None:
        super().__init__("The host's model gave no answer that can be read.")


class PeerModel:
    """Implements the ``Model`` port by calls into the host process.

    An answer of the model is sent back to it as the host spelt it: what a provider needs to see again, such as the
    signatures of its thoughts, means nothing here and is kept.

    Args:
        peer: the host.
        session: the host's own id of the session, whose model is asked.
        model: ``provider`` and ``id`` of another one; None is the session's own.
        thinking: how much it reasons; None or ``off`` is not at all.
    """

    def __init__(
        self, peer: Peer, session: str, model: Mapping[str, str] | None = None, thinking: str | None = None
    ) -> None:
        self._peer = peer
        self._session = session
        self._model = model
        self._thinking = None if thinking == Thinking.OFF else thinking
        self._said: list[tuple[Message, Mapping[str, JsonValue]]] = []

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), max_tokens: int | None = None
    ) -> Completion:
        """Answer the messages once; messages of the system go before all others.

        Raises:
            NoCompletionError: what came back is no message.
            Exception: the host refused, or did not answer in time.
        """
        self._said = [pair for pair in self._said if any(pair[0] is message for message in messages)]
        params = {
            "session": self._session,
            "system": "\n\n".join(message.text for message in messages if message.role == "system"),
            "messages": [self._spelt(message) for message in messages if message.role != "system"],
            "tools": [_tool(tool) for tool in tools],
            "maxTokens": max_tokens,
            "model": None if self._model is None else dict(self._model),
            "thinking": self._thinking,
        }
        found = mapping(await self._peer.call("host/complete", params, SECONDS))
        raw = found.get("message")
        message = parse_message(raw) if isinstance(raw, Mapping) else None
        if not isinstance(raw, Mapping) or message is None:
            raise NoCompletionError
        self._said.append((message, raw))
        return _completion(message, raw, mapping(found.get("usage")))

    def _spelt(self, message: Message) -> Mapping[str, JsonValue]:
        return next((raw for said, raw in self._said if said is message), None) or _raw(message)


def _completion(message: Message, raw: Mapping[str, JsonValue], usage: Mapping[str, JsonValue]) -> Completion:
    cost = mapping(usage.get("cost")).get("total")
    told = raw.get("errorMessage")
    words = told if isinstance(told, str) else ""
    return Completion(
        message=message,
        input_tokens=count(usage.get("input")),
        output_tokens=count(usage.get("output")),
        cost_usd=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
        retryable=bool(_PASSING.search(words)) and not _LASTING.search(words),
    )


def mapping(value: JsonValue) -> Mapping[str, Any]:
    """The value, or an empty object where it is none."""
    return value if isinstance(value, Mapping) else {}


def _raw(message: Message) -> dict[str, JsonValue]:
    raw: dict[str, JsonValue] = {
        "role": message.role,
        "content": [each for part in message.parts for each in _part(part)],
    }
    if message.tool_call_id is not None:
        raw |= {"toolCallId": message.tool_call_id, "toolName": message.tool_name or "", "isError": message.is_error}
    return raw


def _part(part: Part) -> list[dict[str, JsonValue]]:
    """The part as hosts spell it. Thinking and images stay here."""
    match part:
        case TextPart(text):
            return [{"type": "text", "text": text}]
        case ToolCallPart(call_id, name, arguments):
            return [{"type": "toolCall", "id": call_id, "name": name, "arguments": dict(arguments)}]
        case _:
            return []


def _tool(tool: Tool) -> dict[str, JsonValue]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def count(value: JsonValue) -> int | None:
    """The value, or None where it is no whole number from 0 up."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
