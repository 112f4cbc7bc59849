"""Part 7 of the chaos proof, and that it catches what it is there for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from random import Random
from typing import Any

import pytest
from chaos import part_clock
from chaos.finding import QUICK
from chaos.plants import a_live_holder_is_taken_for_dead, jobs_go_by_their_time

from .conftest import Check

pytestmark = pytest.mark.timeout(600)


def test_when_clocks_jump_order_is_kept_no_lock_stolen_and_nothing_expires(check: Check) -> None:
    check("7 clocks", part_clock.run)


@pytest.mark.parametrize("bug", [a_live_holder_is_taken_for_dead, jobs_go_by_their_time])
def test_the_clocks_catch_a_planted_bug(bug: Callable[[], AbstractContextManager[Any]], seed: int) -> None:
    with bug():
        assert part_clock.run(Random(seed), QUICK).violations
