from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.contracts import Entry
from hindbrain.observe import (
    Chunk,
    Kind,
    LedgerIndex,
    Observation,
    ObserveConfig,
    Observed,
    Relevance,
    append_of,
    chunk_cap,
    entry_tokens,
    is_source,
    next_chunk,
    recall,
    record_id,
    replay,
    tokens,
)
from hindbrain.observe.testing import BranchScript, planted, planted_observer

TURNS = 2_000
PLANTED = {
    "critical": [f"rule {n} must hold" for n in range(60)],
    "decision": [f"we decided on part {n}" for n in range(60)],
    "low": [f"ran step {n}" for n in range(200)],
}
KINDS = {"critical": Kind.USER, "decision": Kind.DECISION, "low": Kind.PROGRESS}
RELEVANCE = {"critical": Relevance.CRITICAL, "decision": Relevance.HIGH, "low": Relevance.LOW}


def long_session() -> BranchScript:
    """2,000 turns of about 500 tokens, with facts planted here and there and one that changes its mind."""
    chance = random.Random(6)  # noqa: S311  (the same session every time)
    facts: dict[int, list[str]] = {}
    for group, texts in PLANTED.items():
        for text in texts:
            facts.setdefault(chance.randrange(TURNS), []).append(planted(text, RELEVANCE[group], KINDS[group]))
    for n, turn in enumerate((10, 900, 1_700)):
        value = "port is 8080" if n != 1 else "port is 9090"
        facts.setdefault(turn, []).append(planted(value, Relevance.CRITICAL, Kind.DECISION))
    script = BranchScript()
    for turn in range(TURNS):
        script.user("\n".join([f"request {turn}", *facts.get(turn, [])]))
        script.assistant("x" * 800)
        script.say("toolResult", "y" * 1_100, tool_name="bash")
    return script


@pytest.fixture(scope="module")
def script() -> BranchScript:
    return long_session()


@pytest.mark.req("S4-budget-001", "S4-budget-002", "S4-lifecycle-005")
def test_in_2000_turns_nothing_that_was_planted_is_lost(script: BranchScript) -> None:
    done = replay(script.entries, planted_observer, ObserveConfig(), window=200_000)
    assert len(done.compactions) >= 10
    known = [text for texts in PLANTED.values() for text in texts]
    lost = [text for text in known if not recall(done.index, record_id(text)).sources]
    assert lost == []
    must = [*PLANTED["critical"], *PLANTED["decision"], "port is 8080"]
    visible = [text for text in must if f" {text}\n" in done.summary]
    assert len(visible) >= 0.99 * len(must)
    lines = done.summary.splitlines()
    ports = [line.rpartition("] ")[2] for line in lines if "port is" in line]
    assert ports[-1] == "port is 8080"
    for one in done.compactions:
        budget = one.compaction.budget
        used = tokens(one.compaction.summary)
        assert used <= budget.render
        spent = one.compaction.details.budget
        assert spent is not None
        assert spent.tail_tokens + 6_000 + used <= budget.soft_limit
    cuts = [done.index.place_of(one.first_kept) for one in done.compactions]
    assert cuts == sorted(set(cuts))


def test_no_source_is_left_out_of_sight_of_the_observer(script: BranchScript) -> None:
    seen: list[str] = []

    def watching(index: LedgerIndex, chunk: Chunk) -> tuple[Observation, ...]:
        seen.extend(chunk.source_ids)
        return planted_observer(index, chunk)

    done = replay(script.entries, watching, ObserveConfig(), window=200_000)
    assert seen == [entry.id for entry in script.entries]
    assert done.source_tokens == sum(map(entry_tokens, script.entries))
    assert done.index.tokens_from(done.index.observed_to + 1) == 0


def test_a_replay_makes_its_own_ledger_and_compactions() -> None:
    script = BranchScript()
    script.user(planted("one"))
    script.custom("om.gate", {"enabled": False})
    script.compaction("raw-1")
    done = replay(script.entries, planted_observer, ObserveConfig())
    assert [each.content for each in done.index.fold.observations.values()] == ["one"]
    assert (done.compactions, done.workers.runs, done.workers.empty_runs) == ((), 1, 0)
    assert done.rendered_tokens == tokens(done.summary) > 0
    assert replay([], planted_observer, ObserveConfig()).summary == ""


def test_a_cut_never_lands_on_a_tools_result() -> None:
    script = BranchScript()
    script.user(planted("one"))
    script.assistant("x" * 20_000)
    script.say("toolResult", "y" * 24_000, tool_name="bash")
    kept = script.assistant("z" * 400)
    script.user("next")
    config = ObserveConfig(compact_after_tokens=10_000, observe_after_tokens=100)
    (one,) = replay(script.entries, planted_observer, config, keep=500).compactions
    assert (one.first_kept, one.at) == (kept, "om.folded.2")


def test_progress_is_told_entry_by_entry() -> None:
    script = BranchScript()
    for _ in range(3):
        script.user("x")
    told: list[tuple[int, int]] = []
    replay(script.entries, planted_observer, ObserveConfig(), progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.floats(0, 0.9))
def test_a_backlog_drains_in_as_many_runs_as_it_has_chunks_and_failures(seed: int, failing: float) -> None:
    """An observer that fails leaves coverage where it was; one that finds nothing moves it: neither blocks for ever."""
    chance = random.Random(seed)  # noqa: S311  (hypothesis chose it)
    script = BranchScript()
    for _ in range(chance.randrange(1, 40)):
        script.weighing(chance.randrange(1, 600))
    index, cap = script.index(), chunk_cap(ObserveConfig(observer_chunk_max_tokens=512), None)
    least = -(-index.tokens_from(0) // cap)
    runs = failures = 0
    while (chunk := next_chunk(index, cap)) is not None:
        runs += 1
        if chance.random() < failing:
            failures += 1
            continue
        made = append_of(Observed(observations=(), covers=chunk.covers))
        assert made is not None
        script.custom(made.custom_type, made.data)
        index.feed(script.entries[-1:])
    assert (
        runs - failures
        <= 2 * least + sum(is_source(entry) and entry_tokens(entry) > cap // 2 for entry in script.entries) + 1
    )
    assert index.tokens_from(index.observed_to + 1) == 0


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "toolResult"]), st.integers(1, 4_000)), max_size=60))
def test_no_two_compactions_without_new_sources_and_every_cut_moves_on(steps: list[tuple[str, int]]) -> None:
    script = BranchScript()
    for n, (role, weight) in enumerate(steps):
        script.say(role, planted(f"fact {n}") + " " + "x" * weight * 4)
    config = ObserveConfig(compact_after_tokens=8_000, observe_after_tokens=1_000, memory_max_tokens=1_000)
    done = replay(script.entries, planted_observer, config)
    cuts = [done.index.place_of(one.first_kept) for one in done.compactions]
    assert cuts == sorted(set(cuts))
    assert len({one.at for one in done.compactions}) == len(done.compactions)
    kept: list[Entry] = [done.index.entries[cut] for cut in cuts]
    assert all(each.message is not None and each.message.role != "toolResult" for each in kept)
    for one in done.compactions:
        assert tokens(one.compaction.summary) <= 1_000
