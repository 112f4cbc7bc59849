"""The settings of retain. None is safe in a project's file: they say what leaves this machine."""

from __future__ import annotations

from typing import Any

from hindbrain.generic._config._banks import GATE
from hindbrain.generic._config._form import COUNT, FLAG, NAMES, Form, choice, millis, some_of
from hindbrain.generic._config._key import Key
from hindbrain.memory import RetainConfig

_RETAIN = RetainConfig()


def _key(path: str, form: Form, default: Any, about: str) -> Key:
    return Key(path=path, form=form, about=about, default=default)


RETAIN = (
    _key("retain.enabled", FLAG, _RETAIN.enabled, "Whether turns are retained automatically."),
    _key(
        "retain.delivery",
        choice("immediate", "coalesced"),
        "immediate",
        "Whether each turn is sent by itself, or turns that wait are sent together.",
    ),
    _key(
        "retain.beforeEnqueue",
        GATE,
        _RETAIN.before_enqueue,
        "A program that may refuse a turn before it is queued: it reads the job as JSON; any exit but 0 refuses.",
    ),
    _key(
        "retain.flushIntervalMs",
        millis(0, 86_400_000),
        _RETAIN.flush_interval_ms,
        "How often what waits is sent between turns; 0 means never.",
    ),
    _key("retain.periodicFlushMaxJobs", COUNT, 1, "How many turns such a flush sends at most."),
    _key("retain.periodicFlushTimeoutMs", COUNT, 2000, "The most milliseconds that such a flush takes."),
    _key("retain.shutdownFlushMaxJobs", COUNT, 10, "How many turns are sent at the end of a session at most."),
    _key("retain.shutdownFlushTimeoutMs", COUNT, 2000, "The most milliseconds that the end of a session waits for it."),
    _key("retain.content.user", some_of("text"), _RETAIN.user, "What is kept of a user's message."),
    _key(
        "retain.content.assistant",
        some_of("text", "toolCall", "thinking"),
        _RETAIN.assistant,
        "What is kept of an answer.",
    ),
    _key(
        "retain.content.toolResult",
        some_of("error", "summary", "content"),
        _RETAIN.tool_result,
        "What is kept of a tool's result.",
    ),
    _key(
        "retain.toolFilter.toolCall.include",
        NAMES,
        None,
        "The only tools whose calls are kept; by default any tool's are.",
    ),
    _key(
        "retain.toolFilter.toolCall.exclude",
        NAMES,
        _RETAIN.tool_call_exclude,
        "Tools whose calls are not kept.",
    ),
    _key(
        "retain.toolFilter.toolResult.include",
        NAMES,
        None,
        "The only tools whose results are kept; by default any tool's are.",
    ),
    _key(
        "retain.toolFilter.toolResult.exclude",
        NAMES,
        _RETAIN.tool_result_exclude,
        "Tools whose results are not kept.",
    ),
    _key(
        "retain.compactToolCalls",
        FLAG,
        _RETAIN.compact_tool_calls,
        "Whether a call is kept as its name and target, without all arguments.",
    ),
    _key("retain.strip.message", NAMES, _RETAIN.strip_message, "Fields that are taken out of each message."),
    _key("retain.strip.topLevel", NAMES, _RETAIN.strip_top_level, "Fields that are taken out of each kept entry."),
)
