"""Entries as an observer, or somebody who asks for evidence, reads them.

Source: spec/observe.md section 2.3; fault F-9 (a user's shell commands).
"""

from __future__ import annotations

from hindbrain.contracts import Entry, ImagePart, Message, Part, TextPart, ThinkingPart
from hindbrain.observe._times import written
from hindbrain.observe._tokens import compact_json, is_source

_SHELLS = frozenset({"bashExecution", "pythonExecution"})


def source_text(entry: Entry, zone: str = "UTC") -> str:
    """A source as text, headed by who spoke and when; empty where it says nothing.

    Args:
        entry: a source.
        zone: the ledger's zone.
    """
    if not is_source(entry):
        return ""
    if entry.kind == "branch_summary":
        return _headed("Branch summary", entry.at, entry.summary or "", zone)
    message = entry.message
    if message is None:
        return ""
    if entry.kind == "custom_message":
        return _headed(f"Custom ({entry.custom_type or 'unknown'})", entry.at, _body(message, words_only=True), zone)
    at = message.at if message.at is not None else entry.at
    words_only = message.role != "assistant"
    return _headed(_speaker(message, entry), at, _body(message, words_only=words_only), zone)


def source_block(entry: Entry, zone: str = "UTC") -> str:
    """A source under a label with its id, for an observer to cite; empty where it says nothing."""
    text = source_text(entry, zone)
    return f"{label(entry.id)}\n{text}" if text else ""


def label(entry_id: str) -> str:
    """The line that names a source."""
    return f"[Source entry id: {entry_id}]"


def _headed(speaker: str, at: int | None, body: str, zone: str) -> str:
    return f"[{speaker} @ {written(at, zone)}]: {body}" if body.strip() else ""


def _speaker(message: Message, entry: Entry) -> str:
    role = message.role
    if role in _SHELLS:
        return "User shell command"
    named = {
        "user": "User",
        "assistant": "Assistant",
        "toolResult": f"Tool result for {message.tool_name or 'unknown'}{' (error)' if message.is_error else ''}",
        "custom": f"Custom ({entry.custom_type or 'unknown'})",
        "branchSummary": "Branch summary",
        "compactionSummary": "Compaction summary",
    }
    return named.get(role, role)


def _body(message: Message, *, words_only: bool) -> str:
    told = (_part(part, words_only=words_only) for part in message.parts)
    return "\n".join(text for text in told if text.strip())


def _part(part: Part, *, words_only: bool) -> str:
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, ImagePart):
        return f"[image: {part.media_type}]"
    if words_only:
        return ""
    if isinstance(part, ThinkingPart):
        return f"[thinking: {part.text}]" if part.text.strip() else ""
    return f"[{part.name}({compact_json(part.arguments)})]"
