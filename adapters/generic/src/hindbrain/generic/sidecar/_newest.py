"""The conversation with the user's newest message, which a host may tell before it has written it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindbrain.contracts import JsonValue, Message, TextPart
from hindbrain.memory.sessions import parse_message


def with_newest(messages: Sequence[Message], user: JsonValue) -> Sequence[Message]:
    """The messages, and the user's newest one where the host has not put it on the branch yet."""
    last = next((each for each in reversed(messages) if each.role == "user"), None)
    if not isinstance(user, dict) or (last is not None and _is_told(last, user)):
        return messages
    newest = parse_message(user)
    return messages if newest is None or last == newest else [*messages, newest]


def _is_told(message: Message, raw: Mapping[str, JsonValue]) -> bool:
    """Whether the host's words for a message are at first sight those of this one, which saves reading them."""
    content = raw.get("content")
    return (
        message.at is not None
        and raw.get("timestamp") == message.at
        and raw.get("role") == message.role
        and _texts(content) == [part.text for part in message.parts if isinstance(part, TextPart)]
    )


def _texts(content: JsonValue) -> list[JsonValue]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [each.get("text") for each in parts if isinstance(each, dict) and each.get("type") == "text"]
