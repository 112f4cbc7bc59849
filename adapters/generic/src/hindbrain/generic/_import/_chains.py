"""A session's tree as chains, which only ever grow at their ends.

An entry belongs to the chain of its parent if it was the first to follow it, else it begins a chain of its own. So what
is cut from the beginning of a chain is cut the same way when the session has gone on, and a document keeps its name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from attrs import frozen

from hindbrain.contracts import Branch, Entry

Mark = tuple[str, int | None]
"""An entry's id and time: a fork carries both over from the session it came from."""


@frozen
class Chain:
    """Entries that follow each other, oldest first. ``name`` is the id of the first of them, however it is cut."""

    name: str
    entries: tuple[Entry, ...]


def mark(entry: Entry) -> Mark:
    """What an entry is known by in a fork."""
    return entry.id, entry.at


def chains_of(branch: Branch) -> tuple[Chain, ...]:
    """All chains, in the order of the file. Every entry is in exactly one, whatever is wrong with its parents."""
    found: list[list[Entry]] = []
    ends: dict[str, int] = {}
    for entry in branch.entries.values():
        number = ends.pop(entry.parent_id, None) if entry.parent_id is not None else None
        if number is None:
            number = len(found)
            found.append([])
        found[number].append(entry)
        ends[entry.id] = number
    return tuple(Chain(entries[0].id, tuple(entries)) for entries in found)


def on_branch(chains: Sequence[Chain], branch: Branch) -> tuple[Chain, ...]:
    """The parts of the chains that lie on the branch itself, from its root to its leaf."""
    path = {entry.id for entry in branch.path()}
    cut = (Chain(chain.name, tuple(entry for entry in chain.entries if entry.id in path)) for chain in chains)
    return tuple(chain for chain in cut if chain.entries)


def without_inherited(chain: Chain, inherited: Collection[Mark]) -> Chain:
    """The chain without what it begins with and another session has, too."""
    start = 0
    while start < len(chain.entries) and mark(chain.entries[start]) in inherited:
        start += 1
    return Chain(chain.name, chain.entries[start:]) if start else chain


def whole_branch(chain: Chain, branch: Branch) -> Chain:
    """The chain with all that leads to it, from the root."""
    return Chain(chain.name, branch.path(chain.entries[-1].id)) if chain.entries else chain
