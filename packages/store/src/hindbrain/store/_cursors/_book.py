"""All cursors of one project as one value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from attrs import evolve, field, frozen

from hindbrain.contracts import Coverage
from hindbrain.store._cursors._cursor import Cursor
from hindbrain.store._cursors._replay import replay

RECENT = 32
"""How many lineages keep their tails. Those that moved longer ago keep their heads and marks, which hold what is
retained; only edits of theirs are no longer seen. So a turn writes little, whatever the project's age."""


@frozen
class Lineage:
    """One chain of forks: a cursor for each bank, and the document key of each of its sessions by session id."""

    banks: Mapping[str, Cursor] = field(factory=dict)
    documents: Mapping[str, str] = field(factory=dict)


@frozen
class Book:
    """The cursors by lineage, the one that moved last at the end."""

    lineages: Mapping[str, Lineage] = field(factory=dict)

    def lineage(self, lineage: str) -> Lineage:
        """What is known of a lineage; nothing yet where it is new."""
        return self.lineages.get(lineage, Lineage())

    def cursor(self, lineage: str, bank: str) -> Cursor:
        """The cursor of a lineage for a bank; one that has nothing where it is new."""
        return self.lineage(lineage).banks.get(bank, Cursor())

    def with_cursor(self, lineage: str, bank: str, cursor: Cursor) -> Book:
        """With this cursor in place of the one there; the same book where it is equal."""
        known = self.lineage(lineage)
        if cursor == known.banks.get(bank, Cursor()):
            return self
        return self._with(lineage, evolve(known, banks={**known.banks, bank: cursor}))

    def with_document(self, lineage: str, session_id: str, key: str) -> Book:
        """With a session's document key, unless it has one: a session file that moves keeps its document."""
        known = self.lineage(lineage)
        if session_id in known.documents:
            return self
        return self._with(lineage, evolve(known, documents={**known.documents, session_id: key}))

    def replayed(self, covers: Iterable[Coverage]) -> Book:
        """With the moves of all jobs in the queue's log, in its order."""
        each: dict[tuple[str, str], list[Coverage]] = {}
        for cover in covers:
            each.setdefault((cover.lineage, cover.bank), []).append(cover)
        book = self
        for (lineage, bank), moves in each.items():
            book = book.with_cursor(lineage, bank, replay(book.cursor(lineage, bank), moves))
        return book

    def _with(self, lineage: str, value: Lineage) -> Book:
        lineages = {name: each for name, each in self.lineages.items() if name != lineage}
        lineages[lineage] = value
        if len(lineages) > RECENT:
            aged = next(islice(lineages, len(lineages) - RECENT - 1, None))
            lineages[aged] = _without_tails(lineages[aged])
        return Book(lineages)


def _without_tails(lineage: Lineage) -> Lineage:
    if not any(cursor.tail for cursor in lineage.banks.values()):
        return lineage
    return evolve(lineage, banks={bank: cursor.with_tail((), length=0) for bank, cursor in lineage.banks.items()})
