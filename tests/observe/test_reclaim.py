from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.observe import (
    Dropped,
    Kind,
    LedgerIndex,
    Observation,
    ObserveConfig,
    Observed,
    Reflected,
    Reflection,
    Relevance,
    least_valuable,
    make_observation,
    make_reflection,
    reclaim,
)
from hindbrain.observe.testing import START, BranchScript

CONFIG = ObserveConfig()
WINDOW = 128_000  # a cap of 12,800 tokens


def seen(
    n: int, cost: int = 50, relevance: Relevance = Relevance.LOW, kind: Kind = Kind.FACT, at: int | None = None
) -> Observation:
    """An observation whose line weighs exactly ``cost`` tokens."""
    start = make_observation(f"{n} ", at=START, sources=["raw-1"], relevance=relevance, kind=kind)
    text = f"{n} " + "x" * (cost * 4 - len(start.line) - 2)
    made = make_observation(text, at=START + n if at is None else at, sources=["raw-1"], relevance=relevance, kind=kind)
    assert made.cost == cost
    return made


def held(n: int, cost: int) -> Reflection:
    made = make_reflection(f"{n} " + "y" * (cost * 4 - 18), supports=["a"])
    assert abs(made.cost - cost) <= 1
    return made


def holding(
    records: list[Observation], reflections: list[Reflection] | None = None
) -> tuple[BranchScript, LedgerIndex]:
    script = BranchScript()
    script.user("x")
    script.append(Observed(observations=tuple(records), covers="raw-1"))
    if reflections:
        script.append(Reflected(reflections=tuple(reflections), covers="raw-1"))
    return script, script.index()


@pytest.mark.req("S4-enforcer-001", "S4-enforcer-007", "S4-enforcer-002")
def test_a_reclaim_begins_above_one_and_a_half_times_the_cap() -> None:
    _, index = holding([seen(n) for n in range(384)])
    assert index.fold.observation_tokens == 19_200
    assert reclaim(index, CONFIG, WINDOW) == ()
    _, index = holding([*(seen(n) for n in range(383)), seen(999, 51)])
    assert index.fold.observation_tokens == 19_201
    assert reclaim(index, CONFIG, WINDOW) != ()


@pytest.mark.req("S4-enforcer-003")
def test_critical_observations_are_never_reclaimed() -> None:
    _, index = holding([seen(n, relevance=Relevance.CRITICAL) for n in range(600)])
    assert reclaim(index, CONFIG, WINDOW) == ()


@pytest.mark.req("S4-enforcer-004", "S4-enforcer-006", "S4-settings-032")
def test_it_goes_on_to_the_target_in_one_entry_and_then_rests() -> None:
    script, index = holding([seen(n) for n in range(500)])
    gone = reclaim(index, CONFIG, WINDOW)
    assert len(gone) == 300
    script.append(Dropped(ids=gone, covers="raw-1"))
    assert json.loads(script.entries[-1].data or "")["observationIds"] == list(gone)
    after = script.index()
    assert after.fold.observation_tokens == 10_000
    assert reclaim(after, CONFIG, WINDOW) == ()


@pytest.mark.req("S4-enforcer-005", "S4-reflections-001")
def test_what_reflections_take_of_the_cap_is_left_to_them() -> None:
    script, index = holding([seen(n) for n in range(400)], [held(n, 600) for n in range(10)])
    assert index.fold.reflection_tokens == 6_000
    script.append(Dropped(ids=reclaim(index, CONFIG, WINDOW), covers="raw-1"))
    after = script.index()
    assert 6_750 <= after.fold.observation_tokens <= 6_800
    assert len(after.fold.active_reflections) == 10


@pytest.mark.req("S4-enforcer-008", "S4-enforcer-009", "S4-enforcer-010")
def test_progress_goes_before_facts_and_both_before_what_the_user_said_or_decided() -> None:
    kinds = [Kind.USER, Kind.PROGRESS, Kind.DECISION, Kind.FACT]
    order = [each.kind for each in least_valuable([seen(n, kind=kind) for n, kind in enumerate(kinds)], [])]
    assert order == [Kind.PROGRESS, Kind.FACT, Kind.USER, Kind.DECISION]
    said, done = seen(1, kind=Kind.USER), seen(2, relevance=Relevance.HIGH, kind=Kind.PROGRESS)
    covered = [make_reflection("a", supports=[said.id]), make_reflection("b", supports=[said.id])]
    assert least_valuable([said, done], covered) == [done, said]
    _, index = holding([seen(4 * n + place, kind=kind) for n in range(150) for place, kind in enumerate(kinds)])
    gone = {index.fold.observations[each].kind for each in reclaim(index, CONFIG, WINDOW)}
    left = 600 - len(reclaim(index, CONFIG, WINDOW))
    assert (gone, left) == ({Kind.PROGRESS, Kind.FACT, Kind.USER}, 200)


@pytest.mark.req("S4-dropper-001")
def test_then_the_better_covered_the_less_relevant_and_the_older() -> None:
    strong, partial, none = seen(1), seen(2), seen(3)
    rests = [make_reflection("a", supports=[strong.id, partial.id]), make_reflection("b", supports=[strong.id])]
    assert least_valuable([none, partial, strong], rests) == [strong, partial, none]
    by_relevance = [seen(n, relevance=relevance) for n, relevance in enumerate(reversed(Relevance))]
    assert [each.relevance for each in least_valuable(by_relevance, [])] == list(Relevance)
    old, new = seen(5, at=START), seen(4, at=START + 60_000)
    assert least_valuable([new, old], []) == [old, new]


@given(st.lists(st.tuples(st.integers(30, 400), st.sampled_from(Relevance), st.sampled_from(Kind)), max_size=60))
def test_after_a_reclaim_the_pool_is_at_its_target_or_all_critical(rows: list[tuple[int, Relevance, Kind]]) -> None:
    config = ObserveConfig(memory_max_tokens=2_000, observations_pool_max_tokens=2_000)
    script, index = holding([seen(n, *row) for n, row in enumerate([*rows, (40, Relevance.LOW, Kind.FACT)])])
    gone = reclaim(index, config)
    if not gone:
        return
    script.append(Dropped(ids=gone, covers="raw-1"))
    after = script.index().fold
    left = [each for each in after.active_observations.values() if each.relevance is not Relevance.CRITICAL]
    assert after.observation_tokens <= config.pool_target or not left
    assert reclaim(script.index(), config) == ()
