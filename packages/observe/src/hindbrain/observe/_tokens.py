"""How long a text is, in the units and tokens in which the hosts count.

A unit is a UTF-16 code unit, as in the hosts' own language: an emoji is two. A token is estimated as four units.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from hindbrain.contracts import Entry, ImagePart, Message, TextPart, ThinkingPart, ToolCallPart

SOURCES = frozenset({"message", "custom_message", "branch_summary"})
"""The kinds of entry that are in the model's context and can be observed."""
_IMAGE_UNITS = 4_800


def units(text: str) -> int:
    """The length of a text in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut_units(text: str, most: int) -> str:
    """The beginning of a text in at most so many units; a pair of surrogates is never split."""
    if most <= 0:
        return ""
    if len(text) <= most and (text.isascii() or units(text) <= most):
        return text
    if text[:most].isascii():
        return text[:most]
    return text.encode("utf-16-le", "surrogatepass")[: most * 2].decode("utf-16-le", "ignore")


def tail_units(text: str, most: int) -> str:
    """The end of a text in at most so many units; a pair of surrogates is never split."""
    if most <= 0:
        return ""
    end = text[-most:]
    if end.isascii():
        return end
    return end.encode("utf-16-le", "surrogatepass")[-most * 2 :].decode("utf-16-le", "ignore")


def tokens(text: str) -> int:
    """The estimated tokens of a text: a quarter of its units, rounded up."""
    return -(-units(text) // 4)


def compact_json(value: object) -> str:
    """JSON without spaces and without escapes for what is not ASCII."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def is_source(entry: Entry) -> bool:
    """Whether an entry can be observed. A system prompt and what was kept from the model cannot."""
    if entry.kind not in SOURCES:
        return False
    return entry.kind == "branch_summary" or (entry.message is not None and entry.message.role != "system")


def entry_tokens(entry: Entry) -> int:
    """What an entry weighs in the model's context by the host's own estimate; 0 where it is no source.

    Source: spec/observe.md section 2.1.
    """
    if not is_source(entry):
        return 0
    if entry.kind == "branch_summary" or entry.message is None:
        return tokens(entry.summary or "")
    if entry.kind == "custom_message":
        return sum(tokens(part.text) for part in entry.message.parts if isinstance(part, TextPart))
    return -(-sum(_message_units(entry.message)) // 4)


def _message_units(message: Message) -> Iterable[int]:
    thinks = message.role == "assistant"
    sees = message.role in {"toolResult", "custom"}
    for part in message.parts:
        if isinstance(part, TextPart):
            yield units(part.text)
        elif isinstance(part, ImagePart):
            yield _IMAGE_UNITS if sees else 0
        elif thinks and isinstance(part, ThinkingPart):
            yield units(part.text)
        elif thinks and isinstance(part, ToolCallPart):
            yield units(part.name) + units(compact_json(part.arguments))
