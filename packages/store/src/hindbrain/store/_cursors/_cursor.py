"""A cursor's values: what of a session has been retained for one bank.

Source: decisions.md, "Durability" (cursors); the tail of 200 is the seed's ("Automatic retain").
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable

from attrs import evolve, frozen

TAIL = 200
"""How many of the newest retained messages a cursor can name one by one."""
HEADS = 64
"""How many ends of branches it keeps apart."""
TRAIL = 8192
"""How many retained messages older than the tail it can recognise by their id, at eight bytes each."""

UNSEEN = ""
"""The fingerprint of an entry whose id is known and whose content was not retained: whatever it says is an edit."""

_MARK = 8
"""Characters of an entry id in the trail: 48 bits."""

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
    """What is retained of one lineage for one bank: ``heads`` oldest first, ``tail`` in the order of retaining.

    ``trail`` holds a mark for the id of each retained message that is older than the tail, newest last. It is asked
    only where a branch shows neither a head nor an entry of the tail: a fork from far back, in a file of its own.
    """

    heads: tuple[Head, ...] = ()
    tail: tuple[Identity, ...] = ()
    trail: str = ""

    def with_head(self, head: Head, *, after_id: str | None = None) -> Cursor:
        """With another branch end as the newest, in place of the one it goes on from.

        One that stays where it is (``after_id`` is its own) only renews the chain of a head that is there: no head is
        ever an ancestor of another, or the walk from a leaf would end too early.
        """
        kept = tuple(each for each in self.heads if each.last_id not in {head.last_id, after_id})
        if head.last_id == after_id and len(kept) == len(self.heads):
            return self
        return evolve(self, heads=(*kept, head)[-HEADS:])

    def with_tail(self, identities: Iterable[Identity], *, length: int = TAIL) -> Cursor:
        """With these as the newest retained. Entries that do not fit leave their marks in the trail, the oldest first.

        An edit joins what is known of its entry, where that stands: an entry never outlives those retained after it,
        and of one that was edited and changed back the words of the day may be the older ones.
        """
        groups = _grouped((*self.tail, *identities))
        left: list[str] = []
        count = sum(map(len, groups.values()))
        for name in list(groups):
            if count <= length:
                break
            gone = groups.pop(name)
            count -= len(gone)
            if not is_position(gone[0].entry_id) and any(each.fingerprint != UNSEEN for each in gone):
                left.append(mark(gone[0].entry_id))
        tail = tuple(each for group in groups.values() for each in group)
        return evolve(self, tail=tail, trail=(self.trail + "".join(left))[-TRAIL * _MARK :])

    def marks(self) -> set[str]:
        """The marks in the trail."""
        return {self.trail[at : at + _MARK] for at in range(0, len(self.trail), _MARK)}

    def contents(self) -> dict[str, set[str]]:
        """The fingerprints known of each entry in the tail."""
        found: dict[str, set[str]] = {}
        for each in self.tail:
            found.setdefault(each.entry_id, set()).add(each.fingerprint)
        return found


def _grouped(identities: Iterable[Identity]) -> dict[str | Identity, list[Identity]]:
    """What is known of each entry, in the order of first retaining; of a line, each content by itself, newest last."""
    groups: dict[str | Identity, list[Identity]] = {}
    for each in identities:
        if is_position(each.entry_id):
            groups.pop(each, None)
            groups[each] = [each]
        elif each not in (known := groups.setdefault(each.entry_id, [])):
            known.append(each)
    return groups


def mark(entry_id: str) -> str:
    """What the trail holds of an entry id: 8 characters."""
    found = hashlib.sha256(entry_id.encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(found[:6]).decode()


def is_position(entry_id: str) -> bool:
    """Whether the id only says where the entry stands in a linear file, so that a rewritten file may use it anew."""
    return entry_id.startswith("line-") and _POSITION.fullmatch(entry_id) is not None
