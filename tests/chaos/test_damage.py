"""Part 5 of the chaos proof, and that it catches what it is there for."""

from __future__ import annotations

from random import Random

import pytest
from chaos import part_damage
from chaos.finding import QUICK, Finding
from chaos.plants import any_seal_is_believed
from hypothesis import given, settings
from hypothesis import strategies as st

from .conftest import Check

pytestmark = pytest.mark.timeout(900)


def test_every_damage_is_detected_told_once_and_never_loses_a_job_silently(check: Check) -> None:
    check("5 damage", part_damage.run)


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_hypothesis_finds_no_damage_that_is_not_detected(rng: Random) -> None:
    finding = Finding()
    part_damage.check_all(rng, finding, 1)
    assert finding.violations == []


def test_the_damage_catches_seals_that_nobody_looks_at(seed: int) -> None:
    with any_seal_is_believed():
        try:
            violations = part_damage.run(Random(seed), QUICK).violations
        except (KeyError, TypeError, ValueError) as error:  # a changed line that is believed can end in a crash, too
            violations = [repr(error)]
    assert violations
