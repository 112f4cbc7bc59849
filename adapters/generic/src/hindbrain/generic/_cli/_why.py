"""``hindbrain why``: where a line of the last recall came from, link by link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hindbrain.contracts import Backend, RecallQuery, neutralise
from hindbrain.generic._cli._last_recall import details
from hindbrain.generic._cli._run import Options, run, session_folders
from hindbrain.generic._cli._state import with_view
from hindbrain.generic._cli._stored import Where, last_recall
from hindbrain.generic._config import Settings
from hindbrain.generic._envelope import Envelope, Exit
from hindbrain.generic._open import open_backend
from hindbrain.generic._why import Origin, facts_behind, origins, pick
from hindbrain.memory import Recalled, StoredRecall, iso, read_recall
from hindbrain.store import DocumentTrace, StateView

_SOURCE_TOKENS = 4096
LINKS = ("document", "job", "session", "entries")


async def _sources(settings: Settings, memory: Recalled) -> Mapping[str, Recalled]:
    """What memory itself says the observation rests on: one recall of its own words, with the facts behind it."""

    async def use(backend: Backend) -> Mapping[str, Recalled]:
        answer = await backend.recall(memory.bank, RecallQuery(text=memory.text, source_fact_tokens=_SOURCE_TOKENS))
        wanted = next((fact.source_fact_ids for fact in answer.facts if fact.id == memory.id), memory.source_ids)
        return {
            id_: Recalled(id=id_, text=fact.text, bank=memory.bank, document_id=fact.document_id)
            for id_ in wanted
            if (fact := answer.source_facts.get(id_)) is not None
        }

    async with open_backend(settings) as backend:
        return await use(backend)


def _data(stored: StoredRecall, memory: Recalled, found: tuple[Origin, ...]) -> dict[str, Any]:
    return {
        "recalled_at": stored.at,
        "memory": {
            "id": memory.id,
            "text": memory.text,
            "bank": memory.bank,
            "type": memory.type,
            "line": memory.line,
            "reasons": list(memory.reasons),
            "scores": dict(memory.scores),
        },
        "origins": [_origin(each) for each in found],
        "whole": not any(each.unknown for each in found),
    }


def _origin(each: Origin) -> dict[str, Any]:
    receipt, trace = each.trace.receipt, each.trace
    return {
        "document_id": each.document_id,
        "fact_id": each.fact_id,
        "job": {
            "logged": [job.id for job in trace.jobs],
            "waiting": [job.id for job in trace.waiting],
            "dead": [letter.id for letter in trace.dead],
            "taken": None if receipt is None else {"id": receipt.job_id, "at": receipt.created_at},
        },
        "session": {
            "id": trace.session_id,
            "lineage": trace.lineage,
            "file": None if each.file is None else str(each.file),
        },
        "entries": [
            {
                "id": entry.id,
                "line": entry.line,
                "role": None if entry.message is None else entry.message.role,
                "at": None if entry.at is None else iso(entry.at),
                "job": job,
            }
            for entry, job in each.entries
        ],
        "unknown": dict(each.unknown),
    }


def _job(each: Origin) -> str:
    """The jobs that retained the entries, where those are known; else all that is known of the document's."""
    trace = each.trace
    by_entry = dict.fromkeys(job for _, job in each.entries if job is not None)
    told = {job: f"{job} retained it" for job in by_entry}
    for job in trace.waiting:
        told[job.id] = f"{job.id} waits to be sent"
    for letter in trace.dead:
        told[letter.id] = f"{letter.id} was given up ({letter.code})"
    if trace.receipt is not None:
        told[trace.receipt.job_id] = f"{trace.receipt.job_id} was taken at {trace.receipt.created_at}"
    return "; ".join(told.values()) or f"{len(trace.jobs)} of the document are in the queue's log, sent"


def _lines(stored: StoredRecall, memory: Recalled, found: tuple[Origin, ...]) -> Iterator[str]:
    place = "not shown" if memory.line is None else f"line {memory.line}"
    yield f"{place} of the recall at {neutralise(stored.at)}: {neutralise(memory.text)}"
    yield f"memory    {details(memory)}  in bank {neutralise(memory.bank)}"
    for each in found:
        by = "" if each.fact_id in {None, memory.id} else f" (by fact {neutralise(each.fact_id or '')})"
        session = each.trace.session_id or each.trace.lineage
        entries = [f"{e.id} (line {e.line}, {e.message.role if e.message else e.kind})" for e, _ in each.entries]
        told = {
            "document": each.document_id and f"{neutralise(each.document_id)}{by}",
            "job": each.document_id and _job(each),
            "session": session and f"{session}{f' in {each.file}' if each.file else ''}",
            "entries": ", ".join(entries),
        }
        for link in LINKS:
            if link in each.unknown:
                yield f"{link:9s} unknown: {each.unknown[link]}"
            elif told[link]:
                yield f"{link:9s} {told[link]}"


def why(options: Options, where: Where, wanted: str, file: Path | None, *, ask: bool) -> None:
    """Explain a memory of the last recall.

    Args:
        options: the common options.
        where: whose state folder is meant.
        wanted: an id, the number of a line, a line or a part of it.
        file: the session's file, where the user names it.
        ask: ask memory again for what the recall did not bring.
    """

    async def work(settings: Settings) -> Envelope:
        stored = read_recall(last_recall(settings, where))
        memory = pick(stored, wanted)

        facts, unknown = await facts_behind(stored, memory, (lambda each: _sources(settings, each)) if ask else None)

        def look(view: StateView | None) -> Envelope:
            trace = _nothing if view is None else view.trace
            found = origins(trace, memory.bank, facts, file=file, folders=session_folders())
            found = found or (Origin(unknown={"document": unknown}),)
            return Envelope(
                command="why",
                data=_data(stored, memory, found),
                text="\n".join(_lines(stored, memory, found)),
                exit=Exit.PARTIAL if any(each.unknown for each in found) else Exit.OK,
            )

        return await with_view(settings, where.host, where.state_dir, look)

    run("why", options, work)


def _nothing(_bank: str, _document_id: str) -> DocumentTrace:
    return DocumentTrace()
