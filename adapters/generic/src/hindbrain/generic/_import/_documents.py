"""A document of an import, and the job that retains it."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import field, frozen

from hindbrain.contracts import RetainItem, RetainJob, UpdateMode, scrub
from hindbrain.generic._import._select import Kept
from hindbrain.generic._import._source import Source, clean_id
from hindbrain.generic._import._target import Target
from hindbrain.generic._import._values import Mode, Profile
from hindbrain.memory import digest, iso, observation_scopes, operation_id, retain_tags, session_key


@frozen(kw_only=True)
class Span:
    """Where a document lies: the name of its chain and the last entry of that, and the entries it goes from and to."""

    branch: str
    end: str
    first: str
    last: str


@frozen(kw_only=True)
class Document:
    """What is imported as one. ``revision`` stands for its content.

    ``at`` is the time of its last message, in milliseconds since 1970 UTC.
    """

    id: str
    content: str = field(repr=False)
    revision: str
    messages: int
    span: Span
    at: int | None


def document_of(kept: Sequence[Kept], source: Source, profile: Profile, span: Span) -> Document:
    """The document that these messages are.

    A curated one is named after the entry it begins with: the session may go on, and its last document is then
    replaced by the longer one, while those before it stay what they are. Others are named after their branch.
    """
    name = span.branch if profile.mode is not Mode.CURATED else kept[0].entry_id
    content = "[\n" + ",\n".join([message.text for message in kept]) + "\n]"
    return Document(
        id=f"pi-import:{source.session}:{profile.namespace}:from-{clean_id(name)}",
        content=content,
        revision=digest(content)[:32],
        messages=len(kept),
        span=span,
        at=next((message.at for message in reversed(kept) if message.at is not None), source.at),
    )


def _tags(document: Document, source: Source, target: Target, *, forked: bool) -> tuple[str, ...]:
    """Source: spec/memory.md section 2.4. The branch goes by its first entry, since its leaf moves on."""
    tags = [f"branch:{clean_id(document.span.branch)}", "import:historical", "imported:true", f"document:{document.id}"]
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
        "firstEntry": clean_id(document.span.first),
        "lastEntry": clean_id(document.span.last),
    }
    item = RetainItem(
        content=document.content,
        document_id=document.id,
        context=scrub(f"{target.project.id} coding session {source.path.name}"),
        timestamp=iso(document.at if document.at is not None else source.mtime // 1_000_000),
        metadata=metadata | ({"parentSession": source.parent} if source.parent else {}),
        tags=(*_tags(document, source, target, forked=forked), *map(scrub, profile.tags)),
        update_mode=UpdateMode.REPLACE,
        observation_scopes=observation_scopes(
            target.config,
            target.project,
            host=source.host,
            session=session_key(str(source.path)),
            bank=target.bank,
        ).rows,
    )
    operation = operation_id(
        origin=target.origin,
        bank=target.bank,
        project=target.project.id,
        document=document.id,
        revision=f"{document.revision}:{generation}",
    )
    return RetainJob(id=operation, bank=target.bank, item=item, operation_id=operation, created_at=now)
