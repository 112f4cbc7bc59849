"""Which messages of a chain are imported, and why the others are not."""

from __future__ import annotations

import json
from collections.abc import Iterable

from attrs import frozen

from hindbrain.contracts import Entry, Message, TextPart
from hindbrain.generic._import._values import Dropped, Tally
from hindbrain.memory import RetainConfig, believable, is_host_prompt, is_injected, project_message

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


@frozen
class Kept:
    """A message as it is imported: the id of its entry, its time, its JSON and the length of that in bytes.

    ``opens`` says whether it is the user's, so that a turn begins with it.
    """

    entry_id: str
    at: int | None
    text: str
    size: int
    opens: bool


def size_of(text: str) -> int:
    """The bytes of a text as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def text_size(message: Message) -> int:
    """The bytes of a message's words."""
    return sum(size_of(part.text) for part in message.parts if isinstance(part, TextPart))


def _reason_of_result(message: Message, config: RetainConfig) -> Dropped | None:
    """Why a tool's result is dropped without a look at its text; None where it is to be looked at."""
    tool, only = message.tool_name, config.tool_result_include
    if tool in config.tool_result_exclude or (only is not None and tool not in only):
        return Dropped.TOOL_FILTER_EXCLUDED
    if message.is_error:
        return None if "error" in config.tool_result else Dropped.TOOL_FILTER_EXCLUDED
    return None if {"content", "summary"} & set(config.tool_result) else Dropped.SUCCESSFUL_TOOL_OUTPUT


def _reason(entry: Entry, message: Message, config: RetainConfig, *, keep_injected: bool) -> Dropped | None:
    if message.role == "toolResult" and (why := _reason_of_result(message, config)):
        return why
    if is_host_prompt(message):
        return Dropped.HOST_PROMPT
    return Dropped.RECALLED_MEMORY if not keep_injected and is_injected(entry) else None


def select(entries: Iterable[Entry], config: RetainConfig, tally: Tally, *, keep_injected: bool = False) -> list[Kept]:
    """The messages that are imported, in order; all of them are counted in ``tally``.

    Source: spec/memory.md section 14 (the reasons).
    """
    found: list[Kept] = []
    for entry in entries:
        message = entry.message
        if message is None:
            if entry.kind == "message":
                tally.drop(Dropped.KEPT_FROM_MODEL, 0)
            continue
        why = _reason(entry, message, config, keep_injected=keep_injected)
        # What was injected has been told apart by now.
        shown = None if why else project_message(entry, config, keep_injected=True)
        if shown is None:
            empty = Dropped.TOOL_RESULT_EMPTY if message.role == "toolResult" else Dropped.EMPTY_PROJECTION
            tally.drop(why or empty, text_size(message))
            continue
        text = _encode(shown)
        at = believable(entry.at) if message.at is None else believable(message.at)
        kept = Kept(entry.id, at, text, size_of(text), message.role == "user")
        tally.kept += 1
        tally.kept_bytes += kept.size
        found.append(kept)
    return found
