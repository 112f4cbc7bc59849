"""One run of the workers: each stage reads the branch anew, and what it found is appended to the same branch.

Source: spec/observe.md section 3.1. The enforcer works after a failure too: it needs no model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from hindbrain.contracts import HindbrainError
from hindbrain.observe._agent import Log, Sleep
from hindbrain.observe._clocks import observe_due, reflect_due
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._desk import Desk, Due, OnStage
from hindbrain.observe._dropper import drop
from hindbrain.observe._errors import BranchMovedError
from hindbrain.observe._events import Dropped
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._observer import observe_backlog
from hindbrain.observe._ports import Ledger, ModelSource
from hindbrain.observe._reclaim import reclaim
from hindbrain.observe._reflector import reflect
from hindbrain.observe._run import ConsolidationRun, Stage


async def consolidate(
    ledger: Ledger,
    source: ModelSource,
    config: ObserveConfig,
    *,
    clock: Callable[[], int],
    run_id: str,
    forced: bool = False,
    window: int | None = None,
    zone: str = "UTC",
    halvings: int = 0,
    due: Due | None = None,
    on_stage: OnStage = lambda _stage: None,
    log: Log = lambda _event, _data: None,
    sleep: Sleep = asyncio.sleep,
) -> ConsolidationRun:
    """Run the workers once: observer, reflector, dropper, enforcer. Never raises but to be cancelled.

    A worker that fails ends the model's part of the run: what it found until then is kept, and the enforcer follows.

    Args:
        ledger: the session's ledger.
        source: where the model comes from; asked once, and only where a worker has something to do.
        config: the settings.
        clock: the time now, in milliseconds since 1970 UTC.
        run_id: names the run in the log.
        forced: the user asked for it: thresholds count for nothing.
        window: the session's model's window, which the memory is sized by; None where it is unknown.
        zone: the zone of times for a ledger that has none yet.
        halvings: how often the most that the observer is given is halved, after runs in which its model failed.
        due: whether the observer or the reflector has enough to work on; by default the branch's own clocks decide.
        on_stage: told which stage begins to work, and None at the end.
        log: told what happened, in ids and counts only.
        sleep: how the one retry of a call waits, in seconds.
    """
    desk = Desk(
        ledger=ledger,
        source=source,
        config=config,
        clock=clock,
        run_id=run_id,
        forced=forced,
        window=window,
        zone=zone,
        halvings=halvings,
        due=due or _by_clock(config),
        on_stage=on_stage,
        log=log,
        sleep=sleep,
    )
    try:
        for stage, work in _STAGES:
            await _guarded(desk, stage, work)
            if desk.failures or desk.moved:
                break
        if not desk.moved:
            await _guarded(desk, Stage.ENFORCER, enforce)
    finally:
        on_stage(None)
    return desk.result()


async def enforce(desk: Desk) -> None:
    """Bound the ledger without a model.

    Raises:
        BranchMovedError: the conversation stands on another branch now.
    """
    index = await desk.look()
    gone = reclaim(index, desk.config, desk.window) if index.gate_on else ()
    if gone:
        desk.on_stage(Stage.ENFORCER)
        tip, marker = index.entries[-1].id, index.entries[index.observed_to].id
        await desk.append(Dropped(ids=gone, covers=marker), expect_ancestor=tip)
        desk.reclaimed = len(gone)
        desk.log("enforcer.recorded", {"reclaimed": len(gone)})


_STAGES = ((Stage.OBSERVER, observe_backlog), (Stage.REFLECTOR, reflect), (Stage.DROPPER, drop))


async def _guarded(desk: Desk, stage: Stage, work: Callable[[Desk], Awaitable[None]]) -> None:
    try:
        await work(desk)
    except BranchMovedError:
        desk.moved = True
        desk.log("run.moved", {"stage": stage.value})
    except HindbrainError as error:
        desk.fail(stage, error.code, error.what.rstrip("."))
    except Exception:  # noqa: BLE001  (host and model are somebody else's code; a run is never the end of a session)
        desk.fail(stage, "worker-error", "what it needs of the host did not answer")


def _by_clock(config: ObserveConfig) -> Due:
    def due(index: LedgerIndex, stage: Stage) -> bool:
        return observe_due(index, config) if stage is Stage.OBSERVER else reflect_due(index, config)

    return due
