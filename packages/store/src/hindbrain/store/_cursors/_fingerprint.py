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
        said = ",".join([_part(part) for part in message.parts])
    except (RecursionError, ValueError):
        # Arguments that no JSON writer takes: too deep, or a number of thousands of digits.
        return digest(f"[{_compact(message.text)},{_frame(message)}]")[:LENGTH]
    return digest(f"[[{said}],{_frame(message)}]")[:LENGTH]


# JSON put together by hand: a list costs its writer as much again as the strings in it, and an import pays it for every
# message there ever was.
def _frame(message: Message) -> str:
    at = "null" if message.at is None else f"{message.at:d}"
    call = "null" if message.tool_call_id is None else _compact(message.tool_call_id)
    tool = "null" if message.tool_name is None else _compact(message.tool_name)
    return f"{_compact(message.role)},{at},{call},{tool},{'true' if message.is_error else 'false'}"


def _part(part: Part) -> str:
    if isinstance(part, TextPart):
        return f'["text",{_compact(part.text)}]'
    if isinstance(part, ToolCallPart):
        return f'["toolCall",{_compact(part.id)},{_compact(part.name)},{_compact(dict(part.arguments))}]'
    if isinstance(part, ThinkingPart):
        return f'["thinking",{_compact(part.text)}]'
    return _compact(["image", part.media_type, part.size if part.sha256 is None else part.sha256])


_compact = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


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
