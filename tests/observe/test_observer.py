from __future__ import annotations

from typing import Any

import pytest

from hindbrain.contracts import HindbrainError
from hindbrain.observe import LedgerIndex, ObserveConfig, Stage, chunk_cap, next_chunk
from hindbrain.observe._observing import ObservationDraft, Passages, judge_observations, reached
from hindbrain.observe._prompts import RECORD_OBSERVATIONS
from hindbrain.observe._tokens import tokens
from hindbrain.observe.testing import START, Asked, BranchScript, Workshop, calls, says

TOOL = RECORD_OBSERVATIONS.name
SMALL = ObserveConfig(observe_after_tokens=100, observer_chunk_max_tokens=1_000)


def sources(count: int, weight: int = 100) -> BranchScript:
    script = BranchScript()
    for _each in range(count):
        script.weighing(weight)
    return script


def item(content: str, *cited: str, relevance: str = "medium", kind: str = "fact", **more: Any) -> dict[str, Any]:
    return {"content": content, "relevance": relevance, "kind": kind, "sourceEntryIds": list(cited), **more}


def recording(*items: dict[str, Any]) -> dict[str, Any]:
    return {"observations": list(items)}


def once(*items: dict[str, Any]) -> Any:
    """Records these in the first turn, and stops in the second."""
    return lambda asked: calls(TOOL, recording(*items)) if len(asked.messages) == 2 else says()


def passages(script: BranchScript) -> Passages:
    index = script.index()
    chunk = next_chunk(index, 60_000)
    assert chunk is not None
    return Passages(index=index, chunk=chunk, zone="UTC", now=START)


# -- judgement


def test_a_proposal_becomes_a_record_with_the_time_of_its_earliest_source() -> None:
    draft, receipt = judge_observations(
        recording(item("User chose SQLite", "raw-3", "raw-2", "raw-3", relevance="high", kind="decision")),
        passages(sources(4)),
        ObservationDraft(),
    )
    (record,) = draft.records.values()
    assert record.source_ids == ("raw-2", "raw-3")
    assert record.timestamp == "2026-01-02 09:01"
    assert (record.relevance.value, record.kind.value) == ("high", "decision")
    assert receipt.text == "1 added, 0 recorded before, 0 refused; 1 in all."
    assert not receipt.refused


@pytest.mark.parametrize(
    "wrong",
    [
        item("x", "raw-1", "raw-9"),
        item("x"),
        item("", "raw-1"),
        item(" \n ", "raw-1"),
        item("x", "raw-1", relevance="urgent"),
        {**item("x", "raw-1"), "relevance": ["high"]},
        {**item("x", "raw-1"), "sourceEntryIds": "raw-1"},
        {**item("x", "raw-1"), "sourceEntryIds": [1]},
        {**item("x", "raw-1"), "content": None},
        "x",
    ],
)
def test_a_proposal_that_is_unsound_costs_itself_and_not_its_batch(wrong: Any) -> None:
    draft, receipt = judge_observations(
        recording(wrong, item("sound", "raw-1")), passages(sources(2)), ObservationDraft()
    )
    assert [each.content for each in draft.records.values()] == ["sound"]
    assert draft.rejected == 1
    assert "1 refused" in receipt.text
    assert not receipt.refused


@pytest.mark.parametrize("arguments", [{}, {"observations": []}, {"observations": "x"}, {"observations": None}])
def test_a_call_without_a_list_is_refused(arguments: dict[str, Any]) -> None:
    draft, receipt = judge_observations(arguments, passages(sources(1)), ObservationDraft())
    assert (draft.rejected, receipt.refused) == (1, True)


@pytest.mark.parametrize("kind", ["opinion", None, ["user"]])
def test_a_kind_nobody_knows_counts_as_a_fact(kind: Any) -> None:
    draft, _receipt = judge_observations(
        recording({**item("x", "raw-1"), "kind": kind}), passages(sources(1)), ObservationDraft()
    )
    assert [each.kind.value for each in draft.records.values()] == ["fact"]


def test_what_a_run_recorded_already_is_not_recorded_twice() -> None:
    seen = passages(sources(2))
    draft, _first = judge_observations(recording(item("x", "raw-1")), seen, ObservationDraft())
    draft, second = judge_observations(recording(item("x", "raw-2")), seen, draft)
    assert [each.source_ids for each in draft.records.values()] == [("raw-1",)]
    assert second.text.startswith("0 added, 1 recorded before")


def test_a_run_that_ended_early_reached_as_far_as_each_passage_is_cited() -> None:
    seen = passages(sources(6))

    def of(*cited: str, failed: bool) -> str | None:
        draft, _receipt = judge_observations(
            recording(*(item(f"about {each}", each) for each in cited)), seen, ObservationDraft()
        )
        return reached(seen.chunk, draft.records.values(), failed=failed)

    assert of("raw-1", "raw-2", "raw-5", failed=True) == "raw-2"
    assert of("raw-1", "raw-2", "raw-5", failed=False) == "raw-2"
    assert of("raw-3", failed=True) is None
    assert of("raw-3", "raw-4", failed=False) == "raw-4"
    assert of(failed=False) is None


# -- runs


async def test_a_run_records_what_its_model_proposed_and_covers_its_chunk() -> None:
    shop = Workshop(sources(3), once(item("User chose SQLite", "raw-2")), SMALL)
    run = await shop.run(zone="+02:00")
    assert (run.observed, run.empty, run.failures, run.changed) == (1, False, (), True)
    assert run.calls == {Stage.OBSERVER: 2}
    (data,) = shop.ledger.data("om.observations.recorded")
    assert (data["coversUpToId"], data["zone"]) == ("raw-3", "+02:00")
    assert data["observations"][0]["timestamp"] == "2026-01-02 11:01"
    assert shop.stages == [Stage.OBSERVER, None]
    assert shop.model.asked[0].tool == TOOL


async def test_it_is_shown_the_memory_there_is_and_the_passages_with_their_ids() -> None:
    script = sources(3)
    await Workshop(script, once(item("User chose SQLite", "raw-2")), SMALL).run()
    script.user("And now for more of it. " * 40)
    shop = Workshop(script, once(), SMALL)
    await shop.run()
    prompt = shop.model.asked[0].prompt
    assert "User chose SQLite" in prompt
    assert "raw-4" in prompt
    assert "raw-3]" not in prompt


@pytest.mark.req("S4-observer-009")
async def test_a_clean_answer_without_a_record_is_a_verdict_and_moves_the_coverage() -> None:
    shop = Workshop(sources(3), lambda _asked: says(), SMALL)
    run = await shop.run()
    assert (run.empty, run.failures, run.changed) == (True, (), False)
    assert shop.ledger.data("om.observations.recorded")[0]["verdict"] == "empty"
    assert shop.script.index().observed_to == 2
    assert (await shop.run()).calls == {}


async def test_one_dull_chunk_does_not_hide_what_comes_after_it() -> None:
    script = sources(5, weight=250)
    script.user("The deploy key rotates on Friday. " * 20)

    def play(asked: Asked) -> Any:
        if "deploy key" not in asked.prompt or len(asked.messages) > 2:
            return says()
        return calls(TOOL, recording(item("The deploy key rotates on Friday", "raw-6")))

    shop = Workshop(script, play, ObserveConfig(observe_after_tokens=100, observer_chunk_max_tokens=300))
    runs = [await shop.run() for _each in range(6)]
    assert [run.observed for run in runs] == [0, 0, 0, 0, 0, 1]


async def test_thirty_dull_turns_are_looked_at_once_a_threshold_and_not_once_a_turn() -> None:
    script = sources(34, weight=303)
    shop = Workshop(script, lambda _asked: says())
    for _turn in range(13):
        await shop.run()
        script.weighing(700)
    assert len(shop.model.asked) == 1


@pytest.mark.req("S4-observer-010", "S4-settings-013")
@pytest.mark.parametrize("stop", ["error", "aborted"])
async def test_a_model_that_fails_moves_nothing(stop: str) -> None:
    shop = Workshop(sources(3), lambda _asked: says("", stop=stop), SMALL)
    run = await shop.run()
    assert (run.observed, run.empty, shop.ledger.appended) == (0, False, [])
    assert [each.stage for each in run.failures] == [Stage.OBSERVER]
    assert run.failures[0].text.startswith("The observer did not finish: ")
    assert shop.script.index().observed_to == -1


@pytest.mark.req("S4-settings-013")
async def test_a_context_that_is_too_large_for_the_server_is_no_passing_error() -> None:
    class TooLongError(HindbrainError):
        code = "model-request"

    shop = Workshop(sources(3), lambda _asked: TooLongError("The model refused the request."), SMALL)
    run = await shop.run()
    assert (run.failures[0].code, shop.waits, run.calls) == ("model-request", [], {Stage.OBSERVER: 1})


async def test_records_before_a_failure_are_kept_and_the_rest_of_the_chunk_is_looked_at_again() -> None:
    script = BranchScript()
    script.custom("model_change", {})
    for _each in range(5):
        script.weighing(100)

    def broken(*cited: str) -> Any:
        made = calls(TOOL, recording(*(item(f"about {each}", each) for each in cited)))
        return lambda asked: made if len(asked.messages) == 2 else says("", stop="error")

    shop = Workshop(script, broken("raw-1", "raw-2", "raw-4"), SMALL)
    run = await shop.run()
    assert (run.observed, len(run.failures)) == (3, 1)
    assert covered(script) == "raw-2"
    await Workshop(script, broken("raw-5"), SMALL).run()
    assert covered(script) == "raw-2"
    assert len(script.index().fold.active_observations) == 4


async def test_records_that_nothing_can_be_covered_with_are_made_again_later() -> None:
    def play(asked: Asked) -> Any:
        return calls(TOOL, recording(item("x", "raw-2"))) if len(asked.messages) == 2 else says("", stop="error")

    shop = Workshop(sources(3), play, SMALL)
    run = await shop.run()
    assert (run.observed, shop.ledger.appended, len(run.failures)) == (0, [], 1)


async def test_a_model_that_takes_all_its_turns_covers_what_it_came_to() -> None:
    def play(asked: Asked) -> Any:
        turn = len(asked.messages) // 2
        return calls(TOOL, recording(item(f"turn {turn}", f"raw-{turn + 1}")))

    shop = Workshop(sources(9), play, ObserveConfig(observe_after_tokens=100, agent_max_turns=3))
    run = await shop.run()
    assert (run.observed, run.failures, run.empty) == (3, (), False)
    assert covered(shop.script) == "raw-4"


async def test_a_model_whose_every_proposal_is_refused_has_given_no_verdict() -> None:
    shop = Workshop(sources(3), once(item("x", "raw-7")), SMALL)
    run = await shop.run()
    assert (run.failures[0].code, shop.ledger.appended) == ("worker-refused", [])


async def test_a_model_cut_off_before_it_recorded_anything_has_given_none_either() -> None:
    shop = Workshop(sources(3), lambda _asked: says("Let me", stop="length"), SMALL)
    run = await shop.run()
    assert (run.failures[0].code, run.empty, shop.ledger.appended) == ("worker-cut", False, [])


def covered(script: BranchScript) -> str:
    index = script.index()
    return index.entries[index.observed_to].id


@pytest.mark.req("S4-settings-014", "S4-settings-015")
async def test_it_is_due_at_ten_thousand_unobserved_tokens_of_sources() -> None:
    script = sources(1, weight=9_999)
    script.custom("note", {"text": "x" * 20_000})
    shop = Workshop(script, lambda _asked: says())
    assert (await shop.run()).calls == {}
    script.weighing(1)
    assert (await shop.run()).calls == {Stage.OBSERVER: 1}


async def test_a_forced_run_asks_for_no_threshold() -> None:
    shop = Workshop(sources(1), lambda _asked: says())
    assert (await shop.run(forced=True)).empty
    assert (await shop.run(forced=True)).calls == {}


async def test_whoever_has_better_clocks_says_what_is_due() -> None:
    shop = Workshop(sources(1), lambda _asked: says())
    run = await shop.run(due=lambda _index, stage: stage is Stage.OBSERVER)
    assert run.calls == {Stage.OBSERVER: 1}


@pytest.mark.req("S4-settings-016")
async def test_a_request_holds_at_most_the_chunk_that_is_set() -> None:
    script = sources(5, weight=400)
    shop = Workshop(script, lambda _asked: says(), ObserveConfig(observer_chunk_max_tokens=1_000))
    await shop.run(forced=True)
    prompt = shop.model.asked[0].prompt
    assert [f"raw-{n}" for n in range(1, 6) if f"raw-{n}" in prompt] == ["raw-1", "raw-2"]


@pytest.mark.req("S4-settings-018", "S4-settings-019", "S4-settings-020")
async def test_without_a_setting_the_chunk_is_a_fifth_of_the_memory_model_s_window() -> None:
    assert chunk_cap(ObserveConfig(), 131_072) == 26_214
    assert chunk_cap(ObserveConfig(), None) == 60_000
    script = sources(100, weight=400)
    shop = Workshop(script, lambda _asked: says(), window=32_000)
    await shop.run(window=1_000_000)
    seen = LedgerIndex(script.entries)
    assert 6_400 - 420 <= seen.tokens_before(seen.observed_to + 1) <= 6_400


@pytest.mark.req("S4-settings-012")
async def test_instructions_memory_chunk_and_answer_fit_the_model_s_window() -> None:
    script = sources(2)
    notes = [item(f"note {n} " + "x" * 400, "raw-1", relevance="high") for n in range(150)]
    await Workshop(script, once(*notes), SMALL).run()
    script.weighing(20_000)
    for window, most in ((64_000, 8_192), (16_000, 8_192), (4_000, 32_000)):
        config = ObserveConfig(agent_max_tokens=most, observer_chunk_max_tokens=8_000, memory_max_tokens=12_000)
        shop = Workshop(script, lambda _asked: says("", stop="error"), config, window=window)
        await shop.run()
        (asked,) = shop.model.asked
        assert asked.max_tokens is not None
        assert 256 <= asked.max_tokens <= most
        assert tokens(asked.instructions) + tokens(asked.prompt) + asked.max_tokens <= window * 0.9
    config = ObserveConfig(agent_max_tokens=8_192, observer_chunk_max_tokens=8_000, memory_max_tokens=12_000)
    shop = Workshop(script, lambda _asked: says("", stop="error"), config, window=64_000)
    await shop.run()
    assert shop.model.asked[0].max_tokens == 8_192
    assert tokens(shop.model.asked[0].prompt) > 19_000


async def test_a_window_too_small_for_any_request_is_a_failure_that_says_so() -> None:
    shop = Workshop(sources(3), lambda _asked: says(), SMALL, window=900)
    run = await shop.run()
    assert (run.failures[0].code, shop.model.asked) == ("observe-budget", [])


@pytest.mark.req("S4-settings-040", "S4-settings-042")
async def test_by_default_a_model_has_sixteen_turns_of_thirty_two_thousand_tokens() -> None:
    shop = Workshop(
        sources(3),
        lambda _asked: calls(TOOL, recording(item("x", "raw-1"))),
        ObserveConfig(observe_after_tokens=100),
        max_tokens=64_000,
    )
    assert (await shop.run()).calls == {Stage.OBSERVER: 16}
    assert shop.model.asked[0].max_tokens == 32_000


async def test_sources_that_say_nothing_are_covered_without_asking() -> None:
    script = BranchScript()
    script.say("assistant")
    shop = Workshop(script, lambda _asked: says("", stop="error"))
    run = await shop.run(forced=True)
    assert (run.empty, run.failures, shop.model.asked) == (True, (), [])
    assert covered(script) == "raw-1"


async def test_rules_observe_where_no_model_is_wanted() -> None:
    script = BranchScript()
    script.user("Always run the linter before you commit. " * 12)
    shop = Workshop(script, lambda _asked: says(), ObserveConfig(observe_after_tokens=50, observer="extractive"))
    run = await shop.run()
    assert (run.observed, shop.model.asked, run.unavailable) == (1, [], False)
    assert (await shop.run(forced=True)).observed == 0


@pytest.mark.parametrize("observer", ["extractive", "model"])
async def test_the_zone_of_a_ledger_stays_that_of_its_first_record(observer: Any) -> None:
    def play(asked: Asked) -> Any:
        key = asked.prompt.split("[Source entry id: ")[1].split("]")[0]
        return calls(TOOL, recording(item(f"seen {key}", key))) if len(asked.messages) == 2 else says()

    script = BranchScript()
    shop = Workshop(script, play, ObserveConfig(observer=observer))
    for zone in ("+02:00", "+09:00"):
        script.user("Always run the linter before you commit, and never push to main.")
        await shop.run(due=lambda _index, stage: stage is Stage.OBSERVER, zone=zone)
    entries = shop.ledger.data("om.observations.recorded")
    assert [each["zone"] for each in entries] == ["+02:00", "+02:00"]
    assert entries[1]["observations"][0]["timestamp"] == "2026-01-02 11:02"


async def test_where_rules_observe_no_worker_asks_a_model() -> None:
    script = BranchScript()
    script.user("Always run the linter before you commit. " * 12)
    shop = Workshop(script, lambda _asked: says(), ObserveConfig(observer="extractive"))
    assert (await shop.run(forced=True)).observed == 1
    assert shop.model.asked == []
