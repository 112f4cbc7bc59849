"""A recorded session, lived through once more with this engine: what it would have observed, kept and shown.

Nothing here looks at a clock, a zone, a locale or the order of a set, so the same session gives the same bytes.

Source: spec/observe.md sections 3.1, 4 and 5, and the goals of section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hindbrain.contracts import Entry
from hindbrain.observe._chunk import Chunk, chunk_cap, next_chunk
from hindbrain.observe._clocks import observe_due, reflect_due
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._consolidate import consolidate
from hindbrain.observe._cut import KEEP
from hindbrain.observe._encode import Append
from hindbrain.observe._errors import BranchMovedError
from hindbrain.observe._events import Dropped, Observed
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._pace import Pace
from hindbrain.observe._ports import ModelSource
from hindbrain.observe._reclaim import reclaim
from hindbrain.observe._records import Observation
from hindbrain.observe._replayed import Lived, Replayed, report
from hindbrain.observe._run import ConsolidationRun, Stage
from hindbrain.observe._sitting import Progress, Sitting, turns
from hindbrain.observe._tokens import is_source

Observer = Callable[[LedgerIndex, Chunk], tuple[Observation, ...]]
"""What looks at a chunk of the branch and says what was worth a record."""


def _silent(_done: int, _all: int) -> None:
    return


def replay(
    entries: Iterable[Entry],
    observer: Observer,
    config: ObserveConfig,
    *,
    window: int | None = None,
    keep: int = KEEP,
    progress: Progress = _silent,
) -> Replayed:
    """Live through a branch: observe when it is due, compact when the agent rests and it is due, and look at the end.

    Compactions and ledgers that the session has are left out: the replay makes its own. What is left unobserved at the
    end is observed then, chunk by chunk.

    Args:
        entries: a branch, root first.
        observer: what looks at each chunk.
        config: the settings.
        window: the model's window, None where it is unknown.
        keep: the tokens of the tail that the host retains at a compaction.
        progress: told how many entries are done, of how many.
    """
    sitting = Sitting(config=config, window=window, keep=keep)
    told = [entry for entry in entries if is_source(entry)]
    verdicts: list[bool] = []

    def observe() -> bool:
        chunk = next_chunk(sitting.index, chunk_cap(config, window))
        if chunk is None:
            return False
        found = observer(sitting.index, chunk) if chunk.text else ()
        verdicts.append(not found)
        sitting.append(Observed(observations=found, covers=chunk.covers, zone=sitting.index.zone or "UTC"))
        if gone := reclaim(sitting.index, config, window):
            sitting.append(Dropped(ids=gone, covers=chunk.covers))
        return True

    for _turn in turns(sitting, told, progress):
        if observe_due(sitting.index, config):
            observe()
    while told and observe():
        pass
    return report(sitting, Lived(runs=len(verdicts), empty_runs=sum(verdicts)))


async def replay_with_model(
    entries: Iterable[Entry],
    source: ModelSource,
    config: ObserveConfig,
    *,
    window: int | None = None,
    keep: int = KEEP,
    progress: Progress = _silent,
) -> Replayed:
    """Live through a branch as :func:`replay` does, with all workers and a model.

    After a run that failed, turns pass before the next one, as in a live session; one that fails at the end ends the
    replay, and what is unobserved then stays so.

    Args:
        entries: a branch, root first.
        source: where the model comes from.
        config: the settings.
        window: the session's model's window, None where it is unknown.
        keep: the tokens of the tail that the host retains at a compaction.
        progress: told how many entries are done, of how many.
    """
    sitting = Sitting(config=config, window=window, keep=keep)
    told = [entry for entry in entries if is_source(entry)]
    runs: list[ConsolidationRun] = []
    pace = Pace()

    async def work(*, at_end: bool) -> ConsolidationRun:
        run = await consolidate(
            _SittingLedger(sitting),
            source,
            config,
            clock=lambda: sitting.index.entries[-1].at or 0,
            run_id=f"replay-{len(runs)}",
            window=window,
            halvings=pace.halvings,
            due=lambda index, stage: _due(index, stage, config, at_end=at_end),
        )
        pace.after(run)
        if run.calls or run.changed or run.failures or run.empty:
            runs.append(run)
        return run

    for _turn in turns(sitting, told, progress):
        if pace.has_rested() and (observe_due(sitting.index, config) or reflect_due(sitting.index, config)):
            await work(at_end=False)
    while told and (run := await work(at_end=True)).calls and not run.failures:
        pass
    return report(sitting, _lived(runs))


class _SittingLedger:
    """A sitting's branch as the ledger that the workers write to."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting = sitting

    async def index(self) -> LedgerIndex:
        return self._sitting.index

    async def append(self, append: Append, *, expect_ancestor: str) -> None:
        if self._sitting.index.place(expect_ancestor) is None:
            raise BranchMovedError
        self._sitting.put("custom", append.custom_type, append.data)


def _due(index: LedgerIndex, stage: Stage, config: ObserveConfig, *, at_end: bool) -> bool:
    if stage is Stage.REFLECTOR:
        return reflect_due(index, config)
    return at_end or observe_due(index, config)


def _lived(runs: list[ConsolidationRun]) -> Lived:
    return Lived(
        runs=len(runs),
        empty_runs=sum(run.empty for run in runs),
        failures=tuple(failure for run in runs for failure in run.failures),
        calls=sum(sum(run.calls.values()) for run in runs),
        cost_usd=sum(run.cost_usd for run in runs),
    )
