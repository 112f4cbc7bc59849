"""A recorded session, lived through with all workers and a model that does as it is told."""

from __future__ import annotations

from typing import Any

import pytest

from hindbrain.contracts import Completion
from hindbrain.observe import ObserveConfig, Replayed, Stage, WorkerModel, recall, record_id, replay_with_model
from hindbrain.observe.testing import Asked, BranchScript, ScriptedModel, ScriptedSource, calls, says

OBSERVE, REFLECT = "record_observations", "record_reflections"
CONFIG = ObserveConfig(
    observe_after_tokens=2_000, reflect_after_tokens=6_000, compact_after_tokens=20_000, observer_chunk_max_tokens=4_000
)


def session(turns: int = 120) -> BranchScript:
    script = BranchScript()
    for turn in range(turns):
        script.user(f"request {turn} PLANT fact {turn}.")
        script.assistant("x" * 1_600)
        script.say("toolResult", "y" * 800, tool_name="bash")
    return script


def worker(asked: Asked) -> Completion:
    """Observes each planted fact, and reflects on the first observation that nothing covers."""
    if len(asked.messages) > 2:
        return says(cost_usd=0.001)
    if asked.tool == OBSERVE:
        items: list[dict[str, Any]] = []
        for part in asked.prompt.split("[Source entry id: ")[1:]:
            key, _, text = part.partition("]")
            if "PLANT " in text:
                content = text.split("PLANT ")[1].split(".")[0]
                items.append({"content": content, "relevance": "high", "kind": "fact", "sourceEntryIds": [key]})
        return calls(OBSERVE, {"observations": items}, cost_usd=0.01) if items else says()
    bare = next((line[6:18] for line in asked.prompt.splitlines() if line.startswith("none [")), None)
    if asked.tool == REFLECT and bare is not None:
        item = {"content": f"it holds since {bare}", "supportingObservationIds": [bare]}
        return calls(REFLECT, {"reflections": [item]}, cost_usd=0.01)
    return says()


async def lived(play: Any, script: BranchScript | None = None) -> tuple[Replayed, ScriptedModel]:
    model = ScriptedModel(play)
    source = ScriptedSource(WorkerModel(model=model, window=64_000))
    done = await replay_with_model((script or session()).entries, source, CONFIG, window=64_000, keep=4_000)
    return done, model


def unknown(done: Replayed) -> list[int]:
    return [turn for turn in range(120) if not recall(done.index, record_id(f"fact {turn}")).sources]


async def test_each_fact_can_be_recalled_and_the_workers_are_counted() -> None:
    done, model = await lived(worker)
    assert unknown(done) == []
    assert len(done.compactions) >= 2
    assert done.index.fold.active_reflections
    assert "it holds since" in done.summary
    fared = done.workers
    assert (fared.failures, fared.calls) == ((), len(model.asked))
    assert fared.cost_usd == pytest.approx(sum(0.01 if len(each.messages) == 2 else 0.001 for each in model.asked), 0.2)
    assert fared.runs >= 25


async def test_the_same_session_and_answers_give_the_same_memory() -> None:
    first, _model = await lived(worker)
    second, _model = await lived(worker)
    assert first.summary == second.summary
    assert first.index.entries == second.index.entries


async def test_a_model_that_is_down_for_a_while_costs_few_calls_and_no_fact() -> None:
    def down(asked: Asked) -> Completion:
        if asked.tool == OBSERVE and len(asked.messages) == 2:
            refused.append(asked)
            if len(refused) <= 5:
                return says("", stop="error")
        return worker(asked)

    refused: list[Asked] = []
    done, _model = await lived(down)
    assert unknown(done) == []
    assert [each.stage for each in done.workers.failures] == [Stage.OBSERVER] * 5
    assert done.index.observed_to > 0


async def test_a_model_that_stays_down_ends_the_replay_and_is_told() -> None:
    done, model = await lived(lambda _asked: says("", stop="error"))
    assert len(unknown(done)) == 120
    assert 5 < len(model.asked) < 55, "of some 230 turns at which the observer was due"
    assert len(done.workers.failures) == len(model.asked)


async def test_without_a_model_nothing_is_observed() -> None:
    done = await replay_with_model(session(20).entries, ScriptedSource(None), CONFIG)
    assert (done.summary, done.workers.runs, done.compactions) == ("", 0, ())
    assert (await replay_with_model([], ScriptedSource(None), CONFIG)).summary == ""
