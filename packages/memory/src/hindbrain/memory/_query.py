"""The question that automatic recall asks: a pure function of the last messages and the settings.

Source: spec/memory.md section 3.2; the token bound is ours (decisions.md: a server cuts at 500 tokens).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice

from hindbrain.contracts import ImagePart, Message, Part, TextPart, ToolCallPart, scrub, starts_injected
from hindbrain.memory._config import RecallConfig
from hindbrain.memory._echo import without_blocks
from hindbrain.memory._identity import Project

_MAX_TOKENS = 400
_LEAST_TAIL = 20
_LONGEST_SECRET = 16_384
_NOTHING_SAID = "What matters in this project?"
_ROLES = {"toolResult": "tool"}
"""Hosts' words for the roles of ``recall.roles``, where they differ."""


def estimate_tokens(text: str) -> int:
    """Estimated tokens of a text: a quarter of its ASCII characters, and one for each character beyond ASCII."""
    wide = 0 if text.isascii() else sum(ord(c) > 127 for c in text)  # noqa: PLR2004  (the end of ASCII)
    return (len(text) - wide) // 4 + wide


def _render(part: Part) -> str:
    match part:
        case TextPart(text):
            return text
        case ToolCallPart(_, name, arguments):
            return f"{name} {json.dumps(arguments, ensure_ascii=False, separators=(',', ':'))}"
        case ImagePart():
            return "[image]"
        case _:
            return ""


def render_message(message: Message) -> str:
    """A message as one block of words, thinking left out; empty where it says nothing or is injected memory."""
    words = "\n".join(filter(None, map(_render, without_blocks(message).parts))).strip()
    return "" if not words or starts_injected(words) else f"{message.role}: {words}"


def _keep_newest(text: str, chars: int, tokens: int = _MAX_TOKENS) -> str:
    """The tail of ``text`` within both bounds; the newest words survive."""
    tail = text[-chars:] if chars > 0 else ""
    while tail and estimate_tokens(tail) > tokens:
        tail = tail[max(1, len(tail) // 8) :]
    return tail.strip()


def _newest_lines(messages: Sequence[Message], end: int, config: RecallConfig) -> Iterator[str]:
    """What was said before ``end``, newest first, as far back as it is asked for."""
    for index in range(end - 1, -1, -1):
        message = messages[index]
        if _ROLES.get(message.role, message.role) in config.roles and (line := render_message(message)):
            yield line


def _scrubbed_tail(text: str, chars: int) -> str:
    """The scrubbed text, or an end of it that is longer than ``chars`` by more than any secret.

    A secret that the cut would halve has no shape to be known by; what is left of it stands before the last ``chars``.
    """
    start = len(text) - chars - _LONGEST_SECRET
    if start <= 0:
        return scrub(text)
    key = text.rfind("-----BEGIN", 0, start)
    if key >= 0 and text.find("-----END", key, start) < 0:
        start = key
    tail = scrub(text[start:])
    return tail if len(tail) >= chars + _LONGEST_SECRET // 2 else scrub(text)


def _head(config: RecallConfig, kind: str, project: Project | None, date: str | None) -> str:
    lines = [config.query_preamble]
    if config.include_date_in_query and date:
        lines.append(f"date: {date}")
    if config.include_repo_hints_in_query and kind == "project" and project is not None:
        lines.append(f"project: {project.id}")
    return "\n\n".join(line for line in lines if line)


def compose_query(
    messages: Sequence[Message],
    config: RecallConfig,
    *,
    kind: str,
    project: Project | None,
    date: str | None = None,
    end: int | None = None,
) -> str:
    """Compose the recall query: preamble, hints, and the newest words of the last messages.

    Args:
        messages: the conversation, oldest first. Only the last ones are looked at, however long it is.
        config: the recall settings; lengths in characters.
        kind: project or user.
        project: the identity named in the hints of a project scope.
        date: the day as ``YYYY-MM-DD``, used only where the settings ask for it.
        end: the number of messages that count; None means all.

    Returns:
        Scrubbed text of at most ``max_query_chars`` characters and about 400 tokens.
    """
    lines = _newest_lines(messages, len(messages) if end is None else end, config)
    newest = list(islice(lines, max(1, config.context_turns)))
    said = _scrubbed_tail("\n\n".join(reversed(newest)) or _NOTHING_SAID, config.max_query_chars)
    prefix = _head(config, kind, project, date)
    room = config.max_query_chars - len(prefix) - 2
    tokens = _MAX_TOKENS - estimate_tokens(prefix) - 1
    if prefix and room >= _LEAST_TAIL and tokens >= _LEAST_TAIL:
        return f"{prefix}\n\n{_keep_newest(said, room, tokens)}"
    return _keep_newest(said, config.max_query_chars)


def plain_query(text: str) -> str:
    """A question as somebody put it: scrubbed, and its newest words where it is longer than a server takes."""
    return _keep_newest(scrub(text), _MAX_TOKENS * 4)
