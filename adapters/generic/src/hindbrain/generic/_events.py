"""The telemetry events of one call of recall or retain, as pure functions. Ids, counts and times, never text.

Source: spec/memory.md section 13.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Sequence

from attrs import frozen

from hindbrain.contracts import TelemetryEvent
from hindbrain.generic._patch import ContextPatch
from hindbrain.generic._settled import SettledTurn
from hindbrain.memory import RecallAnswer, RecallConfig, RecallScope, ScopeFailure


def new_id() -> str:
    """An id that nothing else has."""
    return uuid.uuid4().hex


@frozen(kw_only=True)
class Span:
    """What the events of one call share. Times are milliseconds since 1970 UTC."""

    session_id: str
    context_id: str
    started_at: int
    ended_at: int


def _retrieval(
    patch: ContextPatch, scope: RecallScope, span: Span, config: RecallConfig, retrieval_id: str
) -> TelemetryEvent:
    hit = patch.cache == "hit"
    judged = [verdict for verdict in patch.outcome.verdicts if verdict.bank == scope.bank]
    kept = tuple(verdict.fact.id for verdict in judged if verdict.kept)
    failure = next((each for each in patch.outcome.failures if each.bank == scope.bank), None)
    injected = tuple(item.fact.id for item in patch.outcome.block.items if item.bank == scope.bank)
    ids = {"raw": tuple(verdict.fact.id for verdict in judged), "kept": kept, "injected": injected}
    return TelemetryEvent(
        phase="retrieval",
        status=_status(failure, kept),
        cache=patch.cache,
        started_at=span.started_at,
        ended_at=span.ended_at if hit else span.started_at + patch.outcome.took.get(scope.bank, 0),
        session_id=span.session_id,
        context_id=span.context_id,
        bank_ids=(scope.bank,),
        ids=ids,
        counts={name: len(of) for name, of in ids.items()},
        details={
            "retrievalId": retrieval_id,
            **({"cacheOriginId": patch.retrievals[scope.bank]} if hit else {}),
            "bankId": scope.bank,
            "kind": scope.kind,
            "budget": config.budget.value,
            "maxTokens": config.tokens_for(scope.kind),
            "timeoutMs": config.deadline_ms,
        },
        reason=None if failure is None else failure.code,
    )


def _status(failure: ScopeFailure | None, found: tuple[str, ...]) -> str:
    if failure is not None:
        return "timeout" if failure.code == "timeout" else "error"
    return "success" if found else "empty"


def asked_events(answer: RecallAnswer, span: Span) -> tuple[TelemetryEvent, ...]:
    """One event for each bank that somebody asked; nothing is judged, and nothing injected."""
    failures = {failure.bank: failure for failure in answer.failures}
    events = []
    for bank, took in answer.took.items():
        failure, found = failures.get(bank), tuple(fact.id for home, fact in answer.facts if home == bank)
        events.append(
            TelemetryEvent(
                phase="retrieval",
                mode="explicit",
                status=_status(failure, found),
                started_at=span.started_at,
                ended_at=span.started_at + took,
                session_id=span.session_id,
                context_id=span.context_id,
                bank_ids=(bank,),
                ids={"raw": found},
                counts={"raw": len(found)},
                details={"retrievalId": new_id(), "bankId": bank},
                reason=None if failure is None else failure.code,
            )
        )
    return tuple(events)


def _injected_status(patch: ContextPatch) -> str:
    if patch.skipped in {"recall-failed", "error"}:
        return "error"
    return "skipped" if patch.skipped else "success" if patch.text else "empty"


def _injection(patch: ContextPatch, span: Span, retrieval_ids: tuple[str, ...]) -> TelemetryEvent:
    shown = patch.text.encode("utf-8")
    ids = tuple(item.fact.id for item in patch.outcome.block.items)
    details: dict[str, str | int | bool] = {
        "injected": bool(shown),
        "failedScopes": len(patch.outcome.failures),
        "scopesLeftAlone": len(patch.left_alone),
    }
    if shown:
        details |= {"renderedHash": hashlib.sha256(shown).hexdigest(), "renderedLength": len(patch.text)}
    return TelemetryEvent(
        phase="injection",
        status=_injected_status(patch),
        cache=patch.cache,
        started_at=span.started_at,
        ended_at=span.ended_at,
        session_id=span.session_id,
        context_id=span.context_id,
        bank_ids=tuple(patch.retrievals),
        ids={"retrieval": retrieval_ids, "injected": ids},
        counts={"candidate": len(patch.outcome.verdicts), "injected": len(ids)},
        details=details,
        reason=patch.skipped,
    )


def recall_events(
    patch: ContextPatch, scopes: Sequence[RecallScope], config: RecallConfig, span: Span, new_id: Callable[[], str]
) -> tuple[TelemetryEvent, ...]:
    """One event for each bank that was asked, now or when the cached answer was found, and one for the injection.

    On a hit each bank's event has an id of its own and names that of the request which found the answer.
    """
    asked = [scope for scope in scopes if scope.bank in patch.retrievals]
    ids = {scope.bank: new_id() if patch.cache == "hit" else patch.retrievals[scope.bank] for scope in asked}
    retrievals = [_retrieval(patch, scope, span, config, ids[scope.bank]) for scope in asked]
    return (*retrievals, _injection(patch, span, tuple(ids.values())))


def retain_event(turn: SettledTurn, span: Span) -> TelemetryEvent:
    """What was kept of a settled turn, and what the flush behind it sent."""
    sent = turn.flush.operations
    banks = [job.bank for job in turn.jobs] + [bank for bank, _ in sent]
    return TelemetryEvent(
        phase="retain",
        status="error" if turn.skipped == "error" else "skipped" if turn.skipped else "success",
        started_at=span.started_at,
        ended_at=span.ended_at,
        session_id=span.session_id,
        context_id=span.context_id,
        bank_ids=tuple(dict.fromkeys(banks)),
        ids={
            "document": tuple(dict.fromkeys(job.item.document_id for job in turn.jobs)),
            "operation": tuple(operation for _, operation in sent),
        },
        counts={
            "job": len(turn.jobs),
            "passedOver": turn.passed_over,
            "sent": turn.flush.sent,
            "refused": turn.flush.refused,
            "waiting": turn.flush.waiting,
        },
        reason=turn.skipped or turn.flush.code,
    )
