"""The dropper: after a reflection, a model chooses which observations of a pool that is too large may leave.

Source: 004_d1a6c9e182f889a8.txt, "Memory budget" (dropper); spec/observe.md section 3.6.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindbrain.contracts import JsonValue
from hindbrain.observe._agent import Receipt
from hindbrain.observe._desk import Desk
from hindbrain.observe._dropping import Pool, chosen_drops, judge_drops, most_drops, pool_of
from hindbrain.observe._events import Dropped
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._ports import WorkerModel
from hindbrain.observe._prompts import DROP_OBSERVATIONS, instructions
from hindbrain.observe._run import Stage
from hindbrain.observe._sight import sight

_FRAME = "# Memory\n\n{memory}\n\n# POOL\n\n{pool}"


async def drop(desk: Desk) -> None:
    """Let a model drop observations, where this run recorded a reflection and the pool is over its target.

    Raises:
        BranchMovedError: the conversation stands on another branch now.
        BudgetError: the model's window is too small for any request.
    """
    index = await desk.look()
    pool = pool_of(index, desk.config, desk.window)
    if not desk.reflected or not pool.over or not index.gate_on or index.observed_to < 0:
        return
    if (worker := await desk.worker()) is not None:
        await _drop(desk, index, worker, pool)


async def _drop(desk: Desk, index: LedgerIndex, worker: WorkerModel, pool: Pool) -> None:
    frame = _FRAME + pool_text(pool, 0)
    plan = desk.plan(worker, Stage.DROPPER, DROP_OBSERVATIONS, chunk=0, frame=frame)
    seen = sight(index, desk.config, room=plan.memory, marked=True)
    most = most_drops(pool, seen)
    if not most:
        return
    tip = index.entries[-1].id
    marker = index.entries[min(index.observed_to, index.reflected_to)].id
    observations = {each.id: each for each in seen.observations}
    reflections = tuple(index.fold.active_reflections.values())
    desk.on_stage(Stage.DROPPER)
    named: tuple[str, ...] = ()

    def handle(arguments: Mapping[str, JsonValue]) -> Receipt:
        nonlocal named
        named, receipt = judge_drops(arguments, seen, named, most)
        return receipt

    agent = desk.agent(worker, Stage.DROPPER, plan.output)
    prompt = _FRAME.format(memory=seen.text, pool=pool_text(pool, most))
    ending = await agent.run(instructions("dropper"), prompt, DROP_OBSERVATIONS, handle)
    desk.ended(Stage.DROPPER, ending, gained=bool(named))
    gone = chosen_drops(named, observations, reflections, most)
    await desk.append(Dropped(ids=gone, covers=marker), expect_ancestor=tip)
    desk.dropped += len(gone)
    desk.log("dropper.recorded", {"dropped": len(gone), "most": most})


def pool_text(pool: Pool, most: int) -> str:
    """How full the pool is, and how many may leave."""
    return (
        f"The active observations weigh {pool.tokens} tokens. Their target is {pool.target}: they are at "
        f"{pool.tokens * 100 // pool.target} %, {pool.over} tokens too many.\n"
        f"At most {most} observations may be dropped. That is a ceiling, not a goal."
    )
