"""What a branch has that a cursor has not.

The walk begins at the leaf and ends at the first entry that is retained, so that a turn costs its new entries and the
tail, not the history. Only where a branch leaves the retained ones before the tail is their whole path walked, once.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from hindbrain.contracts import Branch, Entry
from hindbrain.store._cursors._anchor import reanchored
from hindbrain.store._cursors._cursor import TAIL, Cursor, is_position, mark
from hindbrain.store._cursors._fingerprint import fingerprint
from hindbrain.store._cursors._prints import Print


@frozen
class Sight:
    """A branch as a cursor sees it.

    ``fresh`` are the messages after ``anchor``, the last retained entry of the branch (None: nothing of it is
    retained). ``edits`` are messages up to the anchor that say something else than what was retained. Both in the
    order of the branch. ``cursor`` is the one given, or the same brought into line with a file that gave its entries
    new ids.
    """

    cursor: Cursor
    fresh: tuple[Entry, ...]
    edits: tuple[Entry, ...] = ()
    anchor: str | None = None

    @property
    def new(self) -> tuple[Entry, ...]:
        """All that is to be retained, in the order of the branch."""
        return (*self.edits, *self.fresh)


def back(branch: Branch, start: str | None) -> Iterator[Entry]:
    """The entries from ``start`` towards the root, one look-up each; a missing parent or a cycle ends it."""
    seen: set[str] = set()
    while start is not None and start not in seen and (entry := branch.entries.get(start)) is not None:
        seen.add(start)
        yield entry
        start = entry.parent_id


def look(branch: Branch, cursor: Cursor, prints: Print = fingerprint) -> Sight:
    """See what of the branch is not retained."""
    sight = _look(branch, cursor, prints)
    if sight.anchor is None and sight.fresh:
        moved = reanchored(branch, cursor)
        if moved is not cursor:
            return _look(branch, moved, prints)
    return sight


def _look(branch: Branch, cursor: Cursor, prints: Print) -> Sight:
    contents = cursor.contents()
    heads = {head.last_id for head in cursor.heads}
    walked: list[Entry] = []
    for entry in back(branch, branch.leaf_id):
        if _is_retained(entry, heads, contents, prints):
            edits = tuple(_edits(branch, entry.id, contents, prints))
            return Sight(cursor, _messages(walked), edits, entry.id)
        walked.append(entry)
    before = walked[-1].parent_id if walked else None
    if before is not None and (before in heads or before in contents):
        # The host gave this run's entries alone, and they go on from what is retained.
        return Sight(cursor, _messages(walked), (), before)
    return _below_the_tail(branch, cursor, walked)


def _is_retained(entry: Entry, heads: set[str], contents: dict[str, set[str]], prints: Print) -> bool:
    if is_position(entry.id):
        return entry.id in contents and prints(entry) in contents[entry.id]
    return entry.id in heads or entry.id in contents


def _messages(walked: list[Entry]) -> tuple[Entry, ...]:
    return tuple(entry for entry in reversed(walked) if entry.message is not None)


def _edits(branch: Branch, anchor: str, contents: dict[str, set[str]], prints: Print) -> list[Entry]:
    found: list[Entry] = []
    left = len(contents)
    messages = 0
    for entry in back(branch, anchor):
        if left == 0 or messages == TAIL:
            break
        if entry.message is None:
            continue
        messages += 1
        if entry.id in contents:
            left -= 1
            if prints(entry) not in contents[entry.id]:
                found.append(entry)
    return found[::-1]


def _below_the_tail(branch: Branch, cursor: Cursor, walked: list[Entry]) -> Sight:
    retained = _ancestors(branch, cursor)
    marks = cursor.marks()
    for place, entry in enumerate(walked):
        if entry.id in retained or (marks and mark(entry.id) in marks):
            return Sight(cursor, _messages(walked[:place]), (), entry.id)
    return Sight(cursor, _messages(walked))


def _ancestors(branch: Branch, cursor: Cursor) -> set[str]:
    """All entries of the tree that a head vouches for."""
    found: set[str] = set()
    for head in cursor.heads:
        if not is_position(head.last_id):
            for entry in back(branch, head.last_id):
                if entry.id in found:
                    break
                found.add(entry.id)
    return found
