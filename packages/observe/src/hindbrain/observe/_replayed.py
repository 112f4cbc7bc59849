"""What a replay gave, and how it is told from a sitting.

Source: spec/observe.md sections 5 and 11.
"""

from __future__ import annotations

from attrs import field, frozen

from hindbrain.observe._budget import Budget, render_budget
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._projection import full
from hindbrain.observe._records import Kind
from hindbrain.observe._render import frame_tokens, render
from hindbrain.observe._run import StageFailure
from hindbrain.observe._select import Selection, select
from hindbrain.observe._sitting import ReplayedCompaction, Sitting
from hindbrain.observe._tokens import tokens


@frozen(kw_only=True)
class Lived:
    """How the workers fared: their runs, those that found nothing, those that failed, and what they cost."""

    runs: int = 0
    empty_runs: int = 0
    failures: tuple[StageFailure, ...] = ()
    calls: int = 0
    cost_usd: float = 0.0


@frozen(kw_only=True)
class Replayed:
    """What a replay gave. ``summary`` is the memory at the end of the session, everything observed.

    The summary is empty where there is no memory or no room. ``index`` is the branch with the ledger that was made.
    ``decisions`` are the observations of kind decision in force,
    and how many of them the summary shows.
    """

    index: LedgerIndex = field(repr=False)
    summary: str = field(repr=False)
    budget: Budget
    selection: Selection = field(repr=False)
    compactions: tuple[ReplayedCompaction, ...]
    workers: Lived
    source_tokens: int
    rendered_tokens: int
    decisions: tuple[int, int]


def report(sitting: Sitting, workers: Lived) -> Replayed:
    """Look at a session that was lived through to its end."""
    index, config = sitting.index, sitting.config
    projection = full(index)
    budget = render_budget(config, sitting.moment)
    room = budget.render - frame_tokens()
    chosen = select(projection, room=room, target=config.pool_target)
    summary = "" if projection.empty or room < 0 else render(chosen.observations, chosen.reflections)
    shown = {each.id for each in chosen.observations}
    decided = [each.id for each in projection.observations if each.kind is Kind.DECISION]
    return Replayed(
        index=index,
        summary=summary,
        budget=budget,
        selection=chosen,
        compactions=tuple(sitting.compactions),
        workers=workers,
        source_tokens=index.tokens_from(0),
        rendered_tokens=tokens(summary),
        decisions=(len(decided), sum(each in shown for each in decided)),
    )
