"""The question that automatic recall asks: a pure function of the last messages and the settings.

Source: spec/memory.md section 3.2; the token bound is ours (decisions.md: a server cuts at 500 tokens).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from hindbrain.contracts import ImagePart, Message, Part, TextPart, ToolCallPart, scrub, starts_injected
from hindbrain.memory._config import RecallConfig
from hindbrain.memory._identity import Project

_MAX_TOKENS = 400
_LEAST_TAIL = 20
_NOTHING_SAID = "What matters in this project?"


def estimate_tokens(text: str) -> int:
    """Estimated tokens of a text: a quarter of its ASCII characters, and one for each character beyond ASCII."""
    wide = sum(ord(c) > 127 for c in text)  # noqa: PLR2004  (the end of ASCII)
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
    words = "\n".join(filter(None, map(_render, message.parts))).strip()
    return "" if not words or starts_injected(words) else f"{message.role}: {words}"


def _keep_newest(text: str, chars: int) -> str:
    """The tail of ``text`` within both bounds; the newest words survive."""
    tail = text[-chars:] if chars > 0 else ""
    while tail and estimate_tokens(tail) > _MAX_TOKENS:
        tail = tail[max(1, len(tail) // 8) :]
    return tail.strip()


def compose_query(
    messages: Sequence[Message], config: RecallConfig, *, kind: str, project: Project | None, date: str | None = None
) -> str:
    """Compose the recall query: preamble, hints, and the newest words of the last messages.

    Args:
        messages: the conversation, oldest first.
        config: the recall settings; lengths in characters.
        kind: project or user.
        project: the identity named in the hints of a project scope.
        date: the day as ``YYYY-MM-DD``, used only where the settings ask for it.

    Returns:
        Scrubbed text of at most ``max_query_chars`` characters and about 400 tokens.
    """
    kept = [line for m in messages if m.role in config.roles and (line := render_message(m))]
    said = scrub("\n\n".join(kept[-max(1, config.context_turns) :]) or _NOTHING_SAID)
    head = [config.query_preamble]
    if config.include_date_in_query and date:
        head.append(f"date: {date}")
    if config.include_repo_hints_in_query and kind == "project" and project is not None:
        head.append(f"project: {project.id}")
    prefix = "\n\n".join(line for line in head if line)
    room = config.max_query_chars - len(prefix) - 2
    if prefix and room >= _LEAST_TAIL:
        return f"{prefix}\n\n{_keep_newest(said, min(room, _MAX_TOKENS * 4 - len(prefix)))}"
    return _keep_newest(said, config.max_query_chars)
