"""The answer to a host that compacts: the memory that was prepared, without a model and without waiting.

Source: 004_d1a6c9e182f889a8.txt, "Memory budget" and "Current V3 behavior"; spec/observe.md section 5.4, fault F-5 (an
unobserved stretch that is cut away); decisions.md, "Observational memory".
"""

from __future__ import annotations

from enum import StrEnum

from attrs import evolve, field, frozen

from hindbrain.observe._budget import Budget, Moment, render_budget
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._events import Folded, RenderBudget, Unobserved
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._projection import Projection, compaction_projection
from hindbrain.observe._records import record_id
from hindbrain.observe._render import frame_tokens, render
from hindbrain.observe._select import Selection, select
from hindbrain.observe._tokens import is_source, tokens

_NOTICED = 4
"""A notice is due from a quarter of the lines on."""


class Declined(StrEnum):
    """Why the host is left to summarise in its own way."""

    OFF = "off"
    """Memory is off in this session."""
    EMPTY = "empty"
    """Nothing has been observed, and an empty summary would replace all there is."""
    NO_ROOM = "no-room"
    """Not even the lines that explain a memory fit."""


@frozen(kw_only=True)
class Notice:
    """One line for the user about this compaction."""

    text: str
    warning: bool


@frozen(kw_only=True)
class Delegated:
    """The host summarises itself."""

    reason: Declined
    notice: Notice | None = None


@frozen(kw_only=True)
class Compaction:
    """What the host stores: the summary, from where it keeps the conversation, and what was shown of which budget."""

    summary: str = field(repr=False)
    first_kept: str
    details: Folded = field(repr=False)
    budget: Budget
    notice: Notice | None = None


def compact(
    index: LedgerIndex, first_kept: str, config: ObserveConfig, moment: Moment, *, instructions: str | None = None
) -> Compaction | Delegated:
    """Answer a compaction that keeps the conversation from ``first_kept`` on.

    Args:
        index: the branch.
        first_kept: the first entry of the retained tail.
        config: the settings.
        moment: what the host tells; its ``tail`` is counted here.
        instructions: what the user said with the command.

    Raises:
        UnknownEntryError: ``first_kept`` is not on the branch.
        BudgetError: a quantity of the moment is negative.
    """
    cut = index.place_of(first_kept)
    if not index.gate_on:
        return Delegated(reason=Declined.OFF)
    projection = compaction_projection(index, first_kept, config.observations_pool_max_tokens)
    if projection.empty:
        return Delegated(reason=Declined.EMPTY)
    tail = index.tokens_from(cut)
    budget = render_budget(config, evolve(moment, tail=tail))
    gap = unobserved_before(index, cut)
    framed = frame_tokens(gap, instructions)
    if framed > budget.render:
        told = f"Memory does not fit: {budget.render:,} tokens are free for it. The host summarises instead."
        return Delegated(reason=Declined.NO_ROOM, notice=Notice(text=told, warning=True))
    chosen = select(projection, room=budget.render - framed, target=config.pool_target)
    summary = render(chosen.observations, chosen.reflections, gap=gap, instructions=instructions)
    return Compaction(
        summary=summary,
        first_kept=first_kept,
        details=_details(projection, chosen, gap, _spent(chosen, budget, tail, summary)),
        budget=budget,
        notice=_notice(projection, chosen, overflow=moment.overflow, tight=tail * 2 >= budget.soft_limit),
    )


def unobserved_before(index: LedgerIndex, cut: int) -> Unobserved | None:
    """The sources before a cut that no observer has seen; None where there are none.

    They stay in the session, are still observed later, and can be recalled by the id that is given them here.
    """
    begin = index.observed_to + 1
    total = index.tokens_from(begin) - index.tokens_from(cut) if begin < cut else 0
    if total <= 0:
        return None
    missed = [entry.id for entry in index.entries[begin:cut] if is_source(entry)]
    first, last = missed[0], missed[-1]
    return Unobserved(
        id=record_id(f"unobserved {first} {last}"), first=first, last=last, entries=len(missed), tokens=total
    )


def _details(projection: Projection, chosen: Selection, gap: Unobserved | None, spent: RenderBudget) -> Folded:
    return Folded(
        full_fold=projection.full_fold,
        observations=chosen.observations,
        reflections=chosen.reflections,
        budget=spent,
        unobserved=gap,
    )


def _spent(chosen: Selection, budget: Budget, tail: int, summary: str) -> RenderBudget:
    return RenderBudget(
        max_tokens=budget.render,
        rendered_tokens=tokens(summary),
        tail_tokens=tail,
        soft_limit=budget.soft_limit,
        trimmed_observations=chosen.trimmed_observations,
        trimmed_reflections=chosen.trimmed_reflections,
    )


def _notice(projection: Projection, chosen: Selection, *, overflow: bool, tight: bool) -> Notice | None:
    lines = len(projection.observations) + len(projection.reflections)
    if chosen.trimmed * _NOTICED < lines:
        return None
    nothing = chosen.trimmed == lines
    told = f"{chosen.trimmed} of {lines} lines of memory are hidden after this compaction; they can be recalled by id."
    if tight:
        told += " The part of the conversation that stays takes half of the room or more."
    return Notice(text=told, warning=nothing or overflow)
