from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.contracts import Completion, HindbrainError
from hindbrain.observe import (
    Append,
    Compaction,
    ConsolidationRun,
    Kind,
    LedgerIndex,
    Moment,
    Observation,
    ObserveConfig,
    Observed,
    Pace,
    Relevance,
    Stage,
    compact,
    consolidate,
    make_observation,
)
from hindbrain.observe.testing import START, Asked, BranchScript, ScriptedSource, ScriptLedger, Workshop, calls, says

SMALL = ObserveConfig(observe_after_tokens=100, reflect_after_tokens=100)
OBSERVE, REFLECT = "record_observations", "record_reflections"


def seen(text: str) -> Observation:
    return make_observation(text, at=START, sources=["raw-1"], relevance=Relevance.LOW, kind=Kind.FACT)


def sources(count: int, weight: int = 100) -> BranchScript:
    script = BranchScript()
    for _each in range(count):
        script.weighing(weight)
    return script


def note(content: str, *cited: str) -> dict[str, Any]:
    item = {"content": content, "relevance": "low", "kind": "fact", "sourceEntryIds": list(cited)}
    return {"observations": [item]}


def observing(asked: Asked) -> Completion:
    """An observer that records something of the first passage; nobody else has anything to say."""
    if asked.tool == OBSERVE and len(asked.messages) == 2:
        first = asked.prompt.split("[Source entry id: ")[1].split("]")[0]
        return calls(OBSERVE, note(f"seen {first}", first))
    return says()


async def without_model(script: BranchScript, config: ObserveConfig = SMALL) -> ConsolidationRun:
    return await consolidate(
        ScriptLedger(script), ScriptedSource(None), config, clock=lambda: START, run_id="r", window=128_000
    )


@pytest.mark.req("S4-lifecycle-004")
async def test_what_is_observed_is_reflected_on_in_the_same_run() -> None:
    def both(asked: Asked) -> Completion:
        if asked.tool == REFLECT and len(asked.messages) == 2:
            key = next(line for line in asked.prompt.splitlines() if line.startswith("none ["))[6:18]
            return calls(REFLECT, {"reflections": [{"content": "a rule", "supportingObservationIds": [key]}]})
        return observing(asked)

    script = sources(3)
    config = ObserveConfig(observe_after_tokens=100, reflect_after_tokens=1, observer_chunk_max_tokens=256)
    shop = Workshop(script, both, config)
    run = await shop.run()
    assert (run.observed, run.reflected) == (1, 1)
    assert shop.stages == [Stage.OBSERVER, Stage.REFLECTOR, None]
    assert run.run_id == "run-1"
    asked = len(shop.model.asked)
    made = compact(script.index(), "raw-3", config, Moment(window=128_000))
    assert isinstance(made, Compaction)
    assert "seen raw-1" in made.summary
    assert len(shop.model.asked) == asked


async def test_nothing_due_asks_nobody_and_says_so() -> None:
    class Deaf:
        async def resolve(self) -> None:
            raise AssertionError

    stages: list[Stage | None] = []
    run = await consolidate(
        ScriptLedger(sources(1)),
        Deaf(),
        ObserveConfig(),
        clock=lambda: START,
        run_id="r",
        on_stage=stages.append,
    )
    assert (run, stages) == (ConsolidationRun(run_id="r"), [None])


@pytest.mark.req("S4-observer-012")
async def test_without_a_model_no_worker_works_and_the_run_says_so() -> None:
    script = sources(3)
    run = await without_model(script)
    assert (run.unavailable, run.calls, run.failures, len(script.entries)) == (True, {}, (), 3)


async def test_a_run_asks_for_its_model_once_even_where_there_is_none() -> None:
    class Counting:
        times = 0

        async def resolve(self) -> None:
            self.times += 1

    source = Counting()
    script = crowded(1_000)
    run = await consolidate(ScriptLedger(script), source, SMALL, clock=lambda: START, run_id="r", forced=True)
    assert (run.unavailable, source.times) == (True, 1)


async def test_a_source_that_breaks_is_a_failure_of_the_stage_that_asked() -> None:
    class Broken:
        async def resolve(self) -> None:
            raise OSError("secret")

    run = await consolidate(ScriptLedger(sources(3)), Broken(), SMALL, clock=lambda: START, run_id="r")
    assert [(each.stage, each.code) for each in run.failures] == [(Stage.OBSERVER, "worker-error")]
    assert "secret" not in run.failures[0].text


async def test_the_gate_stops_every_stage_even_where_the_run_is_forced() -> None:
    script = sources(3)
    script.custom("om.gate", {"enabled": False})
    shop = Workshop(script, observing, SMALL)
    run = await shop.run(forced=True)
    assert (run, shop.ledger.appended) == (ConsolidationRun(run_id="run-1"), [])
    script = crowded(26_000)
    script.custom("om.gate", {"enabled": False})
    assert not (await Workshop(script, observing, SMALL).run(window=128_000)).changed


async def test_a_branch_that_moved_ends_the_run_in_silence() -> None:
    shop = Workshop(sources(3), observing, SMALL)
    shop.ledger.moved = True
    run = await shop.run()
    assert (run.moved, run.failures, run.changed) == (True, (), False)
    assert run.calls == {Stage.OBSERVER: 2}
    assert shop.stages == [Stage.OBSERVER, None]
    shop = Workshop(crowded(26_000), observing, SMALL)
    shop.ledger.moved = True
    assert (await shop.run(window=128_000)).moved
    assert shop.stages == [Stage.OBSERVER, None]


async def test_an_entry_is_only_appended_to_the_branch_its_stage_began_on() -> None:
    class Asking(ScriptLedger):
        ancestors: list[str]

        async def append(self, append: Append, *, expect_ancestor: str) -> None:
            self.ancestors.append(expect_ancestor)
            await super().append(append, expect_ancestor=expect_ancestor)

    script = sources(3)

    def meanwhile(asked: Asked) -> Completion:
        script.weighing(7)
        return observing(asked)

    shop = Workshop(script, meanwhile, ObserveConfig(observe_after_tokens=100))
    shop.ledger = ledger = Asking(script)
    ledger.ancestors = []
    await shop.run()
    assert ledger.ancestors == ["raw-3"]


async def test_a_session_that_went_to_another_branch_between_two_stages_ends_the_run() -> None:
    """Each stage would find a branch of its own to write to; the run began on another."""
    away = sources(2)
    away.append(Observed(observations=(seen("elsewhere"),), covers="raw-2"))
    away.entries[0] = evolve(away.entries[0], id="raw-0")
    away.entries = [evolve(each, id=f"b-{each.id}") for each in away.entries]

    class Leaving(ScriptLedger):
        async def append(self, append: Append, *, expect_ancestor: str) -> None:
            await super().append(append, expect_ancestor=expect_ancestor)
            self.script = away

    script = sources(3)
    shop = Workshop(script, observing, ObserveConfig(observe_after_tokens=100, reflect_after_tokens=1))
    shop.ledger = Leaving(script)
    run = await shop.run(forced=True)
    assert (run.observed, run.moved, run.failures) == (1, True, ())
    assert run.calls == {Stage.OBSERVER: 2}
    assert [each.id for each in away.entries] == ["b-raw-0", "b-raw-2", "b-led-1"]


async def test_a_session_without_an_entry_is_nothing_to_work_on() -> None:
    run = await Workshop(BranchScript(), observing, SMALL).run(forced=True)
    assert run == ConsolidationRun(run_id="run-1")


async def test_a_ledger_that_refuses_is_a_failure_without_its_words() -> None:
    class Refusing(ScriptLedger):
        async def append(self, append: Append, *, expect_ancestor: str) -> None:
            raise RuntimeError("/home/somebody", append, expect_ancestor)

    shop = Workshop(sources(3), observing, SMALL)
    shop.ledger = Refusing(shop.script)
    run = await shop.run()
    assert (run.observed, run.failures[0].code) == (0, "worker-error")
    assert "somebody" not in run.failures[0].text


async def test_whoever_cancels_a_run_is_obeyed_and_the_stage_is_cleared() -> None:
    class Slow:
        async def complete(self, *_args: Any, **_more: Any) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

    shop = Workshop(sources(3), observing, SMALL)
    shop.model = Slow()  # type: ignore[assignment]  # a model of another make
    task = asyncio.create_task(shop.run())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert shop.stages[-1] is None
    assert shop.ledger.appended == []


def crowded(tokens: int) -> BranchScript:
    """A branch whose memory is far too large, and that has something to observe."""
    script = sources(1)
    of: dict[str, Any] = {"at": START, "sources": ["raw-1"], "relevance": Relevance.LOW, "kind": Kind.FACT}
    records = tuple(make_observation(f"{n:05d} ".ljust(160, "x"), **of) for n in range(tokens // 50))
    script.append(Observed(observations=records, covers="raw-1"))
    script.weighing(200)
    return script


@pytest.mark.req("S4-enforcer-002")
async def test_the_enforcer_bounds_the_ledger_though_every_call_fails() -> None:
    shop = Workshop(crowded(26_000), lambda _asked: says("", stop="error"), SMALL)
    run = await shop.run(window=128_000)
    assert run.failures[0].stage is Stage.OBSERVER
    assert run.reclaimed > 200
    assert run.calls == {Stage.OBSERVER: 1}
    assert shop.script.index().fold.observation_tokens <= 10_000
    assert shop.stages == [Stage.OBSERVER, Stage.ENFORCER, None]
    assert "enforcer.recorded" in shop.events
    assert len(shop.ledger.data("om.observations.dropped")) == 1
    assert (await shop.run(window=128_000)).reclaimed == 0


async def test_the_enforcer_needs_no_model_at_all() -> None:
    run = await without_model(crowded(26_000))
    assert (run.unavailable, run.reclaimed > 200) == (True, True)


async def test_cost_and_tokens_are_those_of_all_calls_of_the_run() -> None:
    def dear(asked: Asked) -> Completion:
        made = observing(asked)
        return Completion(message=made.message, cost_usd=0.01, input_tokens=10, output_tokens=2)

    config = ObserveConfig(observe_after_tokens=100, reflect_after_tokens=1, observer_chunk_max_tokens=256)
    run = await Workshop(sources(3), dear, config).run()
    assert run.calls == {Stage.OBSERVER: 2, Stage.REFLECTOR: 1}
    assert run.cost_usd == pytest.approx(0.03)
    assert (run.input_tokens, run.output_tokens) == (30, 6)


async def test_a_transient_failure_costs_a_wait_and_not_the_run() -> None:
    class BusyError(HindbrainError):
        code = "busy"
        retryable = True

    left = [BusyError("Busy.")]
    shop = Workshop(sources(3), lambda asked: left.pop() if left else observing(asked), SMALL)
    run = await shop.run()
    assert (run.observed, run.failures, shop.waits) == (1, (), [2.0])
    assert "model.retry" in shop.events


@pytest.mark.parametrize(("longest", "most"), [(2_000, 12), (600, 40)])
async def test_a_model_that_finds_a_chunk_too_long_is_given_less_until_the_backlog_is_drained(
    longest: int, most: int
) -> None:
    """What is known of a model's window may be wrong: a local server is often started with less."""
    sent: list[str] = []

    def play(asked: Asked) -> Completion:
        if len(asked.prompt) > longest * 4:
            return says("", stop="error")
        sent.extend(part.split("]")[0] for part in asked.prompt.split("[Source entry id: ")[1:])
        return says()

    shop = Workshop(sources(40), play, ObserveConfig(observer_chunk_max_tokens=8_000))
    pace, runs = Pace(), 0
    while LedgerIndex(shop.script.entries).observed_to < 39:
        pace.after(await shop.run(forced=True, halvings=pace.halvings))
        runs += 1
        assert runs <= most
    assert sent == [f"raw-{n + 1}" for n in range(40)]


@settings(max_examples=40, deadline=None)
@given(
    weights=st.lists(st.integers(min_value=1, max_value=900), min_size=1, max_size=25),
    seed=st.integers(min_value=0, max_value=2**32),
    empty=st.sampled_from([0.0, 0.3, 1.0]),
    failing=st.sampled_from([0.0, 0.4, 0.7]),
)
async def test_any_backlog_drains_and_every_passage_is_sent_and_answered(
    weights: list[int], seed: int, empty: float, failing: float
) -> None:
    """In so many runs as there are full chunks, the one that is begun, and those that failed."""
    chance = random.Random(seed)  # noqa: S311  (a seed of the test's own)
    script = BranchScript()
    for weight in weights:
        script.weighing(weight)
    cap = 1_000
    judged: set[str] = set()

    def play(asked: Asked) -> Completion:
        sent = [part.split("]")[0] for part in asked.prompt.split("[Source entry id: ")[1:]]
        if len(asked.messages) > 2:
            return says()
        if chance.random() < failing:
            return says("", stop="error")
        judged.update(sent)
        return says() if chance.random() < empty else calls(OBSERVE, note(f"seen {sent[0]}", *sent))

    config = ObserveConfig(observer_chunk_max_tokens=cap, reflect_after_tokens=10_000_000)
    shop = Workshop(script, play, config)
    runs = failed = 0
    while LedgerIndex(script.entries).observed_to < len(weights) - 1:
        failed += bool((await shop.run(forced=True, due=None)).failures)
        runs += 1
        assert runs < 2_000
    # The label and time of a passage weigh too, and what does not fit a chunk begins the next one.
    chunks = -(-sum(weight + 20 for weight in weights) // (cap // 2)) + 1
    assert runs - failed <= chunks
    assert judged == {f"raw-{n + 1}" for n in range(len(weights))}


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(min_value=1, max_value=30),
    seed=st.integers(min_value=0, max_value=2**32),
    breaking=st.sampled_from([0.1, 0.5, 0.8]),
    turns=st.integers(min_value=1, max_value=4),
)
async def test_whatever_breaks_off_no_passage_is_covered_that_was_neither_recorded_nor_judged(
    count: int, seed: int, breaking: float, turns: int
) -> None:
    """A model that cites passages in any order, fails in the middle, or runs out of turns."""
    chance = random.Random(seed)  # noqa: S311  (a seed of the test's own)
    script = sources(count, weight=60)
    cited: set[str] = set()
    passed: set[str] = set()
    state: dict[str, list[str]] = {}

    def play(asked: Asked) -> Completion:
        if len(asked.messages) == 2:
            sent = [part.split("]")[0] for part in asked.prompt.split("[Source entry id: ")[1:]]
            state["sent"], state["now"] = sent, []
        if chance.random() < breaking:
            return says("", stop="error")
        if chance.random() < 0.4:
            passed.update(state["sent"])
            return says()
        one = chance.choice(state["sent"])
        cited.add(one)
        # Cut short without a failure, a model has passed over what lies before the first passage it cited.
        state["now"].append(one)
        first = min(state["sent"].index(each) for each in state["now"])
        passed.update(state["sent"][:first] if len(asked.messages) // 2 >= turns else ())
        return calls(OBSERVE, note(f"seen {one}", one))

    config = ObserveConfig(observer_chunk_max_tokens=600, agent_max_turns=turns, reflect_after_tokens=10_000_000)
    shop = Workshop(script, play, config)
    for _run in range(400):
        index = LedgerIndex(script.entries)
        covered = {each.id for each in index.entries[: index.observed_to + 1] if each.id.startswith("raw-")}
        assert covered <= cited | passed
        if len(covered) == count:
            break
        await shop.run(forced=True)
    recorded = {each.content for each in script.index().fold.observations.values()}
    assert recorded <= {f"seen {each}" for each in cited}
