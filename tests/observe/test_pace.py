from __future__ import annotations

from collections.abc import Sequence

import pytest

from hindbrain.observe import ConsolidationRun, Pace, Stage, StageFailure

WELL = ConsolidationRun(run_id="r")


def failed(stage: Stage = Stage.OBSERVER) -> ConsolidationRun:
    return ConsolidationRun(run_id="r", failures=(StageFailure(stage=stage, code="c", text="t"),))


def rests(pace: Pace) -> int:
    """The turns until it has rested."""
    turns = 0
    while not pace.has_rested():
        turns += 1
    return turns


def after(runs: Sequence[ConsolidationRun]) -> Pace:
    pace = Pace()
    for run in runs:
        pace.after(run)
    return pace


@pytest.mark.parametrize(("count", "turns"), [(0, 0), (1, 1), (2, 2), (3, 4), (4, 4), (1_000, 4)])
def test_failed_runs_are_followed_by_ever_longer_rests(count: int, turns: int) -> None:
    pace = after([failed(Stage.DROPPER)] * count)
    assert rests(pace) == turns
    assert pace.has_rested()
    pace.after(WELL)
    assert rests(pace) == 0


@pytest.mark.parametrize(("count", "halvings"), [(0, 0), (1, 0), (2, 1), (3, 2), (9, 8), (1_000, 8)])
def test_a_chunk_is_halved_with_each_failure_after_the_first(count: int, halvings: int) -> None:
    assert after([failed()] * count).halvings == halvings


def test_it_is_doubled_with_each_success_and_never_beyond_the_whole() -> None:
    pace = after([failed()] * 3)
    left = []
    for _each in range(4):
        pace.after(WELL)
        left.append(pace.halvings)
    assert left == [1, 0, 0, 0]


def test_where_the_doubled_one_fails_the_next_try_is_twice_as_far_away() -> None:
    pace = after([failed()] * 2)
    waits = []
    for _each in range(6):
        waits.append(0)
        while pace.halvings:
            pace.after(WELL)
            waits[-1] += 1
        pace.after(failed())
        pace.after(failed())
    assert waits == [1, 2, 4, 8, 16, 16]
    while pace.halvings:
        pace.after(WELL)
    pace.after(WELL)
    pace.after(failed())
    pace.after(failed())
    pace.after(WELL)
    assert pace.halvings == 0  # the last one was read, so that it is no longer known to be too long


def test_the_failure_of_another_worker_says_nothing_of_the_chunk() -> None:
    assert after([failed(), failed(), failed(Stage.REFLECTOR)]).halvings == 0
    assert after([failed(Stage.REFLECTOR)] * 5).halvings == 0
