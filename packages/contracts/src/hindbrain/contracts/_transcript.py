"""A host's conversation as values that know no host.

Times are whole milliseconds since 1970 UTC, or None where the host wrote none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from attrs import field, frozen

JsonValue: TypeAlias = Any
"""A value as JSON gives it; opaque to hindbrain."""


@frozen
class TextPart:
    """Words."""

    text: str = field(repr=False)


@frozen
class ThinkingPart:
    """A model's reasoning."""

    text: str = field(repr=False)


@frozen
class ToolCallPart:
    """A model's call of a tool. ``arguments`` is the JSON object it gave."""

    id: str
    name: str
    arguments: Mapping[str, JsonValue] = field(factory=dict, repr=False)


@frozen
class ImagePart:
    """An image by reference: its bytes never enter a memory.

    ``size`` is the number of bytes and ``sha256`` their digest in hex, None where the bytes were not at hand.
    """

    media_type: str
    size: int | None = None
    sha256: str | None = None


Part = TextPart | ThinkingPart | ToolCallPart | ImagePart


@frozen(kw_only=True)
class Message:
    """One message. ``role`` is the host's own word: user, assistant, toolResult, bashExecution, system or another.

    ``context_tokens`` is how full the model's context was with this answer, as its provider counted; None where it did
    not.
    """

    role: str
    parts: tuple[Part, ...] = ()
    at: int | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    model: str | None = None
    stop_reason: str | None = None
    context_tokens: int | None = None

    @property
    def text(self) -> str:
        """The words of the message: its text parts joined by line breaks."""
        return "\n".join(p.text for p in self.parts if isinstance(p, TextPart))


@frozen(kw_only=True)
class Entry:
    """One entry of a session.

    ``kind`` is the host's own entry type (``message``, ``custom``, ``compaction``, …). ``id`` is the host's, or
    ``line-N`` in old linear files, with the entry before it as parent. ``data`` is the JSON of a custom entry's
    payload, or a compaction's details, as text. ``line`` counts from 1, 0 where the entry did not come from a file.
    """

    id: str
    parent_id: str | None
    kind: str
    at: int | None = None
    message: Message | None = None
    custom_type: str | None = None
    summary: str | None = None
    first_kept_id: str | None = None
    data: str | None = field(default=None, repr=False)
    line: int = 0


@frozen
class Branch:
    """A session's entries as a tree, with the leaf the conversation stands on.

    Build it with :meth:`of`. ``path`` is the branch itself: root first, leaf last.
    """

    entries: Mapping[str, Entry]
    leaf_id: str | None = None

    @classmethod
    def of(cls, entries: Iterable[Entry], leaf_id: str | None = None) -> Branch:
        """Build from entries in file order. Without ``leaf_id`` the last entry is the leaf, as hosts do.

        Of two entries with one id the later one counts.
        """
        by_id: dict[str, Entry] = {}
        last = None
        for entry in entries:
            by_id[entry.id] = entry
            last = entry.id
        return cls(by_id, last if leaf_id is None else leaf_id)

    def path(self, leaf_id: str | None = None) -> tuple[Entry, ...]:
        """The entries from the root to ``leaf_id`` (default: the leaf).

        A parent that is missing ends the walk, and so does a cycle: a damaged file yields a shorter branch.
        """
        found: list[Entry] = []
        seen: set[str] = set()
        at = leaf_id if leaf_id is not None else self.leaf_id
        while at is not None and at not in seen and (entry := self.entries.get(at)) is not None:
            seen.add(at)
            found.append(entry)
            at = entry.parent_id
        return tuple(reversed(found))

    def children(self, entry_id: str | None) -> tuple[Entry, ...]:
        """The entries whose parent is ``entry_id``, in file order; None gives the roots."""
        return tuple(entry for entry in self.entries.values() if entry.parent_id == entry_id)
