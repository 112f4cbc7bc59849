from __future__ import annotations

import re
from typing import Any

import pytest

from hindbrain.observe import (
    Observation,
    ObserveConfig,
    Observed,
    Reflected,
    Reflection,
    Relevance,
    Stage,
    Superseded,
    Tier,
    coverage,
    make_observation,
    make_reflection,
    record_id,
    tier,
)
from hindbrain.observe._prompts import RECORD_REFLECTIONS
from hindbrain.observe._records import Kind
from hindbrain.observe._reflecting import Known, ReflectionDraft, judge_reflections
from hindbrain.observe._sight import Sight
from hindbrain.observe.testing import START, BranchScript, Workshop, calls, says

TOOL = RECORD_REFLECTIONS.name
REFLECTOR_ONLY = {"due": lambda _index, stage: stage is Stage.REFLECTOR}


def note(text: str, relevance: Relevance = Relevance.MEDIUM) -> Observation:
    return make_observation(text, at=START, sources=["raw-1"], relevance=relevance, kind=Kind.FACT)


O1, O2, O3 = note("one"), note("two"), note("three")
R1 = make_reflection("deploys happen on Fridays", supports=[O1.id, O2.id])
R2 = make_reflection("deployment day is Friday", supports=[O2.id, O3.id])
R3 = make_reflection("Friday is when it is deployed", supports=[O3.id])


def branch(
    observations: tuple[Observation, ...] = (O1, O2, O3), reflections: tuple[Reflection, ...] = (R1, R2)
) -> BranchScript:
    script = BranchScript()
    script.weighing(100)
    script.append(Observed(observations=observations, covers="raw-1"))
    if reflections:
        script.append(Reflected(reflections=reflections, covers="raw-1"))
    return script


def thought(content: Any, supports: list[Any] | None = None, over: list[Any] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"content": content}
    if supports is not None:
        made["supportingObservationIds"] = supports
    if over is not None:
        made["supersedes"] = over
    return made


def proposing(*items: dict[str, Any]) -> Any:
    return lambda asked: calls(TOOL, {"reflections": list(items)}) if len(asked.messages) == 2 else says()


def known(retired: frozenset[str] = frozenset(), reflections: tuple[Reflection, ...] = (R1, R2)) -> Known:
    seen = Sight(observations=(O1, O2, O3), reflections=reflections, text="")
    return Known(sight=seen, active={each.id: each for each in (R1, R2, R3)}, retired=retired)


def judged(*items: Any, known: Known, draft: ReflectionDraft | None = None) -> ReflectionDraft:
    return judge_reflections({"reflections": list(items)}, known, draft or ReflectionDraft())[0]


# -- judgement


@pytest.mark.req("S4-reflections-022", "S4-reflections-005")
@pytest.mark.parametrize("content", ["", " \n", "a\nb", "a\rb", "a\u2028b", None, 7, ["a"]])
def test_a_statement_that_is_blank_or_of_several_lines_is_refused_and_retires_nothing(content: Any) -> None:
    draft = judged(thought(content, [O1.id], [R1.id]), known=known())
    assert (draft.records, draft.superseded, draft.rejected) == ({}, (), 1)


def test_a_statement_is_trimmed_and_cut_before_it_is_named() -> None:
    draft = judged(thought("  keeps to SQLite \n", [O1.id]), thought("x" * 11_000, [O1.id]), known=known())
    first, second = draft.records.values()
    assert (first.content, first.id) == ("keeps to SQLite", record_id("keeps to SQLite"))
    assert second.content.endswith("[1000 characters left out]")


@pytest.mark.req("S4-reflections-023")
def test_it_rests_on_observations_that_were_shown_in_their_order() -> None:
    draft = judged(thought("new", [O3.id, O1.id, O3.id]), known=known())
    assert [each.support_ids for each in draft.records.values()] == [(O1.id, O3.id)]
    wrong: tuple[Any, ...] = ([], [O1.id, "ffffffffffff"], None, [7], "x")
    for supports in wrong:
        assert judged(thought("new", supports), known=known()).rejected == 1


@pytest.mark.req("S4-reflections-006")
def test_ids_that_were_not_shown_are_passed_over_among_those_it_replaces() -> None:
    draft = judged(thought("new", [O1.id], [R1.id, "ffffffffffff", R3.id, 7, R1.id]), known=known())
    assert draft.superseded == (R1.id,)
    assert len(draft.records) == 1


@pytest.mark.req("S4-reflections-016")
def test_a_merge_without_sound_support_takes_over_what_its_parts_rest_on() -> None:
    for supports in (None, [], [O1.id, "ffffffffffff"]):
        draft = judged(thought("deploys go out on Fridays only", supports, [R1.id, R2.id]), known=known())
        assert [each.support_ids for each in draft.records.values()] == [(O1.id, O2.id, O3.id)]


@pytest.mark.req("S4-reflections-009")
def test_what_a_proposal_stands_on_is_not_retired_by_another() -> None:
    draft = judged(thought(R1.content, None, [R2.id]), thought(R2.content, None, [R1.id]), known=known())
    assert (draft.superseded, draft.records) == ((), {})
    assert judged(thought(R1.content, None, [R1.id]), known=known()).superseded == ()


def test_a_later_call_protects_what_an_earlier_one_replaced() -> None:
    first = judged(thought("new", [O1.id], [R1.id, R2.id]), known=known())
    assert first.superseded == (R1.id, R2.id)
    assert judged(thought(R2.content), known=known(), draft=first).superseded == (R1.id,)


@pytest.mark.req("S4-reflections-018")
def test_a_proposal_that_was_superseded_before_retires_nothing_and_the_others_of_its_call_do() -> None:
    gone = record_id("tabs are used")
    draft = judged(
        thought("tabs are used", [O1.id], [R1.id]),
        thought("spaces are used", [O1.id], [R2.id]),
        known=known(frozenset({gone})),
    )
    assert draft.superseded == (R2.id,)
    assert [each.content for each in draft.records.values()] == ["spaces are used"]
    assert draft.rejected == 1
    long = "x" * 11_000
    kept = make_reflection(long, supports=[O1.id]).id
    assert judged(thought(long, [O1.id]), known=known(frozenset({kept}))).rejected == 1


@pytest.mark.parametrize("arguments", [{}, {"reflections": []}, {"reflections": "x"}, {"reflections": ["x"]}])
def test_a_call_without_proposals_is_refused(arguments: dict[str, Any]) -> None:
    draft, receipt = judge_reflections(arguments, known(), ReflectionDraft())
    assert (draft.rejected, receipt.refused) == (1, True)


def test_the_receipt_counts_what_became_of_the_proposals() -> None:
    _draft, receipt = judge_reflections(
        {"reflections": [thought("new", [O1.id], [R2.id]), thought(R1.content), thought("")]},
        known(),
        ReflectionDraft(),
    )
    assert receipt.text.startswith("1 added, 1 known already, 1 refused; 1 superseded in all.")
    assert not receipt.refused


# -- runs


@pytest.mark.req("S4-reflections-002", "S4-reflections-010")
async def test_a_reflection_takes_the_place_of_another_whose_record_stays() -> None:
    shop = Workshop(branch(), proposing(thought("deploys happen on Mondays", [O1.id], [R1.id])))
    before = list(shop.script.entries)
    run = await shop.run(**REFLECTOR_ONLY)
    assert (run.reflected, run.superseded, run.failures) == (1, 1, ())
    fold = shop.script.index().fold
    assert {each.content for each in fold.active_reflections.values()} == {R2.content, "deploys happen on Mondays"}
    assert shop.script.entries[: len(before)] == before
    assert R1.id in fold.reflections
    assert [each.custom_type for each in shop.ledger.appended] == ["om.reflections.recorded", "om.reflections.dropped"]
    assert shop.stages == [Stage.REFLECTOR, None]


@pytest.mark.req("S4-reflections-004")
async def test_all_that_one_run_replaces_stands_in_one_entry() -> None:
    merges = proposing(thought("a", [O1.id], [R1.id, R2.id]), thought("b", [O2.id], [R3.id, R2.id]))
    shop = Workshop(branch(reflections=(R1, R2, R3)), merges)
    run = await shop.run(**REFLECTOR_ONLY)
    assert run.superseded == 3
    assert shop.ledger.data("om.reflections.dropped") == [
        {"reflectionIds": [R1.id, R2.id, R3.id], "coversUpToId": "raw-1"}
    ]


@pytest.mark.req("S4-reflections-007", "S4-reflections-008", "S4-reflections-014")
async def test_variants_are_merged_into_one_that_exists_and_stays_as_it_is() -> None:
    shop = Workshop(
        branch(reflections=(R1, R2, R3)), proposing(thought(R1.content, [O3.id], [R2.id, R3.id])), window=128_000
    )
    run = await shop.run(**REFLECTOR_ONLY)
    assert (run.reflected, run.superseded) == (0, 2)
    assert shop.ledger.data("om.reflections.recorded") == []
    assert list(shop.script.index().fold.active_reflections.values()) == [R1]


@pytest.mark.req("S4-reflections-017")
async def test_a_merge_works_where_no_observation_is_left_to_cite() -> None:
    script = BranchScript()
    script.weighing(100)
    script.append(Observed(observations=(), covers="raw-1"))
    script.append(Reflected(reflections=(make_reflection("old words", supports=[O1.id]),), covers="raw-1"))
    shop = Workshop(script, proposing(thought("new words", None, [record_id("old words")])))
    assert (await shop.run(**REFLECTOR_ONLY)).superseded == 1
    assert [each.support_ids for each in script.index().fold.active_reflections.values()] == [(O1.id,)]


@pytest.mark.req("S4-reflections-013")
async def test_what_a_replaced_reflection_covered_is_covered_no_longer() -> None:
    shop = Workshop(branch(), proposing(thought("nothing of it", [O3.id], [R1.id])))
    await shop.run(**REFLECTOR_ONLY)
    counts = coverage(shop.script.index().fold.active_reflections.values())
    assert tier(counts[O1.id]) is Tier.NONE


@pytest.mark.req("S4-dropper-004", "S4-dropper-005")
async def test_each_observation_it_is_shown_is_marked_by_counting() -> None:
    prompts = []
    for _each in range(2):
        shop = Workshop(branch(), proposing())
        await shop.run(**REFLECTOR_ONLY)
        prompts.append(shop.model.asked[0].prompt)
    marks = re.findall(r"^(none|partial|strong) \[([0-9a-f]{12})\]", prompts[0], re.MULTILINE)
    assert marks == [("partial", O1.id), ("strong", O2.id), ("partial", O3.id)]
    assert prompts[0] == prompts[1]


def weighed(count: int, cost: int, word: str) -> tuple[Reflection, ...]:
    """Reflections whose lines weigh this many tokens each."""
    return tuple(make_reflection(f"{word} {n:04d} ".ljust(cost * 4 - 16, "r"), supports=[O1.id]) for n in range(count))


@pytest.mark.req("S4-reflections-019", "S4-reflections-020", "S4-reflections-021")
@pytest.mark.parametrize(("count", "over"), [(200, True), (50, False)])
async def test_it_is_told_its_budget_by_all_there_are_and_to_merge_where_they_are_over_it(
    count: int, over: bool
) -> None:
    notes = tuple(note(f"{n:04d} ".ljust(360, "o")) for n in range(125))
    shop = Workshop(branch(notes, weighed(count, 40, "rule")), lambda _asked: says(), window=128_000)
    await shop.run(window=128_000, **REFLECTOR_ONLY)
    prompt = shop.model.asked[0].prompt
    budget = prompt.split("# REFLECTION BUDGET")[1]
    assert f"{count} reflections are active; they take {count * 40} tokens." in budget
    (room,) = re.findall(r"A rendered memory has ([0-9]+) tokens for them", budget)
    assert 2_500 <= int(room) <= 2_800
    assert ("merge what can be merged before you add anything" in budget) is over
    hidden = count - len(re.findall(r"\] rule ", prompt))
    assert f"{hidden} of them are not shown here." in budget
    assert (hidden > 0) is over


async def test_it_waits_for_its_threshold_for_observations_and_for_something_new() -> None:
    script = BranchScript()
    script.weighing(19_999)
    shop = Workshop(script, proposing(thought("a", [O1.id])), ObserveConfig(observe_after_tokens=90_000))
    assert (await shop.run()).calls == {}
    script.weighing(10)
    assert (await shop.run()).calls == {}, "nothing was observed"
    script.append(Observed(observations=(O1,), covers="raw-2"))
    assert (await shop.run()).reflected == 1
    script.weighing(20_000)
    assert (await shop.run()).calls == {}, "nothing was observed since the last reflection"
    script.append(Observed(observations=(), covers="raw-3"))
    assert (await shop.run()).calls == {Stage.REFLECTOR: 2}
    script.weighing(19_999)
    script.append(Observed(observations=(), covers="raw-4"))
    assert (await shop.run()).calls == {}, "too little came since"


async def test_a_verdict_of_nothing_lasting_is_kept_so_that_it_is_not_asked_again() -> None:
    shop = Workshop(branch(reflections=()), lambda _asked: says(), ObserveConfig(reflect_after_tokens=10))
    shop.script.weighing(50)
    assert (await shop.run()).failures == ()
    assert shop.ledger.data("om.reflections.recorded")[0]["verdict"] == "empty"
    assert (await shop.run()).calls == {}


async def test_an_empty_answer_replaces_nothing() -> None:
    shop = Workshop(branch(), lambda _asked: says(""))
    await shop.run(**REFLECTOR_ONLY)
    fold = shop.script.index().fold
    assert (len(fold.active_observations), len(fold.active_reflections)) == (3, 2)


async def test_a_model_that_fails_after_a_proposal_keeps_the_proposal_and_is_a_failure() -> None:
    def play(asked: Any) -> Any:
        made = calls(TOOL, {"reflections": [thought("a", [O1.id])]})
        return made if len(asked.messages) == 2 else says("", stop="error")

    shop = Workshop(branch(), play)
    run = await shop.run(**REFLECTOR_ONLY)
    assert (run.reflected, run.failures[0].stage) == (1, Stage.REFLECTOR)


async def test_a_model_that_fails_at_once_leaves_no_verdict() -> None:
    shop = Workshop(branch(), lambda _asked: says("", stop="error"))
    run = await shop.run(**REFLECTOR_ONLY)
    assert (run.failures[0].code, shop.ledger.appended) == ("worker-model", [])


async def test_what_was_superseded_is_not_brought_back_by_a_later_run() -> None:
    script = branch()
    script.append(Superseded(ids=(R1.id,), covers="raw-1"))
    shop = Workshop(script, proposing(thought(R1.content, [O1.id])))
    run = await shop.run(**REFLECTOR_ONLY)
    assert (run.reflected, run.failures[0].code) == (0, "worker-refused")
