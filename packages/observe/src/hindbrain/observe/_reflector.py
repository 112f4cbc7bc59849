"""The reflector: it distils what lasts from the observations, and merges what says the same.

Source: 004_d1a6c9e182f889a8.txt, "Memory budget" (reflections); spec/observe.md section 3.4.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindbrain.contracts import JsonValue
from hindbrain.observe._agent import Receipt
from hindbrain.observe._desk import Desk
from hindbrain.observe._events import Reflected, Superseded
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._ports import WorkerModel
from hindbrain.observe._prompts import RECORD_REFLECTIONS, instructions
from hindbrain.observe._reflecting import Known, ReflectionDraft, judge_reflections
from hindbrain.observe._run import Stage
from hindbrain.observe._sight import Sight, reflection_share, sight

_FRAME = "# Memory\n\n{memory}\n\n# REFLECTION BUDGET\n\n{budget}"
_MERGE = "They are more than that: merge what can be merged before you add anything."


async def reflect(desk: Desk) -> None:
    """Reflect on the memory where that is due, and there is any; never where rules observe.

    Raises:
        BranchMovedError: the conversation stands on another branch now.
        BudgetError: the model's window is too small for any request.
    """
    if desk.config.observer == "extractive":
        return
    index = await desk.look()
    fold = index.fold
    any_memory = bool(fold.active_observations or fold.active_reflections)
    if index.observed_to < 0 or not any_memory or not desk.wanted(index, Stage.REFLECTOR):
        return
    if (worker := await desk.worker()) is not None:
        await _reflect(desk, index, worker)


async def _reflect(desk: Desk, index: LedgerIndex, worker: WorkerModel) -> None:
    budget = reflection_budget(desk, index)
    plan = desk.plan(worker, Stage.REFLECTOR, RECORD_REFLECTIONS, chunk=0, frame=_FRAME + budget)
    seen = sight(index, desk.config, room=plan.memory, marked=True)
    tip, marker = index.entries[-1].id, index.entries[index.observed_to].id
    known = Known(sight=seen, active=dict(index.fold.active_reflections), retired=frozenset(index.fold.superseded))
    prompt = _FRAME.format(memory=seen.text, budget=f"{budget} {_hidden(index, seen)}")
    desk.on_stage(Stage.REFLECTOR)
    draft = ReflectionDraft()

    def handle(arguments: Mapping[str, JsonValue]) -> Receipt:
        nonlocal draft
        draft, receipt = judge_reflections(arguments, known, draft)
        return receipt

    agent = desk.agent(worker, Stage.REFLECTOR, plan.output)
    ending = await agent.run(instructions("reflector"), prompt, RECORD_REFLECTIONS, handle)
    gained = bool(draft.records or draft.superseded)
    desk.ended(Stage.REFLECTOR, ending, gained=gained, refused=draft.rejected)
    if gained or not any(each.stage is Stage.REFLECTOR for each in desk.failures):
        await _record(desk, draft, tip, marker)


def reflection_budget(desk: Desk, index: LedgerIndex) -> str:
    """What the reflections weigh, and what a rendered memory leaves for them."""
    fold = index.fold
    room = reflection_share(index, desk.config, desk.window)
    told = (
        f"{len(fold.active_reflections)} reflections are active; they take {fold.reflection_tokens} tokens. "
        f"A rendered memory has {room} tokens for them."
    )
    return f"{told} {_MERGE}" if fold.reflection_tokens > room else told


def _hidden(index: LedgerIndex, seen: Sight) -> str:
    return f"{len(index.fold.active_reflections) - len(seen.reflections)} of them are not shown here."


async def _record(desk: Desk, draft: ReflectionDraft, tip: str, marker: str) -> None:
    records, over = tuple(draft.records.values()), draft.superseded
    if records or not over:
        await desk.append(Reflected(reflections=records, covers=marker), expect_ancestor=tip)
    desk.reflected += len(records)
    await desk.append(Superseded(ids=over, covers=marker), expect_ancestor=tip)
    desk.superseded += len(over)
    desk.log("reflector.recorded", {"reflections": len(records), "superseded": len(over)})
