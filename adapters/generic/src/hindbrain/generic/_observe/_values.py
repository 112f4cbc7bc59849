"""What a host asks of the engine and what it is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from attrs import field, frozen

from hindbrain.contracts import JsonValue

Tell = Callable[[str, str], Awaitable[None]]
"""Shows a line to the user, with its level."""
Reason = Literal["manual", "threshold", "overflow"]


@frozen(kw_only=True)
class Told:
    """A sentence or more for the user. ``copy`` is the part of it that belongs on the clipboard."""

    text: str = field(repr=False)
    level: str = "info"
    copy: str = field(default="", repr=False)


@frozen(kw_only=True)
class CompactionAsk:
    """A host is about to compact and keeps its conversation from ``first_kept`` on.

    ``tokens_before`` is the host's own count of the context. ``window``, ``reserve`` and ``system_tokens`` are in
    tokens, None where it does not tell.
    """

    first_kept: str
    tokens_before: int
    window: int | None = None
    reserve: int | None = None
    system_tokens: int | None = None
    reason: Reason = "threshold"
    instructions: str | None = field(default=None, repr=False)


@frozen(kw_only=True)
class CompactionAnswer:
    """The compaction that the host stores in place of a summary of its own."""

    summary: str = field(repr=False)
    first_kept: str
    tokens_before: int
    details: Mapping[str, JsonValue] = field(repr=False)


@frozen(kw_only=True)
class Cancelled:
    """The host should not compact now."""

    text: str
