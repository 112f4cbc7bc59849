"""What one recall came to, as a JSON object for people to look at: every candidate with its scores and its verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from hindbrain.contracts import Fact, JsonValue, scrub
from hindbrain.memory._projection import iso
from hindbrain.memory._recall import RecallOutcome
from hindbrain.memory._scope import RecallScope

BEFORE_SCOPES = "pre-scope-failure"
"""In place of a bank, where a recall broke before any bank was asked. Source: spec/memory.md section 3.1."""


def recall_snapshot(
    outcome: RecallOutcome, scopes: Sequence[RecallScope], *, at: int, session: str, failures: bool
) -> dict[str, JsonValue] | None:
    """The snapshot of a recall, or None where there is nothing to be shown.

    A recall in which every bank failed, or that has only failures to tell, gives one only where ``failures`` says so.
    All text is scrubbed; a failure is told by its code alone. Nothing about routing is in it.

    Args:
        outcome: what the recall came to.
        scopes: the session's banks in their order; one that was left alone this time is not in the snapshot.
        at: when it was first shown, in milliseconds since 1970 UTC.
        session: the key of the session that asked.
        failures: whether banks that gave no answer are named, with the queries they were asked.

    Returns:
        ``{createdAt, sessionId, query, rendered, blocks, sources, failed, failures?}``. A block is ``{bankId, kind,
        query, memoryCount, results}``, and a result ``{id, text, type, documentId, sourceFactIds, tags, context,
        scores, kept, reasons, line}``, where ``line`` is its number in the injected block.

    Source: spec/memory.md section 5.5; seed 000, "Last-recall snapshots"; scores and verdicts are ours (to measure
    floors by).
    """
    if outcome.failures and not failures and not outcome.block.text:
        return None
    failed = {failure.bank: failure.code for failure in outcome.failures}
    blocks = [_block(outcome, s) for s in scopes if s.bank in outcome.queries and s.bank not in failed]
    body = {
        "createdAt": iso(at),
        "sessionId": session,
        "query": scrub(outcome.query),
        "rendered": scrub(outcome.block.text),
        "blocks": blocks,
        "sources": [_fact(fact) for fact in outcome.sources.values()],
        "failed": len(failed),
    }
    if failures and failed:
        body["failures"] = [
            {"bankId": s.bank, "kind": s.kind, "query": scrub(outcome.queries.get(s.bank, "")), "error": failed[s.bank]}
            for s in scopes
            if s.bank in failed
        ]
    return body


def broken_snapshot(error: str, *, at: int, session: str) -> dict[str, JsonValue]:
    """The snapshot of a recall that broke before any bank was asked; ``error`` is a code or a class, never a text."""
    return {
        "createdAt": iso(at),
        "sessionId": session,
        "query": "",
        "rendered": "",
        "blocks": [],
        "sources": [],
        "failed": 1,
        "failures": [{"bankId": BEFORE_SCOPES, "kind": None, "query": "", "error": error}],
    }


def _block(outcome: RecallOutcome, scope: RecallScope) -> dict[str, JsonValue]:
    lines = {(item.bank, item.fact.id): item.number for item in outcome.block.items}
    verdicts = [verdict for verdict in outcome.verdicts if verdict.bank == scope.bank]
    results = [
        {
            **_fact(each.fact),
            "scores": attrs.asdict(each.fact.scores),
            "kept": each.kept,
            "reasons": list(each.reasons),
            "line": lines.get((each.bank, each.fact.id)) if each.kept else None,
        }
        for each in verdicts
    ]
    return {
        "bankId": scope.bank,
        "kind": scope.kind,
        "query": scrub(outcome.queries.get(scope.bank, "")),
        "memoryCount": sum(each.kept for each in verdicts),
        "results": results,
    }


def _fact(fact: Fact) -> Mapping[str, JsonValue]:
    return {
        "id": fact.id,
        "text": scrub(fact.text),
        "type": None if fact.type is None else fact.type.value,
        "documentId": fact.document_id,
        "sourceFactIds": list(fact.source_fact_ids),
        "tags": [scrub(tag) for tag in fact.tags],
        "context": None if fact.context is None else scrub(fact.context),
    }
