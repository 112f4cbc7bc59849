"""From a line of the last recall back to where it came from: document, job, session, entries, as far as is known."""

from __future__ import annotations

import glob
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

from hindbrain.contracts import Entry, HindbrainError
from hindbrain.memory import EntryIndex, Recalled, StoredRecall, session_key
from hindbrain.memory.sessions import SessionFileError, names_of, read_session
from hindbrain.store import DocumentTrace

EXPLICIT = "pi-explicit:"
"""How the id of a document begins that was retained by hand."""
_MOST_NAMED = 5

Found = tuple[Entry, str | None]
"""An entry, and the job that retained it, None where it is not known."""
Trace = Callable[[str, str], DocumentTrace]
"""Says what is known of a document, by bank and id."""
Ask = Callable[[Recalled], Awaitable[Mapping[str, Recalled]]]
"""Gives the source facts of an observation, by id, from memory itself."""


class NotRecalledError(HindbrainError):
    """Nothing in the last recall fits what was named."""

    code = "not-recalled"

    def __init__(self, at: str) -> None:
        super().__init__(
            f"Nothing in the last recall ({at}) fits that.",
            next_step="See `hindbrain last-recall` for ids, lines and words; an older recall is not kept.",
        )


class SeveralRecalledError(HindbrainError):
    """Several memories in the last recall fit what was named."""

    code = "several-recalled"

    def __init__(self, ids: Sequence[str]) -> None:
        named = ", ".join(ids[:_MOST_NAMED])
        super().__init__(f"{len(ids)} memories of the last recall fit that.", next_step=f"Name one by its id: {named}.")


@frozen(kw_only=True)
class Origin:
    """One document behind a memory, and what is known of it.

    Attributes:
        document_id: None where not even that is known.
        fact_id: the fact that came from it: the memory itself, or one that it rests on.
        trace: what the state folder knows of the document.
        file: the session's file.
        entries: the session's entries that hold the words, each with the id of the job that retained it, if known.
        unknown: for each link that is missing, why; the links are document, job, session and entries.
    """

    document_id: str | None = None
    fact_id: str | None = None
    trace: DocumentTrace = field(factory=DocumentTrace)
    file: Path | None = None
    entries: tuple[Found, ...] = ()
    unknown: Mapping[str, str] = field(factory=dict)


def pick(stored: StoredRecall, wanted: str) -> Recalled:
    """The one memory that is meant by an id, a number, a line or a part of it.

    Raises:
        NotRecalledError, SeveralRecalledError: none fits, or more than one.
    """
    found = stored.find(wanted)
    if not found:
        raise NotRecalledError(stored.at)
    if len(found) > 1:
        raise SeveralRecalledError([each.id for each in found])
    return found[0]


def origins(
    trace: Trace, bank: str, facts: Iterable[Recalled], *, file: Path | None = None, folders: Iterable[Path] = ()
) -> tuple[Origin, ...]:
    """Where facts came from, one item each.

    Args:
        trace: says what the state folder knows of a document of a bank.
        bank: the facts' bank.
        facts: facts that name their document.
        file: the session's file, where the user names it.
        folders: where hosts keep sessions, to look for the file.

    Raises:
        StoreError: the disk refused.
    """
    places = tuple(folders)
    return tuple(_origin(trace(bank, fact.document_id or ""), fact, file, places) for fact in facts)


async def facts_behind(stored: StoredRecall, memory: Recalled, ask: Ask | None = None) -> tuple[list[Recalled], str]:
    """The facts with a document that a memory is or rests on, or why there is none.

    Args:
        stored: the last recall.
        memory: the memory in it.
        ask: asks memory for the source facts that the recall did not bring.
    """
    if memory.document_id:
        return [memory], ""
    sources = {id_: stored.sources[id_] for id_ in memory.source_ids if id_ in stored.sources}
    if not sources and ask is not None:
        try:
            sources = dict(await ask(memory))
        except HindbrainError as error:
            return [], f"Memory was asked for the facts behind it and gave no answer ({error.code})."
    if found := [each for each in sources.values() if each.document_id]:
        return found, ""
    if sources:
        return [], "The facts it rests on name no document."
    if ask is not None:
        return [], "Memory was asked again and did not tell the facts it rests on."
    return [], (
        "It names no document, as an observation that rests on other facts, and the recall did not bring those. Say "
        "--ask, or set recall.includeSourceFacts to true."
    )


def _origin(trace: DocumentTrace, fact: Recalled, file: Path | None, folders: tuple[Path, ...]) -> Origin:
    document = fact.document_id or ""
    unknown: dict[str, str] = {}
    if trace.receipt is None and not trace.jobs and not trace.dead:
        unknown["job"] = (
            "Neither the queue nor the receipts of this state folder name the document: it was retained too long ago, "
            "or by another project, host or machine."
        )
    if trace.session_id is None and trace.lineage is None:
        unknown["session"] = (
            "It was retained by hand, not from a session."
            if document.startswith(EXPLICIT)
            else "No session of this state folder has the document. Say --host if another host retained it."
        )
    path = file or _found(folders, trace.session_id or trace.lineage)
    entries: tuple[Found, ...] = ()
    if path is None:
        unknown["entries"] = "The session's file was not found; name it with --session."
    else:
        entries, why = _entries(path, fact, trace)
        if why:
            unknown["entries"] = why
    return Origin(document_id=document, fact_id=fact.id, trace=trace, file=path, entries=entries, unknown=unknown)


def _found(folders: Iterable[Path], session_id: str | None) -> Path | None:
    """The session's file in the folders of hosts, which name it after the session."""
    if session_id is None:
        return None
    pattern = f"*/*{glob.escape(session_id)}.jsonl"
    return next((path for folder in folders for path in sorted(folder.glob(pattern))), None)


def _entries(path: Path, fact: Recalled, trace: DocumentTrace) -> tuple[tuple[Found, ...], str]:
    """The entries that hold the words, or why there is none."""
    try:
        recorded = read_session(path)
    except SessionFileError as error:
        return (), error.what
    if trace.lineage is not None and not _is_of(path, trace.lineage, fact.document_id or ""):
        return (), "The file is that of another session."
    branch = recorded.branch()
    jobs: dict[str, str] = {}
    for job in trace.jobs:
        ids = [] if job.covers is None else [entry.id for entry in branch.path(job.covers.last_id)]
        if job.covers is not None and job.covers.first_id in ids:
            jobs |= dict.fromkeys(ids[ids.index(job.covers.first_id) :], job.id)
    found = EntryIndex.of(recorded.entries).find(fact.text)
    if not found:
        return (), "No message of the session holds these words: memory words facts in its own way."
    return tuple((branch.entries[id_], jobs.get(id_)) for id_ in found), ""


def _is_of(path: Path, lineage: str, document_id: str) -> bool:
    """Whether the file is of that lineage, or the one whose place named the document before it had a header."""
    names = names_of(path)
    return (names is not None and names.lineage == lineage) or session_key(str(path.resolve())) in document_id
