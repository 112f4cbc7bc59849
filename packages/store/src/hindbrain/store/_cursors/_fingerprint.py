"""By what a message is known again: a digest of its content, and the chain of digests of a history."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from hindbrain.contracts import Entry, JsonValue, Message, Part, TextPart, ThinkingPart, ToolCallPart
from hindbrain.store._cursors._js import stringify

LENGTH = 16
"""Hex digits of a fingerprint: 64 bits, compared under one entry id or in runs, never alone among all messages."""

_LEGACY_KEYS = ("id", "role", "timestamp", "content", "toolName", "isError", "model", "stopReason")


def fingerprint(entry: Entry) -> str:
    """The first 16 hex digits of SHA-256 over what an entry's message says; its id and place do not count.

    An entry without a message has the fingerprint of nothing.
    """
    message = entry.message
    if message is None:
        return digest("null")[:LENGTH]
    try:
        return digest(_compact([_parts(message.parts), *_frame(message)]))[:LENGTH]
    except (RecursionError, ValueError):
        # Arguments that no JSON writer takes: too deep, or a number of thousands of digits.
        return digest(_compact([message.text, *_frame(message)]))[:LENGTH]


def _frame(message: Message) -> list[JsonValue]:
    return [message.role, message.at, message.tool_call_id, message.tool_name, message.is_error]


def _parts(parts: tuple[Part, ...]) -> list[JsonValue]:
    return [_part(part) for part in parts]


def _part(part: Part) -> list[JsonValue]:
    match part:
        case TextPart(text):
            return ["text", text]
        case ThinkingPart(text):
            return ["thinking", text]
        case ToolCallPart(call_id, name, arguments):
            return ["toolCall", call_id, name, dict(arguments)]
        case _:
            return ["image", part.media_type, part.size if part.sha256 is None else part.sha256]


def _compact(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    """SHA-256 of the text as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def fold(fingerprints: Iterable[str], chain: str = "") -> str:
    """The chain of a history: each step is the digest of the chain so far and the next fingerprint, both as hex.

    Over content alone, so that a history is known again where a host gives its entries new ids.

    Source: spec/memory.md section 6.5 (chainHash).
    """
    for each in fingerprints:
        chain = digest(chain + each)
    return chain


def legacy_fingerprint(message: Mapping[str, JsonValue]) -> str:
    """A message's fingerprint as the older cursor files hold it, from the JSON of the message in the session file.

    64 hex digits; keys that are absent are left out, null is kept. Empty, which matches nothing, where the message is
    nested too deeply to be written.

    Source: spec/memory.md section 6.5.
    """
    known = {key: message[key] for key in _LEGACY_KEYS if key in message}
    try:
        return digest(stringify(known))
    except RecursionError:
        return ""
