"""Facts cut from what is retained: deterministic, verbatim, one speaker each.

Structured content is a JSON array of turns, or several joined by line breaks (what an append leaves behind). A turn
becomes one fact, or several where it is long. Anything else is plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TypeAlias

from attrs import field, frozen

from hindbrain.contracts import JsonValue

LONGEST = 600
"""Characters of one fact at most."""
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"(?<=[.!?\u2026])\s+|(?<=[\u3002\uff01\uff1f])")
_SPACE = re.compile(r"\s+")
_BREAKS = (_PARAGRAPH, _LINE, _SENTENCE, _SPACE)
_NESTING = 20
_LONGEST_NAME = 200

Clean: TypeAlias = Callable[[str], str]


@frozen
class Piece:
    """One fact to be: the speaker's words, the number of the turn, who spoke, when, through which tool and entry."""

    text: str = field(repr=False)
    turn: int = 0
    role: str | None = None
    at: str | None = None
    tool: str | None = None
    entry: str | None = None
    is_error: bool = False


def split(text: str, level: int = 0) -> list[str]:
    """Cut a text into runs of at most :data:`LONGEST` characters, each a verbatim slice of it without outer space.

    Paragraphs are kept together where they fit, then lines, then sentences, then words.
    """
    text = text.strip()
    if len(text) <= LONGEST:
        return [text] if text else []
    if level == len(_BREAKS):
        return [text[i : i + LONGEST] for i in range(0, len(text), LONGEST)]
    found: list[str] = []
    start = end = 0
    for stop in [*(m.start() for m in _BREAKS[level].finditer(text)), len(text)]:
        if stop - start > LONGEST and end > start:
            found += split(text[start:end], level + 1)
            start = end
        end = stop
    return found + split(text[start:end], level + 1)


def _strings(value: JsonValue, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < _NESTING:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner, depth + 1)


def _said(part: JsonValue) -> str | None:
    """The words of one part of a turn: a text, a thought, or a call as its tool's name and the strings it was given."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    if part.get("type") == "toolCall":
        return " ".join([str(part.get("name", "")), "\n".join(_strings(part.get("arguments")))]).strip()
    said = part.get("text", part.get("thinking"))
    return said if isinstance(said, str) else None


def _word(turn: dict[str, JsonValue], name: str, clean: Clean) -> str | None:
    value = turn.get(name)
    return clean(value)[:_LONGEST_NAME] if isinstance(value, str) and value else None


def _turn(turn: dict[str, JsonValue], number: int, at: str | None, clean: Clean) -> Iterator[Piece]:
    content = turn.get("content")
    role, tool, entry = (_word(turn, name, clean) for name in ("role", "toolName", "id"))
    said_at = read_time(turn.get("timestamp"))
    for part in content if isinstance(content, list) else [content]:
        called = part.get("name") if isinstance(part, dict) and part.get("type") == "toolCall" else None
        for text in split(clean(_said(part) or "")):
            yield Piece(
                text=text,
                turn=number,
                role="toolCall" if called else role,
                at=at if said_at is None else said_at.isoformat(),
                tool=clean(called) if isinstance(called, str) else tool,
                entry=entry,
                is_error=turn.get("isError") is True,
            )


def _turns(content: str) -> list[dict[str, JsonValue]] | None:
    """The turns of structured content; None where it is plain text."""
    decoder, at, found = json.JSONDecoder(), 0, []
    content = content.strip()
    if not content.startswith("["):
        return None
    try:
        while at < len(content):
            array, end = decoder.raw_decode(content, at)
            if not isinstance(array, list):
                return None
            found += array
            at = next_array if (next_array := content.find("[", end)) >= 0 else len(content)
            if content[end:at].strip():
                return None
    except (ValueError, RecursionError):
        return None
    structured = all(isinstance(turn, dict) and "role" in turn and "content" in turn for turn in found)
    return found if structured and found else None


def read_time(text: object) -> datetime | None:
    """An ISO 8601 time, in UTC where it names no zone; None where it is not one."""
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def cut(content: str, at: str | None, clean: Clean) -> list[Piece]:
    """The facts of a content, in order.

    Args:
        content: plain text or structured turns.
        at: the time of those that name none they can be read by.
        clean: applied to every text while it is still whole, before a cut could hide a secret's shape.
    """
    turns = _turns(content)
    if turns is None:
        return [Piece(text=text, turn=n, at=at) for n, text in enumerate(split(clean(content)))]
    return [piece for n, turn in enumerate(turns) for piece in _turn(turn, n, at, clean)]
