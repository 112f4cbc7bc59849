from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.observe import (
    BudgetError,
    Kind,
    Moment,
    Observation,
    ObserveConfig,
    Projection,
    Reflection,
    Relevance,
    make_observation,
    make_reflection,
    memory_cap,
    render_budget,
    select,
)

DEFAULTS = ObserveConfig()
LARGE = Moment(window=272_000, reserve=16_384, system=6_000)
SMALL = Moment(window=24_000, reserve=16_000, tail=1_000, system=6_000)


def render(moment: Moment, config: ObserveConfig = DEFAULTS) -> int:
    return render_budget(config, moment).render


@pytest.mark.req("S4-settings-035")
def test_the_reference_values() -> None:
    assert render_budget(DEFAULTS, evolve(LARGE, reserve=None)).cap == 27_200
    assert render(evolve(LARGE, tail=44_000)) == 15_500
    assert render(evolve(LARGE, tail=20_000)) == 27_200
    limited = render_budget(DEFAULTS, Moment(window=50_000, reserve=16_384))
    assert (limited.soft_limit, limited.cap) == (33_616, 5_000)
    unknown = render_budget(DEFAULTS, Moment())
    assert (unknown.soft_limit, unknown.render) == (81_000, 37_500)
    small = render_budget(DEFAULTS, SMALL)
    assert (small.soft_limit, small.available, small.render) == (8_000, 1_000, 1_000)
    assert render(evolve(SMALL, window=23_000)) == 0
    assert render(Moment(window=8_192, tail=6_000, system=1_000)) == 1_192
    assert [memory_cap(DEFAULTS, window) for window in (128_000, 200_000, 405_000, 1_000_000)] == [
        12_800,
        20_000,
        40_500,
        40_500,
    ]


@pytest.mark.req("S4-budget-004", "S4-budget-033", "S4-budget-009")
def test_the_limit_is_the_trigger_or_what_the_window_leaves() -> None:
    def limit(window: int | None, reserve: int | None) -> int:
        return render_budget(DEFAULTS, Moment(window=window, reserve=reserve)).soft_limit

    assert [limit(50_000, 16_384), limit(272_000, 16_384), limit(None, 16_384)] == [33_616, 81_000, 81_000]
    assert [limit(80_000, None), limit(80_000, 0), limit(80_000, 16_384)] == [80_000, 80_000, 63_616]


@pytest.mark.req("S4-budget-005", "S4-budget-006", "S4-budget-007", "S4-budget-008")
def test_the_render_is_half_of_what_is_available_between_its_bounds() -> None:
    assert render_budget(DEFAULTS, evolve(LARGE, tail=44_000)).available == 31_000
    assert [render(evolve(LARGE, tail=tail)) for tail in (44_000, 20_000, 69_000)] == [15_500, 27_200, 4_000]
    assert [render(SMALL), render(evolve(SMALL, window=23_000))] == [1_000, 0]


@pytest.mark.req("S4-budget-003", "S4-budget-011")
def test_a_larger_tail_leaves_less_to_memory() -> None:
    assert [render(evolve(LARGE, tail=tail)) for tail in (20_000, 44_000)] == [27_200, 15_500]


@pytest.mark.req("S4-budget-012", "S4-budget-013")
def test_an_overflow_halves_the_render_even_below_its_floor() -> None:
    assert render(evolve(LARGE, tail=44_000, overflow=True)) == 7_750
    assert render(evolve(LARGE, tail=69_000, overflow=True)) == 2_000


@pytest.mark.req("S4-budget-014", "S4-budget-015", "S4-settings-037")
def test_a_cap_that_is_set_replaces_the_derived_one_also_below_the_floor() -> None:
    moment = evolve(LARGE, tail=20_000)
    assert [render(moment, ObserveConfig(memory_max_tokens=cap)) for cap in (12_000, 2_500)] == [12_000, 2_500]
    assert memory_cap(ObserveConfig(memory_max_tokens=2_500), 272_000) == 2_500


@pytest.mark.req("S4-budget-034", "S4-settings-036")
def test_the_derived_cap_follows_the_trigger_that_is_in_effect() -> None:
    config = ObserveConfig(compact_after_tokens_mode="ratio", compact_after_tokens_ratio=0.05)
    assert memory_cap(config, 128_000) == 4_000
    assert render_budget(config, Moment(window=128_000)).cap == 4_000


def test_a_negative_quantity_is_refused() -> None:
    with pytest.raises(BudgetError):
        Moment(tail=-1)
    with pytest.raises(BudgetError):
        Moment(system=-1)


sizes = st.integers(0, 2_000_000)


@given(st.none() | st.integers(-5, 2_000_000), st.none() | sizes, sizes, st.none() | sizes, st.booleans())
def test_memory_never_takes_more_than_there_is(
    window: int | None, reserve: int | None, tail: int, system: int | None, overflow: bool
) -> None:
    moment = Moment(window=window, reserve=reserve, tail=tail, system=system, overflow=overflow)
    budget = render_budget(DEFAULTS, moment)
    assert 0 <= budget.render <= min(budget.available, budget.cap)
    if window is not None and window > 0 and budget.render:
        assert tail + (6_000 if system is None else system) + budget.render <= max(0, window - (reserve or 0))


def seen(
    text: str, relevance: Relevance = Relevance.MEDIUM, kind: Kind = Kind.FACT, at: int | None = 0, cost: int = 50
) -> Observation:
    record = make_observation(text, at=at, sources=["raw-1"], relevance=relevance, kind=kind)
    object.__setattr__(record, "cost", cost)
    return record


def held(text: str, *supports: str, cost: int = 50) -> Reflection:
    record = make_reflection(text, supports=supports or ("none",))
    object.__setattr__(record, "cost", cost)
    return record


def kept(observations: list[Observation], room: int, reflections: list[Reflection] | None = None) -> list[str]:
    projection = Projection(observations=tuple(observations), reflections=tuple(reflections or ()))
    return [each.content for each in select(projection, room=room, target=50 if reflections else 10_000).observations]


@pytest.mark.req("S4-budget-026")
def test_what_fits_is_kept_whole() -> None:
    records = [seen(f"o{n}") for n in range(40)]
    thoughts = [held(f"r{n}") for n in range(20)]
    chosen = select(Projection(observations=tuple(records), reflections=tuple(thoughts)), room=3_000, target=10)
    assert (chosen.observations, chosen.reflections) == (tuple(records), tuple(thoughts))
    assert (chosen.trimmed_observations, chosen.trimmed_reflections, chosen.tokens) == (0, 0, 3_000)


@pytest.mark.req("S4-budget-017", "S4-reflections-015")
def test_an_observation_without_coverage_is_kept_before_a_covered_one() -> None:
    older, newer = seen("older", at=0), seen("newer", at=9)
    assert kept([older, newer], 100, [held("r", newer.id)]) == ["older"]
    assert kept([older, newer], 100, [held("r", older.id)]) == ["newer"]


@pytest.mark.req("S4-budget-018", "S4-budget-019")
def test_then_the_more_relevant_and_then_the_newest() -> None:
    assert kept([seen("critical", Relevance.CRITICAL), seen("low", Relevance.LOW, at=9)], 50) == ["critical"]
    assert kept([seen("new", at=9), seen("old", at=1)], 50) == ["new"]
    assert kept([seen("timed", at=9), seen("first"), seen("second")], 100) == ["timed", "second"]


@pytest.mark.req("S4-budget-020")
def test_decisions_and_the_users_word_are_kept_before_facts_and_progress() -> None:
    four = [seen(kind.value, Relevance.MEDIUM, kind) for kind in (Kind.PROGRESS, Kind.USER, Kind.FACT, Kind.DECISION)]
    assert [kept(four, room) for room in (100, 150)] == [["user", "decision"], ["user", "fact", "decision"]]


@pytest.mark.req("S4-budget-021", "S4-budget-022", "S4-budget-035")
def test_the_first_eight_reflections_are_anchors_and_then_the_newest_are_kept() -> None:
    def reflections(count: int, room: int) -> list[str]:
        projection = Projection(reflections=tuple(held(f"r{n}") for n in range(1, count + 1)))
        return [each.content for each in select(projection, room=room, target=10_000).reflections]

    anchors = [f"r{n}" for n in range(1, 9)]
    assert reflections(20, 500) == [*anchors, "r19", "r20"]
    assert reflections(12, 550) == [*anchors, "r10", "r11", "r12"]


@pytest.mark.req("S4-budget-025")
def test_a_line_that_does_not_fit_is_skipped_and_the_selection_goes_on() -> None:
    lines = [seen("60", at=3, cost=60), seen("80", at=2, cost=80), seen("30", at=1, cost=30)]
    assert kept(lines, 100) == ["60", "30"]


@pytest.mark.req("S4-settings-033")
def test_what_one_layer_leaves_the_other_may_use() -> None:
    records, thoughts = [seen(f"o{n}") for n in range(4)], [held(f"r{n}") for n in range(9)]
    projection = Projection(observations=tuple(records), reflections=tuple(thoughts))
    few = select(projection, room=600, target=50)
    assert (len(few.observations), len(few.reflections)) == (3, 9)
    many = select(projection, room=600, target=10_000)
    assert (len(many.observations), len(many.reflections)) == (4, 8)
    assert many.reflection_room == 400


costs = st.lists(st.integers(1, 400), max_size=40)


@given(costs, costs, st.integers(-10, 6_000), st.integers(1, 4_000))
def test_a_selection_is_never_larger_than_its_room_and_keeps_ledger_order(
    observed: list[int], thought: list[int], room: int, target: int
) -> None:
    records = tuple(seen(f"o{n}", at=n % 7, cost=cost) for n, cost in enumerate(observed))
    thoughts = tuple(held(f"r{n}", *(each.id for each in records[n : n + 2]), cost=c) for n, c in enumerate(thought))
    projection = Projection(observations=records, reflections=thoughts)
    chosen = select(projection, room=room, target=target)
    assert chosen.tokens <= max(0, room)
    assert [each for each in records if each in chosen.observations] == list(chosen.observations)
    assert [each for each in thoughts if each in chosen.reflections] == list(chosen.reflections)
    assert len(chosen.observations) + chosen.trimmed_observations == len(records)
    assert len(chosen.reflections) + chosen.trimmed_reflections == len(thoughts)
    smallest = min((each.cost for each in records if each not in chosen.observations), default=room + 1)
    assert smallest > room - chosen.tokens or chosen.trimmed == 0
    assert select(projection, room=room, target=target) == chosen
