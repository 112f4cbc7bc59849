"""The two questions to a cursor: what is new, and where does it stand once that is retained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from attrs import frozen

from hindbrain.contracts import Branch, Coverage, Entry
from hindbrain.store._cursors._anchor import history
from hindbrain.store._cursors._cursor import TAIL, Cursor, Head, Identity
from hindbrain.store._cursors._fingerprint import fingerprint, fold
from hindbrain.store._cursors._look import Sight, look
from hindbrain.store._cursors._prints import Print, once


def new_entries(branch: Branch, cursor: Cursor, prints: Print = fingerprint) -> tuple[Entry, ...]:
    """The messages of the branch that were never retained, in its order: edits first, they lie before what is new.

    An entry without a message (a compaction, a label, a ledger's record) has nothing to retain and never counts. The
    branch may hold one run's entries only. Cost: the new entries and at most the 200 of the tail.

    ``prints`` gives fingerprints; pass :class:`Fingerprints` where the same entries are looked at again and again.

    Source: decisions.md, "Durability" (cursors); seed "Automatic retain"; spec/memory.md section 19, 3a and 3b.
    """
    return look(branch, cursor, prints).new


@frozen
class Move:
    """A cursor's move over entries that were retained, or that were skipped for good.

    ``head`` is where it stands now, ``first_id`` the first entry taken, ``after_id`` the retained entry that the new
    ones follow: None where nothing was retained, and ``head`` itself where only edits were taken.
    """

    cursor: Cursor
    head: Head
    first_id: str
    after_id: str | None
    identities: tuple[Identity, ...]

    def coverage(self, lineage: str, bank: str) -> Coverage:
        """The move as a job carries it, so that the durable job is the move."""
        return Coverage(
            lineage=lineage,
            bank=bank,
            first_id=self.first_id,
            last_id=self.head.last_id,
            chain=self.head.chain,
            after_id=self.after_id,
            count=self.head.count,
            tail=tuple((each.entry_id, each.fingerprint) for each in self.identities[-TAIL:]),
        )


def move(
    cursor: Cursor,
    branch: Branch,
    entries: Iterable[Entry],
    prints: Print = fingerprint,
    sight: Sight | None = None,
) -> Move | None:
    """Move over the ``entries`` that are retained now; None where none of them is new.

    They are counted up to the first new message that is not among them: what lies behind a gap is offered again, and
    the gap is never passed. Their content is taken as given, whatever the branch says by now. ``sight`` is what a look
    at this branch with this cursor saw, where there was one.
    """
    prints = once(prints)
    sight = look(branch, cursor, prints) if sight is None else sight
    given = {entry.id: entry for entry in entries}
    taken = [given[entry.id] for entry in takewhile(lambda each: each.id in given, sight.fresh)]
    edits = [given[entry.id] for entry in sight.edits if entry.id in given]
    if not taken and not edits:
        return None
    identities = tuple(Identity(entry.id, prints(entry)) for entry in (*edits, *taken))
    head = _head(sight, branch, taken, prints, changed=bool(edits))
    moved = sight.cursor.with_head(head, after_id=sight.anchor).with_tail(identities)
    return Move(moved, head, identities[0].entry_id, sight.anchor, identities)


def advance(cursor: Cursor, branch: Branch, entries: Iterable[Entry]) -> Cursor:
    """The cursor after ``move``, or the same one."""
    moved = move(cursor, branch, entries)
    return cursor if moved is None else moved.cursor


def _head(sight: Sight, branch: Branch, taken: Sequence[Entry], prints: Print, *, changed: bool) -> Head:
    last_id = taken[-1].id if taken else sight.anchor or ""
    before = next((head for head in sight.cursor.heads if head.last_id == sight.anchor), None)
    new = [prints(entry) for entry in taken]
    if before is not None and before.count and not changed:
        return Head(last_id, fold(new, before.chain), before.count + len(new))
    if (messages := history(branch, last_id)) is not None:
        return Head(last_id, fold(map(prints, messages)), len(messages))
    return Head(last_id, fold(new, before.chain if before else ""), 0)
