from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import cells
from hindbrain.observe import (
    Activity,
    Compaction,
    Dropped,
    Kind,
    LedgerIndex,
    Moment,
    Observation,
    ObserveConfig,
    Observed,
    Reflected,
    Relevance,
    Stage,
    Superseded,
    compact,
    make_observation,
    make_reflection,
    status,
    status_lines,
    timeline,
    view,
)
from hindbrain.observe.testing import START, BranchScript


def seen(text: str, *sources: str) -> Observation:
    return make_observation(text, at=START, sources=sources or ("raw-1",), relevance=Relevance.LOW, kind=Kind.FACT)


def hundred_thousand() -> BranchScript:
    script = BranchScript()
    for _ in range(10):
        script.weighing(10_000)
    return script


def shown(index: LedgerIndex, config: ObserveConfig | None = None, window: int | None = 128_000) -> str:
    return "\n".join(status_lines(index, config or ObserveConfig(), window))


@pytest.mark.req("S4-timeline-002", "S4-timeline-003", "S4-timeline-004", "S4-timeline-005", "S4-timeline-006")
def test_the_strip_shows_what_was_compacted_what_is_observed_and_what_waits() -> None:
    script = hundred_thousand()
    script.append(Observed(observations=(seen("x"),), covers="raw-7"))
    script.compaction("raw-5")
    assert timeline(script.index(), 12) == "▓▓▓▓┊▒▒▒░░░▶"
    assert timeline(hundred_thousand().index(), 12) == "░" * 11 + "▶"
    assert timeline(LedgerIndex(), 12) == "▶"


@pytest.mark.req("S4-timeline-001", "S4-status-014")
def test_the_timeline_is_last_and_explained() -> None:
    lines = status_lines(hundred_thousand().index(), ObserveConfig())
    assert lines[-2] == "▓ compacted   ▒ memory pool   ░ raw backlog   ┊ cut   ▶ tip"
    assert lines[-1].endswith("▶")


@pytest.mark.req("S4-timeline-007")
@given(st.integers(1, 200), st.lists(st.integers(1, 300_000), max_size=30), st.integers(0, 12))
def test_every_line_fits_the_terminal(width: int, weights: list[int], cuts: int) -> None:
    script = BranchScript()
    for weight in weights:
        script.weighing(weight)
    for n in range(min(cuts, len(weights))):
        script.compaction(f"raw-{n + 1}")
    index = script.index()
    assert len(timeline(index, width)) <= width
    assert timeline(index, width).endswith("▶")
    doing = Activity(hindsight=("bank 港湾の記憶 " * 20, "e\u0301" * 300), errors={Stage.OBSERVER: "港" * 300})
    assert max(map(cells, status_lines(index, ObserveConfig(), width=width, activity=doing))) <= width


@pytest.mark.req("S4-timeline-008")
def test_the_strip_is_of_the_branch() -> None:
    script = hundred_thousand()
    other = LedgerIndex(script.entries)
    script.append(Observed(observations=(seen("x"),), covers="raw-7"))
    assert "▒" in timeline(script.index(), 12)
    assert "▒" not in timeline(other, 12)


@pytest.mark.req("S4-status-003", "S4-status-004", "S4-status-005", "S4-status-006")
def test_counts_of_both_layers_with_the_drift_behind_them() -> None:
    script = hundred_thousand()
    records = [seen(f"o{n}") for n in range(10)]
    thoughts = [make_reflection(f"r{n}", supports=["a"]) for n in range(6)]
    script.append(Observed(observations=tuple(records), covers="raw-5"))
    script.append(Reflected(reflections=tuple(thoughts), covers="raw-5"))
    done = compact(script.index(), "raw-8", ObserveConfig(), Moment())
    assert isinstance(done, Compaction)
    script.compaction("raw-8", done.details)
    even = shown(script.index())
    assert "Observations: 10 recorded, 0 dropped, 10 active, 10 visible\n" in even
    assert "Reflections: 6 recorded, 0 superseded, 6 active, 6 visible\n" in even
    script.append(Dropped(ids=tuple(each.id for each in records[:3]), covers="raw-5"))
    script.append(Observed(observations=(seen("late"),), covers="raw-5"))
    script.append(Superseded(ids=(thoughts[0].id, thoughts[1].id), covers="raw-5"))
    now = shown(script.index())
    assert "Observations: 11 recorded, 3 dropped, 8 active, 10 visible +1 / -3\n" in now
    assert "Reflections: 6 recorded, 2 superseded, 4 active, 6 visible +0 / -2\n" in now


@pytest.mark.req("S4-status-007", "S4-thresholds-015")
def test_the_clocks_stand_beside_their_thresholds() -> None:
    script = BranchScript()
    script.weighing(8_100)
    now = shown(script.index())
    assert "Next observation: 8,100 / 10,000 (81%)\n" in now
    assert "Next reflection: 8,100 / 20,000 (41%)\n" in now
    assert "Next compaction: 8,100 / 81,000 (10%)\n" in now


@pytest.mark.req("S4-thresholds-014")
def test_the_threshold_that_is_shown_is_the_one_in_effect() -> None:
    script = BranchScript()
    script.weighing(25_000)
    config = ObserveConfig(compact_after_tokens_mode="ratio", compact_after_tokens_ratio=0.5)
    assert "Next compaction: 25,000 / 100,000 (25%)\n" in shown(script.index(), config, 200_000)


@pytest.mark.req("S4-status-008", "S4-status-009", "S4-status-017", "S4-status-018", "S4-status-019")
def test_pools_and_the_last_render_in_tokens() -> None:
    script = hundred_thousand()
    records = [seen(f"o{n} " + "x" * 400) for n in range(40)]
    script.append(Observed(observations=tuple(records), covers="raw-10"))
    done = compact(script.index(), "raw-8", ObserveConfig(memory_max_tokens=2_000), Moment())
    assert isinstance(done, Compaction)
    script.compaction("raw-8", done.details)
    now, state = shown(script.index()), status(script.index(), ObserveConfig(), 128_000)
    assert state.last_render is not None
    assert f"Visible observations: {sum(each.cost for each in done.details.observations):,} / 20,000 tokens" in now
    assert f"Active observations: {sum(each.cost for each in records):,} / 10,000 tokens" in now
    assert f"Last render: {state.last_render.rendered_tokens:,} / 2,000 tokens, tail 30,000" in now
    assert f"Trimmed: {40 - len(done.details.observations)} observations, 0 reflections" in now


@pytest.mark.req("S4-status-001", "S4-status-010", "S4-status-015", "S4-status-016")
def test_gate_and_cap() -> None:
    script = BranchScript()
    script.user("x")
    script.append(Observed(observations=(seen("y"),), covers="raw-1"))
    now = shown(script.index())
    assert now.startswith("Memory is on\n")
    assert "Cap: 12,800 tokens (derived)\n" in now
    assert f"Active memory: {seen('y').cost} / 12,800 tokens\n" in now
    assert "Cap: 6,000 tokens (configured)\n" in shown(script.index(), ObserveConfig(memory_max_tokens=6_000))
    script.custom("om.gate", {"enabled": False})
    assert shown(script.index()).startswith("Memory is off\n")


@pytest.mark.req("S4-status-002", "S4-status-011", "S4-status-012", "S4-status-013")
def test_what_a_live_session_does_and_did() -> None:
    doing = Activity(
        passive=True,
        stage=Stage.REFLECTOR,
        compacting=True,
        spend_usd=0.01 + 0.0234,
        calls={Stage.OBSERVER: 2, Stage.REFLECTOR: 1},
        errors={Stage.OBSERVER: "The provider refused the key."},
        hindsight=("bank      pi-acme", "queue     2 waiting, 0 given up"),
    )
    now = "\n".join(status_lines(hundred_thousand().index(), ObserveConfig(), activity=doing))
    assert now.startswith("Memory is on\nPassive: nothing starts by itself\n")
    assert "In flight\n  reflector, compaction\n" in now
    assert "Cost\n  $0.0334, calls: observer 2, reflector 1\n" in now
    assert "Hindsight\n  bank      pi-acme\n  queue     2 waiting, 0 given up\n" in now
    assert "Last errors\n  observer: The provider refused the key.\nTimeline: " in now


def test_nothing_is_said_of_what_is_not_there() -> None:
    now = "\n".join(status_lines(LedgerIndex(), ObserveConfig(), activity=Activity()))
    assert "In flight\n  nothing\nCost\n  $0.0000\nTimeline: 0 tokens, 0 compactions\n" in now
    assert "Passive" not in now
    assert "In flight" not in "\n".join(status_lines(LedgerIndex(), ObserveConfig()))


def test_the_timeline_says_what_a_sign_stands_for() -> None:
    script = hundred_thousand()
    script.compaction("raw-5")
    assert (
        status_lines(script.index(), ObserveConfig(), width=12)[-3]
        == "Timeline: 100,000 tokens, 10,000 a sign, 1 compaction"[:12]
    )
    assert "100,000 tokens, 1,283 a sign, 1 compaction" in shown(script.index())


@pytest.mark.parametrize(
    ("tokens", "reflected", "told"),
    [
        (1_200, 0, ""),
        (1_600, 0, "  Over the cap: a compaction shows a part of it\n"),
        (3_200, 0, "  Over 2,250 tokens: the next run drops the least valuable observations\n"),
        (0, 1_200, "  Reflections take the room of observations; merging them makes room\n"),
    ],
)
def test_a_memory_that_outgrows_its_budget_says_what_follows(tokens: int, reflected: int, told: str) -> None:
    script = BranchScript()
    script.user("x")
    records = tuple(seen(f"{n} " + "x" * 396) for n in range(tokens // 110))
    thoughts = tuple(make_reflection(f"{n} " + "x" * 396, supports=["a"]) for n in range(reflected // 110))
    script.append(Observed(observations=records, covers="raw-1"))
    script.append(Reflected(reflections=thoughts, covers="raw-1"))
    config = ObserveConfig(memory_max_tokens=1_500, observations_pool_target_tokens=500)
    now = shown(script.index(), config)
    assert told in now
    assert now.count("Over ") + now.count("take the room") == bool(told)


@pytest.mark.req("S4-status-025")
def test_drift_and_pools_stand_in_the_status_and_in_no_view() -> None:
    script = hundred_thousand()
    script.append(Observed(observations=(seen("new"),), covers="raw-5"))
    index = script.index()
    views = view(index).text + view(index, whole=True).text
    assert "0 visible +1 / -0" in shown(index)
    assert "+1" not in views
    assert "tokens" not in views
    assert {"Visible observations", "Active observations"} <= {
        line.strip().split(":")[0] for line in shown(index).splitlines()
    }
