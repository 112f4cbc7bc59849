"""For tests of observational memory: a branch written line by line, and an observer that finds what was planted."""

from __future__ import annotations

import re
from typing import Any

from attrs import define, field

from hindbrain.contracts import Entry, Message, Part, TextPart
from hindbrain.observe._chunk import Chunk, moment_of
from hindbrain.observe._encode import append_of, folded_details
from hindbrain.observe._events import Event, Folded
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._records import Kind, Observation, Relevance, make_observation
from hindbrain.observe._tokens import compact_json

__all__ = ["BranchScript", "planted", "planted_observer"]

START = 1_767_344_400_000
"""2026-01-02 09:00 UTC; each entry comes a minute after the one before it."""
_PLANTED = re.compile(r"FACT (low|medium|high|critical) (user|decision|fact|progress): ([^\n]+)")


@define
class BranchScript:
    """Entries of a branch, root first.

    Each method adds an entry and returns its id: ``raw-1``, ``raw-2``, … for sources, ``led-1``, … for others.
    """

    entries: list[Entry] = field(factory=list)
    sources: int = 0
    others: int = 0

    def say(self, role: str, *parts: Part | str, at: int | None = None, **message: Any) -> str:
        """A message of any role."""
        when = self._now() if at is None else at
        read = tuple(TextPart(part) if isinstance(part, str) else part for part in parts)
        return self._source("message", message=Message(role=role, parts=read, at=when, **message), at=when)

    def user(self, text: str, at: int | None = None) -> str:
        """What a user said."""
        return self.say("user", text, at=at)

    def assistant(self, text: str) -> str:
        """What the model answered."""
        return self.say("assistant", text)

    def weighing(self, tokens: int) -> str:
        """A user's message of so many estimated tokens."""
        return self.user("word " * (tokens * 4 // 5) + "x" * (tokens * 4 % 5))

    def custom(self, custom_type: str, data: Any) -> str:
        """Any custom entry."""
        return self._other("custom", custom_type=custom_type, data=compact_json(data))

    def append(self, event: Event) -> str:
        """A ledger entry.

        Raises:
            ValueError: the event is one that nobody writes.
        """
        made = append_of(event)
        if made is None:
            raise ValueError
        return self.custom(made.custom_type, made.data)

    def compaction(self, first_kept: str | None, details: Folded | None = None, summary: str = "A summary.") -> str:
        """A compaction, made from memory where there are details."""
        data = None if details is None else compact_json(folded_details(details))
        return self._other("compaction", first_kept_id=first_kept, data=data, summary=summary)

    def index(self) -> LedgerIndex:
        """The branch as it stands, read."""
        return LedgerIndex(self.entries)

    def _source(self, kind: str, **fields: Any) -> str:
        self.sources += 1
        return self._add(Entry(id=f"raw-{self.sources}", parent_id=self._tip(), kind=kind, **fields))

    def _other(self, kind: str, **fields: Any) -> str:
        self.others += 1
        return self._add(Entry(id=f"led-{self.others}", parent_id=self._tip(), kind=kind, at=self._now(), **fields))

    def _add(self, entry: Entry) -> str:
        self.entries.append(entry)
        return entry.id

    def _tip(self) -> str | None:
        return self.entries[-1].id if self.entries else None

    def _now(self) -> int:
        return START + 60_000 * len(self.entries)


def planted(text: str, relevance: Relevance = Relevance.MEDIUM, kind: Kind = Kind.FACT) -> str:
    """A line that :func:`planted_observer` finds in any source."""
    return f"FACT {relevance.value} {kind.value}: {text}"


def planted_observer(index: LedgerIndex, chunk: Chunk) -> tuple[Observation, ...]:
    """Records what :func:`planted` put into the sources of a chunk, and nothing else."""
    found: dict[str, Observation] = {}
    for source in chunk.source_ids:
        place = index.place(source)
        message = index.entries[place].message if place is not None else None
        for relevance, kind, text in _PLANTED.findall(message.text if message is not None else ""):
            at = moment_of(index, [source], last_at=chunk.last_at, now=0)
            record = make_observation(text, at=at, sources=[source], relevance=Relevance(relevance), kind=Kind(kind))
            found[record.id] = record
    return tuple(found.values())
