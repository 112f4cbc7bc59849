"""What of a conversation is retained: a structured projection, never a summary.

Source: spec/memory.md sections 6.1 and 6.3; images by reference and times that never come from the clock are ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from attrs import evolve

from hindbrain.contracts import (
    Entry,
    ImagePart,
    JsonValue,
    Message,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    scrub,
    scrub_parts,
    starts_injected,
)
from hindbrain.memory._config import RetainConfig
from hindbrain.memory._echo import without_blocks

_TARGETS = ("file_path", "path", "notebook_path", "command", "pattern", "query", "url", "name", "id")
_TARGET_LENGTH = 100
_SUMMARY_LENGTH = 500
_INJECTED = ("hindsight-recall", "hindsight-mental-models")
_NEVER = frozenset({"system", "developer"})
"""Roles that hold the host's own prompt, not the conversation."""

_Json = dict[str, JsonValue]


_EARLIEST, _LATEST = -62_104_060_800_000, 253_339_228_799_999
"""The years 2 to 9997: what lies beyond is a host's mistake, and no memory takes it."""


def believable(at: int | None) -> int | None:
    """The time, or None where it is none or lies outside the years a memory takes."""
    return at if at is not None and _EARLIEST <= at <= _LATEST else None


def iso(at: int) -> str:
    """Milliseconds since 1970 as ISO 8601 in UTC with three decimals, as hosts write it."""
    moment = datetime.fromtimestamp(at // 1000, tz=UTC).isoformat(timespec="seconds")
    return f"{moment[:19]}.{at % 1000:03d}Z"


def _short(text: str, length: int) -> str:
    """The text, cut. Only ever after scrubbing: half a secret has no shape to be known by."""
    return text if len(text) <= length else text[:length] + "…"


def _target(arguments: object) -> _Json:
    if not isinstance(arguments, dict):
        return {}
    found = next((v for k in _TARGETS if isinstance(v := arguments.get(k), str) and v.strip()), None)
    if found is None:
        return {}
    return {"target": _short(scrub(found).strip().splitlines()[0], _TARGET_LENGTH)}


def _scrubbed(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {scrub(key): _scrubbed(inner) for key, inner in value.items()}
    return [_scrubbed(inner) for inner in value] if isinstance(value, list) else value


def _arguments(arguments: Mapping[str, JsonValue]) -> _Json:
    """All arguments of a call. A name may be what tells a secret, so they are scrubbed once more as the JSON they are.

    Where no JSON is left of them after that, none is kept.
    """
    each: _Json = {scrub(name): _scrubbed(value) for name, value in arguments.items()}
    text = json.dumps(each, ensure_ascii=False)
    clean = scrub(text)
    if clean == text:
        return each
    try:
        read = json.loads(clean)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _without_secrets(parts: Iterable[Part]) -> list[Part]:
    """The parts with their texts scrubbed together: a reader joins them, and with them a secret cut in two."""
    whole = list(parts)
    said = [part.text for part in whole if isinstance(part, TextPart)]
    clean = scrub_parts(said)
    if clean == tuple(said):
        return whole
    texts = iter(clean)
    return [TextPart(next(texts)) if isinstance(part, TextPart) else part for part in whole]


def _passes(tool: str | None, include: tuple[str, ...] | None, exclude: tuple[str, ...]) -> bool:
    return (include is None or tool in include) and tool not in exclude


def _part(part: Part, config: RetainConfig, keep: tuple[str, ...]) -> _Json | None:
    match part:
        case TextPart(text) if "text" in keep and text.strip():
            return {"type": "text", "text": text}
        case ThinkingPart(text) if "thinking" in keep and text.strip():
            return {"type": "thinking", "thinking": scrub(text)}
        case ToolCallPart(_, name, arguments) if "toolCall" in keep and _passes(
            name, config.tool_call_include, config.tool_call_exclude
        ):
            shown = _target(arguments) if config.compact_tool_calls else _arguments(arguments)
            return {"type": "toolCall", "name": name, "arguments": shown}
        case ImagePart(media_type, size, sha256) if "text" in keep:
            return {"type": "image", "mediaType": media_type, "size": size, "sha256": sha256}
        case _:
            return None


def _tool_result(message: Message, config: RetainConfig) -> list[_Json] | None:
    if not _passes(message.tool_name, config.tool_result_include, config.tool_result_exclude):
        return None
    whole = "error" in config.tool_result if message.is_error else "content" in config.tool_result
    if not whole and (message.is_error or "summary" not in config.tool_result):
        return None
    text = evolve(message, parts=tuple(_without_secrets(message.parts))).text.strip()
    if not whole:
        text = _short(text, _SUMMARY_LENGTH)
    return [{"type": "text", "text": text}] if text else None


def is_host_prompt(message: Message) -> bool:
    """Whether the message is the host's own prompt, which is never retained."""
    return message.role in _NEVER


def is_injected(entry: Entry) -> bool:
    """Whether the entry is memory that was put into the conversation. Source: spec/memory.md section 6.1."""
    if entry.custom_type in _INJECTED:
        return True
    return entry.message is not None and starts_injected(entry.message.text)


def project_message(entry: Entry, config: RetainConfig, *, keep_injected: bool = False) -> _Json | None:
    """One entry as it is retained, or None where nothing of it is kept.

    Text is scrubbed here, before JSON escapes could hide a secret's shape. The time is the message's own, else the
    entry's, never the clock's. ``keep_injected`` keeps memory that was put into the conversation: for a record of what
    a session looked like, never for what is to be remembered.
    """
    if entry.message is not None and not keep_injected:
        entry = evolve(entry, message=without_blocks(entry.message))
    message = entry.message
    if message is None or is_host_prompt(message) or (not keep_injected and is_injected(entry)):
        return None
    if message.role == "toolResult":
        content = _tool_result(message, config)
    else:
        keep = {"user": config.user, "assistant": config.assistant}.get(message.role, ("text",))
        content = [
            shown for part in _without_secrets(message.parts) if (shown := _part(part, config, keep)) is not None
        ]
    if not content:
        return None
    at = believable(message.at) if believable(message.at) is not None else believable(entry.at)
    fields: _Json = {
        "role": message.role,
        "id": entry.id,
        "parentId": entry.parent_id,
        "timestamp": None if at is None else iso(at),
        "model": message.model,
        "stopReason": message.stop_reason,
        "toolName": message.tool_name,
        "isError": True if message.is_error else None,
        "content": content,
    }
    dropped = {*config.strip_message, *config.strip_top_level}
    return {key: value for key, value in fields.items() if value is not None and key not in dropped}


def project(entries: Iterable[Entry], config: RetainConfig) -> str | None:
    """The content to retain for new entries: a JSON array, or None where none of them is kept."""
    turns = [turn for entry in entries if (turn := project_message(entry, config)) is not None]
    return json.dumps(turns, ensure_ascii=False, indent=2) if turns else None
