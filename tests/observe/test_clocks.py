from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Entry, ImagePart, Message, TextPart, ThinkingPart, ToolCallPart
from hindbrain.observe import (
    BudgetError,
    Folded,
    Kind,
    LedgerIndex,
    ObserveConfig,
    Observed,
    Reflected,
    Relevance,
    clocks,
    compact_due,
    compact_threshold,
    entry_tokens,
    make_observation,
    make_reflection,
    observe_due,
    reflect_due,
    tokens,
)
from hindbrain.observe.testing import BranchScript

RATIO = ObserveConfig(compact_after_tokens_mode="ratio", compact_after_tokens_ratio=0.5)


def entry(role: str, *parts: Any) -> Entry:
    return Entry(id="e", parent_id=None, kind="message", message=Message(role=role, parts=parts))


def covered(script: BranchScript, marker: str) -> None:
    record = make_observation("x", at=0, sources=["raw-1"], relevance=Relevance.LOW, kind=Kind.FACT)
    script.append(Observed(observations=(record,), covers=marker))


def test_four_units_are_a_token_and_an_emoji_is_two_units() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde", "🚀🚀", "🚀🚀🚀", "é" * 5)] == [0, 1, 1, 2, 1, 2, 2]


def test_an_entry_weighs_what_the_model_reads_of_it() -> None:
    words, thought = TextPart("x" * 10), ThinkingPart("y" * 10)
    call = ToolCallPart("1", "read", {"path": "a ü"})  # read{"path":"a ü"}: 18 units
    image = ImagePart("image/png")
    assert entry_tokens(entry("user", words, image)) == 3
    assert entry_tokens(entry("assistant", words, thought, call)) == (10 + 10 + 18 + 3) // 4
    assert entry_tokens(entry("toolResult", words, image)) == (4_810 + 3) // 4
    assert entry_tokens(entry("bashExecution", TextPart("$ ls\na.py"))) == 3
    summary = Entry(id="e", parent_id=None, kind="branch_summary", summary="z" * 9)
    custom = Entry(id="e", parent_id=None, kind="custom_message", message=Message(role="custom", parts=(words, words)))
    assert (entry_tokens(summary), entry_tokens(custom)) == (3, 6)


def test_what_is_not_in_the_conversation_weighs_nothing() -> None:
    assert entry_tokens(entry("system", TextPart("x" * 400))) == 0
    for kind in ("custom", "compaction", "model_change"):
        assert entry_tokens(Entry(id="e", parent_id=None, kind=kind, summary="x" * 400, data="x" * 400)) == 0
    assert entry_tokens(Entry(id="e", parent_id=None, kind="message", message=None)) == 0


@pytest.mark.req("S4-thresholds-001")
def test_a_calibrated_threshold_is_the_same_for_every_window() -> None:
    assert {compact_threshold(ObserveConfig(), window) for window in (128_000, 1_000_000, None)} == {81_000}


@pytest.mark.req(
    "S4-thresholds-003", "S4-thresholds-004", "S4-thresholds-006", "S4-thresholds-007", "S4-thresholds-011"
)
def test_in_ratio_mode_it_is_a_share_of_the_window() -> None:
    def threshold(ratio: float, window: int) -> int:
        config = ObserveConfig(compact_after_tokens_mode="ratio", compact_after_tokens_ratio=ratio)
        return compact_threshold(config, window)

    assert threshold(0.68, 131_071) == 89_128
    assert threshold(0.01, 50) == 1
    assert [threshold(0.5, window) for window in (200_000, 400_000, 1_000_000)] == [100_000, 200_000, 500_000]
    assert (threshold(0.4, 1_000_000), threshold(0.7, 1_000_000)) == (400_000, 700_000)


@pytest.mark.req("S4-thresholds-008", "S4-thresholds-009")
def test_in_ratio_mode_an_unknown_window_falls_back() -> None:
    config = ObserveConfig(compact_after_tokens_mode="ratio", compact_after_tokens=70_000)
    assert {compact_threshold(config, window) for window in (None, 0, -1)} == {70_000}


@pytest.mark.req("S4-thresholds-005", "S4-thresholds-010")
def test_a_compaction_is_due_at_the_threshold_of_the_model_that_is_active() -> None:
    script = BranchScript()
    script.weighing(99_999)
    assert not compact_due(script.index(), RATIO, 200_000)
    script.weighing(1)
    assert compact_due(script.index(), RATIO, 200_000)
    assert not compact_due(script.index(), RATIO, 1_000_000)
    script.weighing(400_000)
    assert compact_due(script.index(), RATIO, 1_000_000)


@pytest.mark.req("S4-thresholds-017", "S4-thresholds-019")
def test_the_compact_clock_counts_what_the_last_compaction_kept_and_all_after() -> None:
    script = BranchScript()
    script.weighing(50_000)
    script.weighing(20_000)
    script.compaction("raw-2", summary="x" * 40_000)
    script.weighing(5_000)
    assert clocks(script.index()).compact == 25_000
    script.compaction("gone")
    script.weighing(7)
    assert clocks(script.index()).compact == 7


@pytest.mark.req("S4-thresholds-018", "S4-thresholds-012")
def test_only_sources_count() -> None:
    script = BranchScript()
    script.say("system", "x" * 80_000)
    script.weighing(1_000)
    script.custom("om.observations.recorded", {"x": "y" * 50_000})
    assert clocks(script.index()).compact == 1_000


def test_observation_and_reflection_are_due_on_clocks_of_their_own() -> None:
    config = ObserveConfig()
    script = BranchScript()
    script.weighing(9_000)
    assert not observe_due(script.index(), config)
    script.weighing(2_000)
    assert observe_due(script.index(), config)
    assert not reflect_due(script.index(), config)  # nothing is observed yet
    covered(script, "raw-2")
    assert not observe_due(script.index(), config)
    script.weighing(10_000)
    assert reflect_due(script.index(), config)
    script.append(Reflected(reflections=(make_reflection("x", supports=["a"]),), covers="raw-2"))
    assert not reflect_due(script.index(), config)
    script.custom("om.gate", {"enabled": False})
    script.weighing(100_000)
    index = script.index()
    due = [each(index, config) for each in (observe_due, reflect_due, compact_due)]
    assert due == [False, False, False]


def test_a_compaction_that_cannot_shrink_anything_is_not_due() -> None:
    config = ObserveConfig(compact_after_tokens=10_000)
    script = BranchScript()
    script.weighing(10_000)
    script.weighing(20_000)
    script.compaction("raw-2", Folded(full_fold=False, observations=(), reflections=()))
    assert clocks(script.index()).compact == 20_000
    assert not compact_due(script.index(), config)
    script.weighing(2_499)
    assert not compact_due(script.index(), config)
    script.weighing(1)
    assert compact_due(script.index(), config)


@pytest.mark.req("S4-thresholds-016")
@given(st.lists(st.one_of(st.integers(1, 5_000), st.sampled_from(["observe", "compact"])), max_size=30))
def test_the_clocks_are_the_sums_of_the_entries_after_their_marks(steps: list[int | str]) -> None:
    script = BranchScript()
    script.weighing(1)
    observed = kept = 0
    for step in steps:
        if isinstance(step, int):
            script.weighing(step)
        elif step == "observe":
            observed = script.sources
            covered(script, f"raw-{observed}")
        else:
            kept = script.sources - 1
            script.compaction(f"raw-{kept + 1}")
    weights = [entry_tokens(each) for each in script.entries if each.kind == "message"]
    now = clocks(script.index())
    assert (now.observe, now.compact) == (sum(weights[observed:]), sum(weights[kept:]))
    assert now == clocks(LedgerIndex(script.entries))
    due = compact_due(script.index(), ObserveConfig(compact_after_tokens=5_000))
    assert not due or now.compact >= 5_000


def answered(script: BranchScript, counted: int | None, tokens: int = 0, stop: str = "stop") -> str:
    """An answer of so many estimated tokens, whose provider counted this context."""
    return script.say("assistant", "x" * tokens * 4, context_tokens=counted, stop_reason=stop)


def calibrated(script: BranchScript, context: int | None) -> tuple[int, int]:
    now = clocks(script.index(), context)
    return now.observe_calibrated, now.reflect_calibrated


def test_without_a_count_the_calibrated_clocks_are_the_estimates() -> None:
    script = BranchScript()
    script.weighing(1_000)
    answered(script, None, 500)
    assert calibrated(script, 50_000) == calibrated(script, None) == calibrated(script, 0) == (1_500, 1_500)
    answered(script, 9_000)
    assert calibrated(script, None) == (1_500, 1_500)


def test_growth_that_a_provider_counted_takes_the_place_of_the_estimate() -> None:
    script = BranchScript()
    script.weighing(1_000)
    answered(script, 9_000, 500)
    script.weighing(2_000)
    assert calibrated(script, 9_900) == (1_500 + 900, 1_500 + 900)
    covered(script, "raw-1")
    assert calibrated(script, 9_900) == (500 + 900, 1_500 + 900)
    covered(script, "raw-2")
    assert calibrated(script, 9_900) == (900, 1_500 + 900)
    answered(script, 9_950, 40)
    assert calibrated(script, 10_000) == (1_000, 1_500 + 1_000)
    assert (clocks(script.index(), 10_000).observe, clocks(script.index(), 10_000).reflect) == (2_040, 3_540)


def test_what_was_observed_after_the_last_counted_answer_is_taken_off() -> None:
    script = BranchScript()
    answered(script, 9_000)
    script.weighing(700)
    covered(script, "raw-2")
    script.weighing(100)
    assert calibrated(script, 9_950) == (250, 950)
    assert calibrated(script, 9_100) == (0, 100)


def test_an_answer_that_failed_measures_nothing_and_neither_does_a_tool() -> None:
    script = BranchScript()
    answered(script, 5_000, 100, stop="error")
    answered(script, 6_000, 100, stop="aborted")
    script.say("toolResult", "x" * 400, context_tokens=7_000)
    assert calibrated(script, 8_000) == (300, 300)
    answered(script, 8_000, 100)
    assert calibrated(script, 8_001) == (401, 401)


def test_a_compaction_begins_another_context() -> None:
    script = BranchScript()
    answered(script, 90_000, 100)
    covered(script, "raw-1")
    script.weighing(4_000)
    script.compaction("raw-2")
    script.weighing(30)
    assert calibrated(script, 95_000) == (4_030, 4_130 - 100 + 100)
    answered(script, 12_000, 10)
    answered(script, 12_700, 10)
    assert calibrated(script, 12_900) == (4_040 + 900, 4_140 + 900)
    assert calibrated(script, 11_999)[0] == 4_050


def test_the_trigger_of_a_worker_is_the_calibrated_clock_and_never_fires_over_nothing() -> None:
    config = ObserveConfig(observe_after_tokens=1_000, reflect_after_tokens=2_000)
    script = BranchScript()
    answered(script, 10_000)
    script.weighing(600)
    index = script.index()
    assert [observe_due(index, config, context) for context in (None, 10_999, 11_000)] == [False, False, True]
    covered(script, "raw-2")
    assert not observe_due(script.index(), config, 40_000)
    index = script.index()
    assert [reflect_due(index, config, context) for context in (None, 11_999, 12_000)] == [False, False, True]
    script.weighing(5_000)
    assert observe_due(script.index(), config)
    assert not observe_due(script.index(), config, 11_500)


@given(st.lists(st.tuples(st.sampled_from("uasoc"), st.integers(1, 900)), max_size=25), st.integers(1, 40_000))
def test_one_who_counts_as_we_do_changes_no_clock(steps: list[tuple[str, int]], system: int) -> None:
    script, context, marks = BranchScript(), system, 0
    for step, tokens_ in steps:
        if step == "u":
            script.weighing(tokens_)
            context += tokens_
        elif step in "as":
            context += tokens_
            answered(script, context if step == "a" else None, tokens_)
        elif script.sources and step == "o":
            marks = max(marks, script.sources - tokens_ % 3)
            covered(script, f"raw-{marks}")
        elif script.sources:
            script.compaction(f"raw-{script.sources}", summary="x" * 4 * tokens_)
            context = system + tokens_ + entry_tokens(script.index().entries[script.index().kept_from])
    now = clocks(script.index(), context)
    assert (now.observe_calibrated, now.reflect_calibrated) == (now.observe, now.reflect)


@pytest.mark.parametrize("name", ["observe_after_tokens", "observations_pool_max_tokens", "memory_max_tokens"])
def test_a_setting_that_is_no_count_is_refused(name: str) -> None:
    for value in (0, -1, True, 1.5):
        with pytest.raises(BudgetError) as caught:
            ObserveConfig(**{name: value})  # type: ignore[arg-type]  # what the border must keep out
        assert caught.value.field == name
    with pytest.raises(BudgetError):
        ObserveConfig(compact_after_tokens_ratio=1.0)


def test_a_target_that_is_not_below_the_maximum_is_half_of_it() -> None:
    assert ObserveConfig(observations_pool_max_tokens=9, observations_pool_target_tokens=9).pool_target == 4
    assert ObserveConfig(observations_pool_target_tokens=7).pool_target == 7
    assert ObserveConfig(observations_pool_max_tokens=1).pool_target == 1
