"""Runs the workers in the background, one run at a time.

Source: 004_d1a6c9e182f889a8.txt, "How it works"; spec/observe.md sections 3.1 and 3.8.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from hindbrain.contracts import ContextUsage, JsonValue
from hindbrain.generic._observe._ledger import HostLedger
from hindbrain.generic._observe._notices import RunNotices
from hindbrain.generic._observe._spend import Spend
from hindbrain.generic._observe._values import Tell
from hindbrain.observe import (
    ConsolidationRun,
    LedgerIndex,
    ModelSource,
    ObserveConfig,
    Pace,
    Stage,
    consolidate,
    observe_due,
    reflect_due,
)

BREATH = 0.02
"""Seconds that a run by itself waits, so that what a host waits for at the end of a turn goes first."""
Note = Callable[[str, Mapping[str, JsonValue], str | None], None]
"""Told an event, its ids and counts, and the run it belongs to."""
Sleep = Callable[[float], Awaitable[None]]


class Consolidator:
    """The workers of one session.

    Args:
        ledger: the session's ledger.
        source: where the workers' model comes from.
        config: the settings.
        usage: how full the session model's window is, asked for each run.
        tell: shows a line to the user.
        note: the debug log.
        clock: milliseconds since 1970 UTC.
        zone: the zone of times in a ledger that has none yet.
        sleep: how a retry waits.

    Attributes:
        stage: the worker at work, None between runs.
        spend: what the runs of this session cost.
        errors: the last failure of each worker in the newest run, as told.
    """

    def __init__(
        self,
        ledger: HostLedger,
        source: ModelSource,
        config: ObserveConfig,
        *,
        usage: Callable[[], Awaitable[ContextUsage]],
        tell: Tell,
        note: Note,
        clock: Callable[[], int],
        zone: str = "UTC",
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._zone = zone
        self._ledger = ledger
        self._source = source
        self._config = config
        self._usage = usage
        self._tell = tell
        self._note = note
        self._clock = clock
        self._sleep = sleep
        self._notices = RunNotices(routine=config.show_worker_notifications)
        self._run: asyncio.Task[ConsolidationRun | None] | None = None
        self._pace = Pace()
        self.stage: Stage | None = None
        self.spend = Spend()
        self.errors: dict[Stage, str] = {}

    @property
    def running(self) -> bool:
        """Whether a run has the lock."""
        return self._run is not None and not self._run.done()

    def start(self, *, forced: bool = False) -> asyncio.Task[ConsolidationRun | None] | None:
        """Begin a run, unless one is under way; looking and claiming are one step.

        Args:
            forced: thresholds count for nothing.
        """
        if self.running:
            return None
        self._run = asyncio.create_task(self._guarded(forced=forced))
        return self._run

    async def wait(self, seconds: float) -> bool:
        """Wait for the run that is under way; whether none is any more."""
        if self._run is not None:
            await asyncio.wait([self._run], timeout=seconds)
        return not self.running

    async def stop(self) -> None:
        """Break the run off. What it has recorded stays, and the rest is observed later."""
        if self._run is not None:
            self._run.cancel()
            await asyncio.gather(self._run, return_exceptions=True)

    async def _guarded(self, *, forced: bool) -> ConsolidationRun | None:
        try:
            if not forced:
                await asyncio.sleep(BREATH)
            return await self._consolidate(forced=forced)
        except Exception as error:  # noqa: BLE001  (the border to the host: what was not observed is at the next turn)
            self._note("consolidation.failed", {"kind": type(error).__name__}, None)
            return None

    async def _consolidate(self, *, forced: bool) -> ConsolidationRun | None:
        index = await self._ledger.index()
        if not index.gate_on:
            return None
        usage = await self._usage()
        due = partial(self._due, usage.tokens)
        if not (forced or ((due(index, Stage.OBSERVER) or due(index, Stage.REFLECTOR)) and self._pace.has_rested())):
            return None
        run_id = f"consolidation-{self._clock():x}-{secrets.token_hex(3)}"
        self.errors = {}
        self._note("consolidation.begin", {"forced": forced}, run_id)
        try:
            run = await consolidate(
                self._ledger,
                self._source,
                self._config,
                clock=self._clock,
                run_id=run_id,
                forced=forced,
                window=usage.window,
                zone=self._zone,
                halvings=self._pace.halvings,
                due=due,
                on_stage=self._at,
                log=lambda event, data: self._note(event, data, run_id),
                sleep=self._sleep,
            )
        finally:
            self._at(None)
        self.spend.add(run)
        self._pace.after(run)
        self.errors = {failure.stage: failure.text for failure in run.failures}
        self._note("consolidation.end", _counts(run), run_id)
        for text, level in self._notices.of(run):
            await self._tell(text, level)
        return run

    def _due(self, context: int | None, index: LedgerIndex, stage: Stage) -> bool:
        return (observe_due if stage is Stage.OBSERVER else reflect_due)(index, self._config, context)

    def _at(self, stage: Stage | None) -> None:
        self.stage = stage


def _counts(run: ConsolidationRun) -> dict[str, JsonValue]:
    return {
        "observed": run.observed,
        "reflected": run.reflected,
        "superseded": run.superseded,
        "dropped": run.dropped,
        "reclaimed": run.reclaimed,
        "empty": run.empty,
        "moved": run.moved,
        "failures": [f"{failure.stage.value}:{failure.code}" for failure in run.failures],
        "calls": sum(run.calls.values()),
        "costUsd": run.cost_usd,
    }
