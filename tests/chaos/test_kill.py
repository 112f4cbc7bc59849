"""Part 1 of the chaos proof, and that it catches what it is there for."""

from __future__ import annotations

from random import Random

import pytest
from chaos import part_kill
from chaos.finding import QUICK
from chaos.plants import PLANTS

from .conftest import Check

pytestmark = pytest.mark.timeout(1500)


def test_whoever_is_killed_nothing_acknowledged_is_lost_and_nothing_takes_effect_twice(check: Check) -> None:
    check("1 kill -9", part_kill.run)


@pytest.mark.parametrize("bug", [name for name in PLANTS if name])
def test_the_kills_catch_a_planted_bug(bug: str, seed: int) -> None:
    runs = (part_kill.run(Random(f"{seed} {attempt}"), QUICK, bug=bug, kills=15) for attempt in range(4))
    assert any(run.violations for run in runs)
