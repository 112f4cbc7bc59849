"""A cursor's values: what of a session has been retained for one bank.

Source: decisions.md, "Durability" (cursors); the tail of 200 is the seed's ("Automatic retain").
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import evolve, frozen

TAIL = 200
"""How many of the newest retained messages a cursor can name one by one."""
HEADS = 64
"""How many ends of branches it keeps apart."""

UNSEEN = ""
"""The fingerprint of an entry whose id is known and whose content was not retained: whatever it says is an edit."""

_POSITION = re.compile(r"line-[0-9]+")


@frozen
class Identity:
    """One entry as it was retained: its id, and the fingerprint of what it said."""

    entry_id: str
    fingerprint: str


@frozen
class Head:
    """The retained end of one branch: this entry and all its ancestors are retained.

    ``chain`` folds the fingerprints of the branch's messages up to here and ``count`` is their number; 0 where the
    beginning of the branch was not seen, and the chain then says nothing.
    """

    last_id: str
    chain: str
    count: int


@frozen(kw_only=True)
class Cursor:
    """What is retained of one lineage for one bank: ``heads`` oldest first, ``tail`` in the order of retaining."""

    heads: tuple[Head, ...] = ()
    tail: tuple[Identity, ...] = ()

    def with_head(self, head: Head, *, instead_of: str | None = None) -> Cursor:
        """With another branch end as the newest, in place of the one it goes on from."""
        gone = {head.last_id, instead_of}
        kept = tuple(each for each in self.heads if each.last_id not in gone)
        return evolve(self, heads=(*kept, head)[-HEADS:])

    def with_tail(self, identities: Iterable[Identity]) -> Cursor:
        """With these as the newest retained; of the rest, the newest that fit."""
        newest = tuple(dict.fromkeys(identities))[-TAIL:]
        gone = set(newest)
        kept = tuple(each for each in self.tail if each not in gone)
        return evolve(self, tail=(*kept, *newest)[-TAIL:])

    def contents(self) -> dict[str, set[str]]:
        """The fingerprints known of each entry in the tail."""
        found: dict[str, set[str]] = {}
        for each in self.tail:
            found.setdefault(each.entry_id, set()).add(each.fingerprint)
        return found


def is_position(entry_id: str) -> bool:
    """Whether the id only says where the entry stands in a linear file, so that a rewritten file may use it anew."""
    return _POSITION.fullmatch(entry_id) is not None
