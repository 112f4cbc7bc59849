"""What a user asks of the engine by name: a run of the workers now, or a compaction now.

Source: 004_d1a6c9e182f889a8.txt, "Commands and agent tool"; spec/observe.md section 7.1, whose refusals come in this
order and are looked at again after every wait.
"""

from __future__ import annotations

from hindbrain.generic._observe._compactor import Compactor, is_without_memory
from hindbrain.generic._observe._consolidator import Consolidator
from hindbrain.generic._observe._ledger import HostLedger
from hindbrain.generic._observe._values import Told
from hindbrain.observe import ConsolidationRun, is_source

WAITED = 100.0
"""Seconds that a command waits for workers; hosts give a command two minutes."""
OFF = "Observational memory is off in this session; /om on switches it on."


class Manual:
    """The commands that make the engine work, thresholds and passive mode aside.

    Args:
        ledger: the session's ledger.
        workers: its workers.
        compactor: its compactions.
    """

    def __init__(self, ledger: HostLedger, workers: Consolidator, compactor: Compactor) -> None:
        self._ledger = ledger
        self._workers = workers
        self._compactor = compactor

    async def consolidate(self) -> Told:
        """Run the workers at once, whatever the thresholds say."""
        refusal = await self._no_consolidation()
        if refusal is not None:
            return Told(text=refusal, level="warning")
        run = self._workers.start(forced=True)
        if run is None:
            return Told(text="The workers are at work already.", level="warning")
        if not await self._workers.wait(WAITED):
            return Told(text="The workers are at work; what they find is told when they are done.")
        return _outcome(None if run.cancelled() else run.result())

    async def compact(self) -> Told:
        """Compact from memory at once; workers that are at work are waited for first."""
        refusal = await self._no_compaction()
        if refusal is None and not await self._workers.wait(WAITED):
            refusal = "The workers are still at work; nothing was compacted. Try again later."
        if refusal is None:
            refusal = await self._no_compaction()
        if refusal is not None:
            return Told(text=refusal, level="warning")
        if await self._compactor.ask():
            return Told(text="Compacted from memory.")
        return Told(text="The host did not compact; it may be at work.", level="warning")

    async def _no_consolidation(self) -> str | None:
        index = await self._ledger.index()
        refusals = (
            (not any(map(is_source, index.entries)), "The session has no conversation yet."),
            (not index.gate_on, OFF),
            (self._workers.running, "The workers are at work already."),
            (self._compactor.busy, "A compaction is under way; try again when it is done."),
            (
                index.tokens_from(index.observed_to + 1) == 0 and is_without_memory(index),
                "Everything is observed, and there is no memory to consolidate.",
            ),
        )
        return next((text for is_so, text in refusals if is_so), None)

    async def _no_compaction(self) -> str | None:
        index = await self._ledger.index()
        refusals = (
            (not index.gate_on, OFF),
            (self._compactor.busy, "A compaction is under way already."),
            (index.tokens_from(index.compacted_at + 1) == 0, "Nothing was said since the last compaction."),
            (
                is_without_memory(index),
                "There is no memory to compact from; /om consolidate makes one. Nothing was compacted.",
            ),
        )
        return next((text for is_so, text in refusals if is_so), None)


def _outcome(run: ConsolidationRun | None) -> Told:
    if run is None:
        return Told(text="The run was broken off; what was recorded before stays.", level="warning")
    if run.failures:
        return Told(text="The workers could not end their run; /om status says why.", level="warning")
    if run.moved:
        return Told(text="The conversation moved to another branch; the run ended there.", level="warning")
    if run.unavailable:
        return Told(text="There is no model for the workers; what they need one for was not done.", level="warning")
    return Told(text="Consolidated." if run.changed else "Consolidated; nothing new was found.")
