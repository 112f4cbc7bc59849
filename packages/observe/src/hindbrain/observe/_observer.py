"""The observer: it looks at the oldest sources nobody has observed, and records what is worth it.

A run that ended early covers only what it observed; a clean verdict that there is nothing covers its chunk.

Source: 004_d1a6c9e182f889a8.txt, "How it works"; spec/observe.md section 3.3; decisions.md, "Observational memory".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hindbrain.contracts import JsonValue
from hindbrain.observe._agent import Receipt
from hindbrain.observe._chunk import Chunk, chunk_cap, halved, next_chunk
from hindbrain.observe._desk import Desk
from hindbrain.observe._events import Observed
from hindbrain.observe._extract import extract
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._observing import ObservationDraft, Passages, judge_observations, reached
from hindbrain.observe._ports import WorkerModel
from hindbrain.observe._prompts import RECORD_OBSERVATIONS, instructions
from hindbrain.observe._records import Observation
from hindbrain.observe._run import Stage
from hindbrain.observe._sight import sight

_FRAME = "# Memory so far\n\n{memory}\n\n# Passages\n\n{chunk}"


async def observe_backlog(desk: Desk) -> None:
    """Observe one chunk where that is due.

    Raises:
        BranchMovedError: the conversation stands on another branch now.
        BudgetError: the model's window is too small for any request.
    """
    index = await desk.look()
    if not desk.wanted(index, Stage.OBSERVER):
        return
    if desk.config.observer == "extractive":
        await _by_rules(desk, index)
    elif (worker := await desk.worker()) is not None:
        await _by_model(desk, index, worker)


async def _by_rules(desk: Desk, index: LedgerIndex) -> None:
    chunk = next_chunk(index, chunk_cap(desk.config, desk.window), desk.zone)
    if chunk is not None:
        desk.on_stage(Stage.OBSERVER)
        records = extract(index, chunk, now=desk.clock(), zone=desk.zone)
        await _record(desk, records, chunk.covers, index.entries[-1].id, index.zone or desk.zone)


async def _by_model(desk: Desk, index: LedgerIndex, worker: WorkerModel) -> None:
    cap = halved(chunk_cap(desk.config, worker.window), desk.halvings)
    plan = desk.plan(worker, Stage.OBSERVER, RECORD_OBSERVATIONS, chunk=cap, frame=_FRAME)
    chunk = next_chunk(index, plan.chunk, desk.zone)
    if chunk is None:
        return
    tip, zone = index.entries[-1].id, index.zone or desk.zone
    desk.on_stage(Stage.OBSERVER)
    if not chunk.text:
        await _record(desk, (), chunk.covers, tip, zone)
        return
    before = _before(index, chunk)
    seen = sight(index, desk.config, room=plan.memory)
    prompt = _FRAME.format(memory=seen.text, chunk=chunk.text)
    desk.log("observer.sent", {"sources": len(chunk.source_ids), "tokens": chunk.tokens})
    passages = Passages(index=index, chunk=chunk, zone=zone, now=desk.clock())
    draft = ObservationDraft()

    def handle(arguments: Mapping[str, JsonValue]) -> Receipt:
        nonlocal draft
        draft, receipt = judge_observations(arguments, passages, draft)
        return receipt

    agent = desk.agent(worker, Stage.OBSERVER, plan.output)
    ending = await agent.run(instructions("observer"), prompt, RECORD_OBSERVATIONS, handle)
    records = tuple(draft.records.values())
    desk.ended(Stage.OBSERVER, ending, gained=bool(records), refused=draft.rejected)
    if records or not desk.failures:
        covers = chunk.covers if ending.clean else reached(chunk, records, failed=ending.failed) or before
        if covers is not None:
            await _record(desk, records, covers, tip, zone)


def _before(index: LedgerIndex, chunk: Chunk) -> str | None:
    """The entry before the first passage of a chunk: what a run covers that observed none of them for good."""
    place = index.place_of(chunk.source_ids[0])
    return index.entries[place - 1].id if place else None


async def _record(desk: Desk, records: Iterable[Observation], covers: str, tip: str, zone: str) -> None:
    found = tuple(records)
    await desk.append(Observed(observations=found, covers=covers, zone=zone), expect_ancestor=tip)
    desk.observed += len(found)
    desk.empty = not found
    desk.log("observer.recorded", {"observations": len(found), "covers": covers})
