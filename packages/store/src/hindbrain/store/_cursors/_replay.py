"""The cursor as the jobs of the queue's log have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hindbrain.contracts import Coverage
from hindbrain.store._cursors._cursor import Cursor, Head, Identity, mark


def replay(cursor: Cursor, covers: Iterable[Coverage]) -> Cursor:
    """The cursor with all moves of one lineage and bank, in the log's order; those it has already change nothing.

    A move it does not know, but that others it knows came after, was made by a process that died in between: it counts
    too, unless a later one goes on from it. Replaying twice is replaying once.

    Source: decisions.md, "Durability": the durable job is the cursor's move.
    """
    moves = list(covers)
    knows = _knowledge(cursor)
    known = [knows(each) for each in moves]
    newer = max((place for place, yes in enumerate(known) if yes), default=-1) + 1
    passed = {each.after_id for each in moves if each.after_id != each.last_id}
    for place, each in enumerate(moves):
        if place >= newer or not (known[place] or each.last_id in passed):
            cursor = _apply(cursor, each)
    return cursor


def _knowledge(cursor: Cursor) -> Callable[[Coverage], bool]:
    heads, tail, marks = set(cursor.heads), set(cursor.tail), cursor.marks()
    ids = {head.last_id for head in heads} | {each.entry_id for each in tail}

    def knows(cover: Coverage) -> bool:
        newest = Identity(*cover.tail[-1]) if cover.tail else None
        if mark(newest.entry_id if newest else cover.last_id) in marks:
            return True
        if Head(cover.last_id, cover.chain, cover.count) in heads:
            return True
        return newest in tail if newest else cover.last_id in ids

    return knows


def _apply(cursor: Cursor, cover: Coverage) -> Cursor:
    head = Head(cover.last_id, cover.chain, cover.count)
    tail = (Identity(entry_id, fingerprint) for entry_id, fingerprint in cover.tail)
    return cursor.with_head(head, after_id=cover.after_id).with_tail(tail)
