"""Where a history went when a host gave its entries new ids: a rewritten file, a copy, old lines that got ids.

Only content counts here. A chain that fits says that the whole beginning is retained, however long; else the tail is
laid along the branch, and what lies in line with it is retained.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from hindbrain.contracts import Branch, Entry
from hindbrain.store._cursors._cursor import TAIL, UNSEEN, Cursor, Head, Identity, is_position
from hindbrain.store._cursors._fingerprint import digest, fingerprint, fold


def history(branch: Branch, leaf_id: str | None = None) -> tuple[Entry, ...] | None:
    """The messages of a branch from its root on, None where its beginning is missing."""
    path = branch.path(leaf_id)
    if not path or path[0].parent_id is not None:
        return None
    return tuple(entry for entry in path if entry.message is not None)


def reanchored(branch: Branch, cursor: Cursor) -> Cursor:
    """The cursor with this branch found again by content; the same one where ids decide or nothing fits.

    A branch that shows only its end is not searched: its ids are all that can be believed.
    """
    known = {head.last_id for head in cursor.heads} | {each.entry_id for each in cursor.tail}
    if any(each in branch.entries and not is_position(each) for each in known):
        return cursor
    messages = history(branch)
    if not known or messages is None:
        return cursor
    prints = [fingerprint(entry) for entry in messages]
    prefix = _longest_chain(prints, {head.count: head.chain for head in cursor.heads if head.count})
    tail = [each.fingerprint for each in cursor.tail]
    return covering(cursor, messages, prints, set(range(prefix)) | aligned(tail, prints, full=len(tail) == TAIL))


def _longest_chain(prints: Sequence[str], chains: dict[int, str]) -> int:
    chain, longest = "", 0
    for count, each in enumerate(prints, 1):
        chain = digest(chain + each)
        if chains.get(count) == chain:
            longest = count
    return longest


def aligned(tail: Sequence[str], prints: Sequence[str], *, full: bool) -> set[int]:
    """Which of the branch's fingerprints the tail holds, in one order in both.

    ``full`` says that something older than the tail was retained: where the tail's first is found, all before it is.
    """
    blocks = SequenceMatcher(None, tail, prints, autojunk=False).get_matching_blocks()
    found = {place for block in blocks for place in range(block.b, block.b + block.size)}
    if full and blocks[0].size and blocks[0].a == 0:
        found.update(range(blocks[0].b))
    return found


def covering(cursor: Cursor, messages: Sequence[Entry], prints: Sequence[str], covered: set[int]) -> Cursor:
    """The cursor that also stands at the last of the covered messages of a branch.

    Those before it that are not covered are named as edits, so that they alone are offered.
    """
    if not covered:
        return cursor
    end = max(covered) + 1
    identities = [
        Identity(entry.id, prints[place] if place in covered else UNSEEN) for place, entry in enumerate(messages[:end])
    ]
    head = Head(messages[end - 1].id, fold(prints[:end]), end)
    return cursor.with_head(head).with_tail(identities)
