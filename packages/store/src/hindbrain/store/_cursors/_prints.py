"""Fingerprints that are computed once an entry, however many turns look at it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hindbrain.contracts import Entry
from hindbrain.store._cursors._cursor import TAIL
from hindbrain.store._cursors._fingerprint import fingerprint

Print: TypeAlias = Callable[[Entry], str]
"""Gives an entry's fingerprint."""

LIMIT = 4 * TAIL


class Fingerprints:
    """Remembers the newest entries it was asked about, as objects: one that was edited is another object.

    A turn compares the whole tail with what was retained, and all of it but the newest entries is the same as in the
    turn before. A host that builds its entries anew at every turn gains nothing and loses nothing.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[Entry, str]] = {}

    def __call__(self, entry: Entry) -> str:
        """The entry's fingerprint."""
        known = self._known.get(entry.id)
        if known is not None and known[0] is entry:
            return known[1]
        found = fingerprint(entry)
        self._known.pop(entry.id, None)
        if len(self._known) >= LIMIT:
            del self._known[next(iter(self._known))]
        self._known[entry.id] = (entry, found)
        return found


def once(prints: Print) -> Print:
    """The same, each entry asked about once, however many there are: for the length of one move.

    A move looks at new entries twice, and the first one of a long session has more of them than are remembered.
    """
    known: dict[str, tuple[Entry, str]] = {}

    def remembered(entry: Entry) -> str:
        found = known.get(entry.id)
        if found is None or found[0] is not entry:
            found = known[entry.id] = (entry, prints(entry))
        return found[1]

    return remembered
