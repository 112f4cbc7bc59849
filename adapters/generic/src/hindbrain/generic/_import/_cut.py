"""From a session file to documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from attrs import frozen

from hindbrain.contracts import Branch, Entry
from hindbrain.generic._import._chains import Chain, Mark, chains_of, mark, on_branch, whole_branch, without_inherited
from hindbrain.generic._import._chunks import chunks_of
from hindbrain.generic._import._documents import Document, Span, document_of
from hindbrain.generic._import._select import Kept, select, text_size
from hindbrain.generic._import._source import Source
from hindbrain.generic._import._values import Dropped, Mode, Profile, Tally
from hindbrain.memory import RetainConfig


@frozen(kw_only=True)
class Known:
    """What of a session is in memory already, and not by an earlier import of it.

    ``inherited`` are the entries of its parent session, which is imported to the same place; ``live`` are the ids of
    those that were retained while the session ran. Only curated documents leave the latter out.
    """

    inherited: frozenset[Mark] = frozenset()
    live: frozenset[str] = frozenset()


@frozen(kw_only=True)
class Cut:
    """A session file as documents, what was counted on the way, and whether it has several branches."""

    documents: tuple[Document, ...]
    tally: Tally
    forked: bool


@frozen
class Tree:
    """A session's entries, all their chains, and those that are imported: all, or what lies on the branch itself."""

    branch: Branch
    chains: tuple[Chain, ...]
    taken: tuple[Chain, ...]

    @classmethod
    def of(cls, branch: Branch, profile: Profile) -> Tree:
        """The tree of a session."""
        chains = chains_of(branch)
        return cls(branch, chains, chains if profile.branches else on_branch(chains, branch))

    @property
    def marks(self) -> frozenset[Mark]:
        """The entries that are imported."""
        return frozenset(mark(entry) for chain in self.taken for entry in chain.entries)


def cut(tree: Tree, source: Source, profile: Profile, config: RetainConfig, known: Known) -> Cut:
    """Cut a session into documents.

    Args:
        tree: the session's entries.
        source: its file.
        profile: what is imported, and in what pieces.
        config: which parts of messages automatic retain keeps.
        known: what is in memory already.
    """
    tally = Tally()
    taken = {entry.id for chain in tree.taken for entry in chain.entries}
    left = (entry for chain in tree.chains for entry in chain.entries if entry.id not in taken)
    _drop(left, Dropped.OTHER_BRANCH, tally)
    for chain in tree.taken:
        _drop(chain.entries[: _inherited(chain, known)], Dropped.IN_PARENT, tally)
    keep = profile.retain(config)
    documents: list[Document] = []
    for chain in _own(tree, profile, known):
        for run in _runs(chain, profile, known, tally):
            chunks = list(_pieces(select(run, keep, tally, keep_injected=profile.keeps_injected), profile))
            for chunk, (first, last) in zip(chunks, _spans(run, chunks), strict=True):
                span = Span(branch=chain.name, end=chain.entries[-1].id, first=first, last=last)
                documents.append(document_of(chunk, source, profile, span))
    said = sum(any(entry.message for entry in chain.entries) for chain in tree.chains)
    return Cut(documents=tuple(documents), tally=tally, forked=said > 1)


def _drop(entries: Iterable[Entry], why: Dropped, tally: Tally) -> None:
    for entry in entries:
        if entry.message is not None:
            tally.drop(why, text_size(entry.message))


def _inherited(chain: Chain, known: Known) -> int:
    return len(chain.entries) - len(without_inherited(chain, known.inherited).entries)


def _own(tree: Tree, profile: Profile, known: Known) -> Iterator[Chain]:
    """The chains without what they inherited; in raw modes with all that leads to their ends."""
    for chain in tree.taken:
        if profile.mode is Mode.CURATED:
            own = chain
        elif profile.branches or chain.entries[-1].id == tree.branch.leaf_id:
            own = whole_branch(chain, tree.branch)
        else:
            continue
        own = without_inherited(own, known.inherited)
        if own.entries:
            yield own


def _runs(chain: Chain, profile: Profile, known: Known, tally: Tally) -> Iterator[Sequence[Entry]]:
    """The entries of a chain, cut where some of them were retained live: no document runs over such a gap."""
    if profile.mode is not Mode.CURATED or not known.live:
        yield chain.entries
        return
    said = (entry for entry in chain.entries if entry.message is not None or entry.kind == "message")
    for is_live, run in groupby(said, key=lambda entry: entry.id in known.live):
        if is_live:
            _drop(run, Dropped.RETAINED_LIVE, tally)
        else:
            yield list(run)


def _spans(run: Sequence[Entry], chunks: Sequence[Sequence[Kept]]) -> Iterator[tuple[str, str]]:
    """The first and the last entry that each chunk stands for, those among them that are dropped."""
    places = {entry.id: place for place, entry in enumerate(run)}
    starts = [0, *(places[chunk[0].entry_id] for chunk in chunks[1:]), len(run)]
    for start, stop in pairwise(starts[: len(chunks) + 1]):
        yield run[start].id, run[stop - 1].id


def _pieces(kept: Sequence[Kept], profile: Profile) -> Iterator[Sequence[Kept]]:
    if profile.mode is Mode.CURATED:
        yield from chunks_of(kept, turns=profile.turns, max_bytes=profile.max_bytes)
    elif kept:
        yield kept
