"""The cursor as the jobs of the queue's log have it."""

from __future__ import annotations

from collections.abc import Iterable

from hindbrain.contracts import Coverage
from hindbrain.store._cursors._cursor import Cursor, Head, Identity


def replay(cursor: Cursor, covers: Iterable[Coverage]) -> Cursor:
    """The cursor with all moves of one lineage and bank, in the log's order; those it has already change nothing.

    A move it does not know, but that others it knows came after, was made by a process that died in between: it counts
    too, unless a later one goes on from it. Replaying twice is replaying once.

    Source: decisions.md, "Durability": the durable job is the cursor's move.
    """
    moves = list(covers)
    known = [_knows(cursor, each) for each in moves]
    newer = max((place for place, yes in enumerate(known) if yes), default=-1) + 1
    passed = {each.after_id for each in moves}
    for place, each in enumerate(moves):
        if place >= newer or not (known[place] or each.last_id in passed):
            cursor = _apply(cursor, each)
    return cursor


def _knows(cursor: Cursor, cover: Coverage) -> bool:
    if cover.tail:
        return Identity(*cover.tail[-1]) in cursor.tail or Head(cover.last_id, cover.chain, cover.count) in cursor.heads
    return any(head.last_id == cover.last_id for head in cursor.heads)


def _apply(cursor: Cursor, cover: Coverage) -> Cursor:
    head = Head(cover.last_id, cover.chain, cover.count)
    tail = (Identity(entry_id, fingerprint) for entry_id, fingerprint in cover.tail)
    return cursor.with_head(head, instead_of=cover.after_id).with_tail(tail)
