"""Part 3 of the chaos proof, and that it catches what it is there for."""

from __future__ import annotations

from random import Random

import pytest
from chaos import part_power
from chaos.finding import QUICK
from chaos.plants import SyncsNoFolder, SyncsNothing, torn_tail_stays
from chaos.subjects import LIVES, Life, QueueLife

from hindbrain.store.testing import ForwardingLayer

from .conftest import Check

pytestmark = pytest.mark.timeout(900)


def test_whenever_the_power_goes_every_promise_is_kept_and_the_next_append_is_readable(check: Check) -> None:
    check("3 power loss", part_power.run)


@pytest.mark.parametrize("bug", [SyncsNothing, SyncsNoFolder])
@pytest.mark.parametrize("life", LIVES)
def test_the_loss_of_power_catches_a_dropped_sync(bug: type[ForwardingLayer], life: Life, seed: int) -> None:
    assert part_power.run(Random(seed), QUICK, wrap=bug, lives=(life,)).violations


def test_the_loss_of_power_catches_a_torn_tail_that_stays(seed: int) -> None:
    with torn_tail_stays():
        assert part_power.run(Random(seed), QUICK, lives=(QueueLife,)).violations
