from __future__ import annotations

import json
from typing import Any

import pytest

from hindbrain.contracts import Completion
from hindbrain.observe import (
    Kind,
    Observation,
    ObserveConfig,
    Observed,
    Reflected,
    Relevance,
    Stage,
    make_observation,
    make_reflection,
)
from hindbrain.observe._dropping import Pool, chosen_drops, judge_drops, most_drops
from hindbrain.observe._prompts import DROP_OBSERVATIONS, RECORD_REFLECTIONS
from hindbrain.observe._sight import Sight
from hindbrain.observe._tokens import tokens
from hindbrain.observe.testing import START, Asked, BranchScript, Workshop, calls, says

REFLECT, DROP = RECORD_REFLECTIONS.name, DROP_OBSERVATIONS.name
WINDOW = 128_000
BOTH = {"due": lambda _index, stage: stage is Stage.REFLECTOR, "window": WINDOW}


def seen(n: int, cost: int = 100, **more: Any) -> Observation:
    """An observation whose line weighs exactly so many tokens."""
    fields = {"at": START + n, "sources": ["raw-1"], "relevance": Relevance.LOW, "kind": Kind.FACT, **more}
    start = make_observation(f"{n} ", **fields)
    return make_observation(f"{n} " + "x" * (cost * 4 - len(start.line) - 2), **fields)


def pool(count: int, cost: int = 100) -> BranchScript:
    script = BranchScript()
    script.weighing(100)
    script.append(Observed(observations=tuple(seen(n, cost) for n in range(count)), covers="raw-1"))
    return script


def play(*ids: str, reflect: bool = True) -> Any:
    """A model that reflects, and then drops these; without any, all it is shown."""

    def answer(asked: Asked) -> Completion:
        if len(asked.messages) > 2 or (asked.tool == REFLECT and not reflect):
            return says()
        shown = [line.split("[")[1][:12] for line in asked.prompt.splitlines() if line.startswith("none [")]
        if asked.tool == REFLECT:
            # A support that is not shown would be refused; one that is leaves its mark on it.
            item = {"content": "a rule that lasts", "supportingObservationIds": shown[:1]}
            return calls(REFLECT, {"reflections": [item]})
        return calls(DROP, {"ids": list(ids) or shown})

    return answer


def sight(*records: Observation) -> Sight:
    return Sight(observations=records, reflections=(), text="")


def test_the_ceiling_is_what_the_excess_is_worth_at_the_mean_size_of_those_shown() -> None:
    hundred = sight(*(seen(n) for n in range(100)))
    assert most_drops(Pool(tokens=13_000, target=10_000), hundred) == 30
    assert most_drops(Pool(tokens=13_001, target=10_000), hundred) == 31
    assert most_drops(Pool(tokens=10_001, target=10_000), hundred) == 1
    assert most_drops(Pool(tokens=90_000, target=10_000), hundred) == 100
    assert most_drops(Pool(tokens=10_000, target=10_000), hundred) == 0
    assert most_drops(Pool(tokens=13_000, target=10_000), sight()) == 0


def test_only_ids_that_are_shown_are_taken_each_once() -> None:
    records = [seen(n) for n in range(3)]
    named, receipt = judge_drops(
        {"ids": [records[1].id, "ffffffffffff", records[1].id, 7, [1]]}, sight(*records), (records[0].id,), 5
    )
    assert named == (records[0].id, records[1].id)
    assert receipt.text.startswith("1 taken, 4 unknown or named before; 2 in all.")


@pytest.mark.parametrize("arguments", [{}, {"ids": []}, {"ids": "x"}, {"ids": ["ffffffffffff"]}])
def test_a_call_that_names_nothing_is_refused(arguments: dict[str, Any]) -> None:
    named, receipt = judge_drops(arguments, sight(seen(1)), (), 1)
    assert (named, receipt.refused) == ((), True)


@pytest.mark.req("S4-dropper-001")
def test_of_too_many_the_least_valuable_leave_and_of_equal_ones_the_first_named() -> None:
    covered = [make_reflection(f"r{n}", supports=[seen(2).id]) for n in range(2)]
    records = {each.id: each for each in (seen(1), seen(2), seen(3, relevance=Relevance.HIGH))}
    one, two, three = records
    assert chosen_drops((three, one, two), records, covered, 1) == (two,)
    assert chosen_drops((three, one, two), records, covered, 2) == (two, one)
    assert chosen_drops((three, one, two), records, [], 2) == (one, two)
    same = {each.id: each for each in (seen(4, at=START), seen(5, at=START))}
    assert chosen_drops(tuple(reversed(same)), same, [], 1) == (list(same)[1],)


@pytest.mark.req("S4-dropper-008", "S4-dropper-010", "S4-lifecycle-008")
async def test_a_model_that_names_all_drops_what_brings_the_pool_to_its_target() -> None:
    shop = Workshop(pool(140), play())
    run = await shop.run(**BOTH)
    assert (run.reflected, run.dropped, run.reclaimed) == (1, 40, 0)
    assert shop.script.index().fold.observation_tokens == 10_000
    (data,) = shop.ledger.data("om.observations.dropped")
    assert (len(data["observationIds"]), data["coversUpToId"]) == (40, "raw-1")
    assert run.calls == {Stage.REFLECTOR: 2, Stage.DROPPER: 2}
    assert shop.stages == [Stage.REFLECTOR, Stage.DROPPER, None]


@pytest.mark.req("S4-dropper-002")
async def test_a_critical_one_may_leave_where_the_model_says_so() -> None:
    script = pool(110)
    critical = seen(500, relevance=Relevance.CRITICAL)
    script.append(Observed(observations=(critical,), covers="raw-1"))
    run = await Workshop(script, play(critical.id)).run(**BOTH)
    assert run.dropped == 1
    assert critical.id not in script.index().fold.active_observations


@pytest.mark.req("S4-dropper-009", "S4-settings-031")
async def test_at_its_target_the_pool_is_left_alone() -> None:
    shop = Workshop(pool(100), play())
    run = await shop.run(**BOTH)
    assert (run.reflected, run.dropped, run.calls) == (1, 0, {Stage.REFLECTOR: 2})


@pytest.mark.req("S4-observer-007")
async def test_without_a_new_reflection_nothing_is_dropped_however_large_the_pool() -> None:
    shop = Workshop(pool(180), play(reflect=False))
    run = await shop.run(**BOTH)
    assert (run.dropped, run.calls) == (0, {Stage.REFLECTOR: 1})
    shop = Workshop(pool(180), lambda _asked: says())
    shop.script.weighing(100)
    run = await shop.run(window=WINDOW, due=lambda _index, stage: stage is Stage.OBSERVER)
    assert run.calls == {Stage.OBSERVER: 1}


@pytest.mark.req("S4-dropper-006")
async def test_a_model_that_spares_all_is_left_to_it() -> None:
    def spares(asked: Asked) -> Completion:
        answer: Completion = says() if asked.tool == DROP else play()(asked)
        return answer

    script = pool(140)
    covering = [make_reflection(f"r{n}", supports=list(script.index().fold.active_observations)) for n in range(2)]
    script.append(Reflected(reflections=tuple(covering), covers="raw-1"))

    def reflects(asked: Asked) -> Completion:
        if asked.tool == REFLECT and len(asked.messages) == 2:
            shown = next(line for line in asked.prompt.splitlines() if line.startswith("strong ["))[8:20]
            return calls(REFLECT, {"reflections": [{"content": "x", "supportingObservationIds": [shown]}]})
        return says()

    run = await Workshop(script, reflects).run(**BOTH)
    assert (run.reflected, run.dropped, run.failures) == (1, 0, ())
    assert run.calls[Stage.DROPPER] == 1
    run = await Workshop(pool(140), spares).run(**BOTH)
    assert (run.dropped, run.failures) == (0, ())


@pytest.mark.req("S4-budget-028", "S4-budget-029")
async def test_the_ceiling_goes_by_the_real_pool_though_less_of_it_is_shown() -> None:
    shop = Workshop(pool(150), play(), ObserveConfig(memory_max_tokens=10_500))
    run = await shop.run(**BOTH)
    prompt = next(each.prompt for each in shop.model.asked if each.tool == DROP)
    shown = sum(line.startswith(("none [", "partial [")) for line in prompt.splitlines())
    assert shown < 105
    assert "The active observations weigh 15000 tokens. Their target is 10000" in prompt
    assert "At most 50 observations may be dropped." in prompt
    assert run.dropped == 50


@pytest.mark.req("S4-settings-038")
async def test_memory_s_cap_caps_the_target_too() -> None:
    shop = Workshop(pool(60), play(), ObserveConfig(memory_max_tokens=5_000))
    run = await shop.run(**BOTH)
    assert run.dropped == 10


@pytest.mark.req("S4-budget-027", "S4-settings-039")
async def test_what_each_worker_is_shown_of_the_memory_stays_under_its_cap() -> None:
    script = pool(400)
    script.weighing(100)
    shop = Workshop(script, play(), ObserveConfig(memory_max_tokens=5_000))
    await shop.run(forced=True, window=WINDOW)
    assert {each.tool for each in shop.model.asked} == {"record_observations", REFLECT, DROP}
    for asked in shop.model.asked:
        lines = [line for line in asked.prompt.splitlines() if "] 2026-" in line or line.startswith("## ")]
        assert 4_000 < tokens("\n".join(lines)) <= 5_000


async def test_a_dropper_that_only_names_what_is_not_there_has_failed() -> None:
    def lost(asked: Asked) -> Completion:
        if asked.tool == DROP:
            return calls(DROP, {"ids": ["ffffffffffff"]})
        answer: Completion = play()(asked)
        return answer

    run = await Workshop(pool(140), lost).run(**BOTH)
    assert (run.dropped, [(each.stage, each.code) for each in run.failures]) == (0, [(Stage.DROPPER, "worker-turns")])


async def test_nothing_is_dropped_once_the_gate_is_off() -> None:
    script = pool(140)

    def closing(asked: Asked) -> Completion:
        if len(asked.messages) > 2:
            script.custom("om.gate", {"enabled": False})
        answer: Completion = play()(asked)
        return answer

    run = await Workshop(script, closing).run(**BOTH)
    assert (run.reflected, run.dropped, run.calls) == (1, 0, {Stage.REFLECTOR: 2})


async def test_a_dropper_that_fails_keeps_what_it_had_named() -> None:
    def fails(asked: Asked) -> Completion:
        if asked.tool == DROP and len(asked.messages) > 2:
            return says("", stop="error")
        answer: Completion = play()(asked)
        return answer

    run = await Workshop(pool(140), fails).run(**BOTH)
    assert (run.dropped, [each.stage for each in run.failures]) == (40, [Stage.DROPPER])


@pytest.mark.req("S4-settings-041")
async def test_the_turns_that_are_set_are_those_of_all_three_workers() -> None:
    script = pool(140)
    script.weighing(100)

    def never_stops(asked: Asked) -> Completion:
        shown = [line.split("[")[1][:12] for line in asked.prompt.splitlines() if line.startswith("none [")]
        turn = len(asked.messages)
        given: dict[str, dict[str, Any]] = {
            REFLECT: {"reflections": [{"content": f"rule {turn}", "supportingObservationIds": shown[:1]}]},
            DROP: {"ids": shown[turn : turn + 1]},
        }
        item = {"content": f"n {turn}", "relevance": "low", "kind": "fact", "sourceEntryIds": ["raw-2"]}
        return calls(asked.tool, given.get(asked.tool, {"observations": [item]}))

    shop = Workshop(script, never_stops, ObserveConfig(agent_max_turns=3))
    run = await shop.run(forced=True, window=WINDOW)
    assert run.calls == {Stage.OBSERVER: 3, Stage.REFLECTOR: 3, Stage.DROPPER: 3}
    assert run.failures == ()


async def test_what_is_dropped_stands_in_the_ledger_as_it_was() -> None:
    shop = Workshop(pool(140), play())
    before = list(shop.script.entries)
    await shop.run(**BOTH)
    assert shop.script.entries[: len(before)] == before
    assert all(json.loads(each.data or "{}") for each in shop.script.entries[1:])
