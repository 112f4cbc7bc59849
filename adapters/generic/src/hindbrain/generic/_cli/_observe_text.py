"""What ``hindbrain observe`` prints, for machines and for people."""

from __future__ import annotations

from typing import Any

import attrs

from hindbrain.memory.sessions import SessionFile
from hindbrain.observe import Recalled, RecallPage, Replayed, ReplayedCompaction, is_source


def replay_data(session: SessionFile, done: Replayed) -> dict[str, Any]:
    """A replay as the envelope's data."""
    fold, decided = done.index.fold, done.decisions
    return {
        "session": {
            "host": session.header.host if session.header is not None else None,
            "entries": len(session.entries),
            "sources": sum(map(is_source, done.index.entries)),
        },
        "problems": [{"line": p.line, "reason": p.reason.value} for p in session.problems],
        "summary": done.summary,
        "compactions": [_compaction(one) for one in done.compactions],
        "tokens": {
            "source": done.source_tokens,
            "rendered": done.rendered_tokens,
            "ratio": round(done.source_tokens / done.rendered_tokens, 1) if done.rendered_tokens else None,
            "budget": done.budget.render,
        },
        "observations": {
            "recorded": len(fold.observations),
            "active": len(fold.active_observations),
            "shown": len(done.selection.observations),
        },
        "decisions": {"active": decided[0], "shown": decided[1]},
        "reflections": {
            "recorded": len(fold.reflections),
            "active": len(fold.active_reflections),
            "shown": len(done.selection.reflections),
        },
        "runs": {
            "observer": done.workers.runs,
            "empty": done.workers.empty_runs,
            "failed": len(done.workers.failures),
            "calls": done.workers.calls,
            "cost_usd": round(done.workers.cost_usd, 4),
        },
    }


def _compaction(one: ReplayedCompaction) -> dict[str, Any]:
    made = one.compaction
    budget, gap = made.details.budget, made.details.unobserved
    return {
        "at": one.at,
        "first_kept": one.first_kept,
        "tokens_before": one.tokens_before,
        "full_fold": made.details.full_fold,
        "observations": len(made.details.observations),
        "reflections": len(made.details.reflections),
        "budget": attrs.asdict(budget) if budget is not None else None,
        "unobserved": attrs.asdict(gap) if gap is not None else None,
        "notice": made.notice.text if made.notice is not None else None,
        "summary": made.summary,
    }


def replay_text(session: SessionFile, done: Replayed) -> str:
    """A replay for a person."""
    host = session.header.host if session.header is not None else "an unknown host"
    ratio = f", {done.source_tokens / done.rendered_tokens:.1f} to 1" if done.rendered_tokens else ""
    lines = [
        f"{len(session.entries)} entries of {host}, about {done.source_tokens:,} tokens",
        *(f"line {p.line} was passed over: {p.reason.value}" for p in session.problems if not p.kept),
        f"{len(done.index.fold.observations)} observations in {_times(done.workers.runs)}; {_counted(done)}",
    ]
    for number, one in enumerate(done.compactions, start=1):
        budget = one.compaction.details.budget
        used = budget.rendered_tokens if budget is not None else 0
        lines.append(
            f"compaction {number} at {one.at}: {one.tokens_before:,} tokens before {one.first_kept} became {used:,}"
        )
    lines += [f"what would be shown now: {done.rendered_tokens:,} tokens{ratio}", "", done.summary]
    return "\n".join(lines).rstrip("\n")


def _counted(done: Replayed) -> str:
    shown, active = len(done.selection.observations), len(done.index.fold.active_observations)
    return f"{shown} of {active} active ones fit, and {done.decisions[1]} of {done.decisions[0]} decisions"


def recall_data(found: Recalled, shown: RecallPage) -> dict[str, Any]:
    """A recall as the envelope's data."""
    return {
        "id": found.id,
        "found": found.found.value,
        "reflections": [each.id for each in found.reflections],
        "observations": [each.id for each in found.observations],
        "sources": [each.id for each in found.sources],
        "missing": [*found.missing, *found.no_source, *found.missing_support],
        "page": shown.page,
        "pages": shown.pages,
        "text": shown.text,
    }


def _times(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"
