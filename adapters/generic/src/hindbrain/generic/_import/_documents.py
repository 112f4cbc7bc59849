"""From a session file to documents, and from a document to the job that retains it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from attrs import field, frozen

from hindbrain.contracts import RetainItem, RetainJob, UpdateMode, scrub
from hindbrain.generic._import._chains import (
    Chain,
    Mark,
    chains_of,
    mark,
    on_branch,
    whole_branch,
    without_inherited,
)
from hindbrain.generic._import._chunks import chunks_of
from hindbrain.generic._import._select import Kept, select, text_size
from hindbrain.generic._import._source import Source, clean_id
from hindbrain.generic._import._target import Target
from hindbrain.generic._import._values import Dropped, Mode, Profile, Tally
from hindbrain.memory import digest, iso, operation_id, retain_tags
from hindbrain.memory.sessions import SessionFile


@frozen(kw_only=True)
class Document:
    """What is imported as one. ``branch`` names the chain it lies on, ``revision`` stands for its content.

    ``at`` is the time of its last message, in milliseconds since 1970 UTC.
    """

    id: str
    content: str = field(repr=False)
    revision: str
    messages: int
    branch: str
    first: str
    last: str
    at: int | None


@frozen(kw_only=True)
class Cut:
    """A session file as documents, what was counted on the way, and what of it a fork need not import again."""

    documents: tuple[Document, ...]
    tally: Tally
    marks: frozenset[Mark]
    forked: bool


def cut(recorded: SessionFile, source: Source, profile: Profile, target: Target, inherited: Collection[Mark]) -> Cut:
    """Cut a session into documents.

    A document is named after the entry it begins with: the session may go on, and its last document is then replaced
    by the longer one, while those before it stay what they are.
    """
    branch = recorded.branch()
    tally = Tally()
    chains = chains_of(branch)
    taken = chains if profile.branches else on_branch(chains, branch)
    marks = frozenset(mark(entry) for chain in taken for entry in chain.entries)
    _count_left_out(chains, marks, tally)
    if profile.mode is not Mode.CURATED:
        ends = taken if profile.branches else [chain for chain in taken if chain.entries[-1].id == branch.leaf_id]
        own = [without_inherited(whole_branch(chain, branch), inherited) for chain in ends]
    else:
        own = [without_inherited(chain, inherited) for chain in taken]
    _count_inherited(taken, inherited, tally)
    config = profile.retain(target.config.retain)
    documents = [
        _document(chunk, chain, source, profile)
        for chain in own
        for chunk in _pieces(select(chain.entries, config, tally, keep_injected=profile.keeps_injected), profile)
    ]
    forked = sum(any(entry.message for entry in chain.entries) for chain in chains) > 1
    return Cut(documents=tuple(documents), tally=tally, marks=marks, forked=forked)


def _pieces(kept: Sequence[Kept], profile: Profile) -> Iterator[Sequence[Kept]]:
    if profile.mode is Mode.CURATED:
        yield from chunks_of(kept, turns=profile.turns, max_bytes=profile.max_bytes)
    elif kept:
        yield kept


def _count_left_out(chains: Sequence[Chain], marks: Collection[Mark], tally: Tally) -> None:
    for chain in chains:
        for entry in chain.entries:
            if entry.message is not None and mark(entry) not in marks:
                tally.drop(Dropped.OTHER_BRANCH, text_size(entry.message))


def _count_inherited(chains: Sequence[Chain], inherited: Collection[Mark], tally: Tally) -> None:
    for chain in chains:
        left = len(chain.entries) - len(without_inherited(chain, inherited).entries)
        for entry in chain.entries[:left]:
            if entry.message is not None:
                tally.drop(Dropped.IN_PARENT, text_size(entry.message))


def _document(kept: Sequence[Kept], chain: Chain, source: Source, profile: Profile) -> Document:
    name = chain.name if profile.mode is not Mode.CURATED else kept[0].entry_id
    content = "[\n" + ",\n".join([message.text for message in kept]) + "\n]"
    return Document(
        id=f"pi-import:{source.session}:{profile.namespace}:from-{clean_id(name)}",
        content=content,
        revision=digest(content)[:32],
        messages=len(kept),
        branch=clean_id(chain.name),
        first=clean_id(kept[0].entry_id),
        last=clean_id(kept[-1].entry_id),
        at=next((message.at for message in reversed(kept) if message.at is not None), source.at),
    )


def _tags(document: Document, source: Source, target: Target, *, forked: bool) -> tuple[str, ...]:
    """Source: spec/memory.md section 2.4. The branch goes by its first entry, since its leaf moves on."""
    tags = [f"branch:{document.branch}", "import:historical", "imported:true", f"document:{document.id}"]
    tags += [f"parent:{source.parent}"] if source.parent else []
    tags += ["forked:true"] if forked else []
    return retain_tags(source.host, target.project, None, tuple(tags))


def job_of(
    document: Document,
    source: Source,
    profile: Profile,
    target: Target,
    *,
    forked: bool,
    generation: int,
    now: str,
) -> RetainJob:
    """The job that retains a document, in place of what it was before.

    Args:
        document: the document.
        source: the file it comes from.
        profile: how it was made.
        target: where it goes.
        forked: whether its session has several branches.
        generation: how often another content went out under the document's id: the same words again, after others,
            are another operation.
        now: the moment of the import, ISO 8601.
    """
    metadata = {
        "source": "hindbrain",
        "retainSource": "import",
        "imported": "true",
        "projection": profile.mode.projection,
        "sessionId": source.session,
        "sessionFile": scrub(str(source.path)),
        "cwd": scrub(source.cwd or ""),
        "messages": str(document.messages),
        "firstEntry": document.first,
        "lastEntry": document.last,
    }
    item = RetainItem(
        content=document.content,
        document_id=document.id,
        context=scrub(f"{target.project.id} coding session {source.path.name}"),
        timestamp=iso(document.at if document.at is not None else source.mtime // 1_000_000),
        metadata=metadata | ({"parentSession": source.parent} if source.parent else {}),
        tags=(*_tags(document, source, target, forked=forked), *map(scrub, profile.tags)),
        update_mode=UpdateMode.REPLACE,
    )
    operation = operation_id(
        origin=target.origin,
        bank=target.bank,
        project=target.project.id,
        document=document.id,
        revision=f"{document.revision}:{generation}",
    )
    return RetainJob(id=operation, bank=target.bank, item=item, operation_id=operation, created_at=now)
