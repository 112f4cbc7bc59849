"""Entries and messages without their ``__init__``.

A frozen attrs class fills itself through ``object.__setattr__``, by name: 1.5 µs an entry and 1.2 µs a message. Filling
the slots directly takes half of that, and a session is hundreds of thousands of them. The values are the same; a test
holds each against one made the usual way. A field that contracts adds later gets its default here too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import attrs

from hindbrain.contracts import Entry, Message, Part

_Fill: TypeAlias = Callable[[Any, Any], None]


def _fills(cls: type[Any], *names: str) -> list[_Fill]:
    return [getattr(cls, name).__set__ for name in names]


def _others(cls: type[Any], *names: str) -> list[tuple[_Fill, Any]]:
    rest = [field for field in attrs.fields(cls) if field.name not in names]
    return [(getattr(cls, field.name).__set__, field.default) for field in rest]


_ENTRY = ("id", "parent_id", "kind", "at", "message", "custom_type", "summary", "first_kept_id", "data", "line")
_e_id, _e_parent, _e_kind, _e_at, _e_message, _e_custom, _e_summary, _e_kept, _e_data, _e_line = _fills(Entry, *_ENTRY)
_e_others = _others(Entry, *_ENTRY)

_MESSAGE = ("role", "parts", "at", "tool_call_id", "tool_name", "is_error", "model", "stop_reason", "context_tokens")
_m_role, _m_parts, _m_at, _m_call, _m_tool, _m_error, _m_model, _m_stop, _m_tokens = _fills(Message, *_MESSAGE)
_m_others = _others(Message, *_MESSAGE)

_new = object.__new__


def entry(  # noqa: PLR0917  (a keyword costs 30 ns; the order is the class's own)
    entry_id: str,
    parent_id: str | None,
    kind: str,
    at: int | None,
    message: Message | None,
    custom_type: str | None,
    summary: str | None,
    first_kept_id: str | None,
    data: str | None,
    line: int,
) -> Entry:
    """An :class:`Entry` of exactly these values."""
    made = _new(Entry)
    _e_id(made, entry_id)
    _e_parent(made, parent_id)
    _e_kind(made, kind)
    _e_at(made, at)
    _e_message(made, message)
    _e_custom(made, custom_type)
    _e_summary(made, summary)
    _e_kept(made, first_kept_id)
    _e_data(made, data)
    _e_line(made, line)
    for fill, default in _e_others:
        fill(made, default)
    return made


def message(  # noqa: PLR0917  (as above)
    role: str,
    parts: tuple[Part, ...],
    at: int | None,
    tool_call_id: str | None,
    tool_name: str | None,
    is_error: bool,
    model: str | None,
    stop_reason: str | None,
    context_tokens: int | None,
) -> Message:
    """A :class:`Message` of exactly these values."""
    made = _new(Message)
    _m_role(made, role)
    _m_parts(made, parts)
    _m_at(made, at)
    _m_call(made, tool_call_id)
    _m_tool(made, tool_name)
    _m_error(made, is_error)
    _m_model(made, model)
    _m_stop(made, stop_reason)
    _m_tokens(made, context_tokens)
    for fill, default in _m_others:
        fill(made, default)
    return made
