"""The session's own model, asked through the host: no key for a model is ever needed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindbrain.contracts import Completion, HindbrainError, JsonValue, Message, Part, TextPart, Tool, ToolCallPart
from hindbrain.generic.sidecar._peer import Peer
from hindbrain.memory.sessions import parse_message

SECONDS = 300.0
"""The longest an answer may take."""


class NoCompletionError(HindbrainError):
    """The host gave no answer of its model that can be read."""

    code = "no-completion"

    def __init__(self) -> None:
        super().__init__("The host's model gave no answer that can be read.")


class PeerModel:
    """Implements the ``Model`` port by calls into the host process.

    Args:
        peer: the host.
        session: the host's own id of the session, whose model is asked.
        model: ``provider`` and ``id`` of another one; None is the session's own.
    """

    def __init__(self, peer: Peer, session: str, model: Mapping[str, str] | None = None) -> None:
        self._peer = peer
        self._session = session
        self._model = model

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), max_tokens: int | None = None
    ) -> Completion:
        """Answer the messages once; messages of the system go before all others.

        Raises:
            NoCompletionError: what came back is no message.
            Exception: the host refused, or did not answer in time.
        """
        params = {
            "session": self._session,
            "system": "\n\n".join(message.text for message in messages if message.role == "system"),
            "messages": [_raw(message) for message in messages if message.role != "system"],
            "tools": [_tool(tool) for tool in tools],
            "maxTokens": max_tokens,
            "model": None if self._model is None else dict(self._model),
            "thinking": None,
        }
        answer = await self._peer.call("host/complete", params, SECONDS)
        found = answer if isinstance(answer, Mapping) else {}
        raw = found.get("message")
        message = parse_message(raw) if isinstance(raw, Mapping) else None
        if message is None:
            raise NoCompletionError
        usage = found.get("usage")
        spent = usage if isinstance(usage, Mapping) else {}
        return Completion(
            message=message, input_tokens=_count(spent.get("input")), output_tokens=_count(spent.get("output"))
        )


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


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
