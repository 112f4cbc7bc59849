"""One run of the workers: each stage reads the branch anew, and what it found is appended to the same branch.

Source: spec/observe.md section 3.1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from hindbrain.contracts import JsonValue
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._encode import append_of
from hindbrain.observe._errors import BranchMovedError
from hindbrain.observe._events import Dropped
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._ports import Ledger, ModelSource
from hindbrain.observe._reclaim import reclaim
from hindbrain.observe._run import ConsolidationRun, Stage

Due = Callable[[LedgerIndex, Stage], bool]
OnStage = Callable[[Stage | None], None]
Log = Callable[[str, Mapping[str, JsonValue]], None]
Sleep = Callable[[float], Awaitable[None]]


async def consolidate(
    ledger: Ledger,
    source: ModelSource,  # noqa: ARG001
    config: ObserveConfig,
    *,
    clock: Callable[[], int],  # noqa: ARG001
    run_id: str,
    forced: bool = False,  # noqa: ARG001
    window: int | None = None,
    due: Due | None = None,  # noqa: ARG001
    on_stage: OnStage = lambda _stage: None,
    log: Log = lambda _event, _data: None,  # noqa: ARG001
    sleep: Sleep = asyncio.sleep,  # noqa: ARG001
) -> ConsolidationRun:
    """Run the workers once.

    Args:
        ledger: the session's ledger.
        source: where the model comes from.
        config: the settings.
        clock: the time now, in milliseconds since 1970 UTC.
        run_id: names the run in the log.
        forced: the user asked for it: thresholds count for nothing.
        window: the session's model's window, which the memory is sized by; None where it is unknown.
        due: whether the observer or the reflector has enough to work on; by default the branch's own clocks decide.
        on_stage: told which stage begins, and None at the end.
        log: told what happened, in ids and counts only.
        sleep: how the one retry of a call waits, in seconds.
    """
    index = await ledger.index()
    on_stage(Stage.ENFORCER)
    gone = reclaim(index, config, window)
    try:
        if gone and (made := append_of(Dropped(ids=gone, covers=index.entries[index.observed_to].id))) is not None:
            await ledger.append(made, expect_ancestor=index.entries[-1].id)
    except BranchMovedError:
        return ConsolidationRun(run_id=run_id, moved=True)
    finally:
        on_stage(None)
    return ConsolidationRun(run_id=run_id, reclaimed=len(gone))
