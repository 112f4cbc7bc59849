"""Where a host cuts the conversation when it compacts: what a replay needs in place of a host.

Source: spec/observe.md section 0 (the last 20 000 tokens stay; a cut never lands on a tool's result).
"""

from __future__ import annotations

from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._tokens import is_source

KEEP = 20_000
RESERVE = 16_384


def cut_place(index: LedgerIndex, keep: int = KEEP) -> int | None:
    """The place of the first source that stays; None where nothing new would go."""
    kept = index.kept_from
    place = index.place_at(keep)
    while place < len(index.entries) and not _may_begin(index, place):
        place += 1
    return place if kept < place < len(index.entries) else None


def _may_begin(index: LedgerIndex, place: int) -> bool:
    entry = index.entries[place]
    return is_source(entry) and (entry.message is None or entry.message.role != "toolResult")
