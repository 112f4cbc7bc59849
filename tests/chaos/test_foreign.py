"""Part 6b of the chaos proof, and that it catches what it is there for."""

from __future__ import annotations

import os
from random import Random

import pytest
from chaos import part_foreign
from chaos.finding import QUICK
from chaos.plants import FollowsLinks, any_seal_is_believed

from .conftest import Check

pytestmark = [pytest.mark.timeout(600), pytest.mark.skipif(os.name == "nt", reason="makes links and pipes")]


def test_of_a_state_folder_that_came_with_a_repository_nothing_is_sent_or_believed(check: Check) -> None:
    check("6b cloned repositories", part_foreign.run)


def test_the_cloned_repository_catches_seals_that_nobody_looks_at(seed: int) -> None:
    with any_seal_is_believed():
        assert part_foreign.run(Random(seed), QUICK).violations


def test_the_cloned_repository_catches_links_that_are_followed(seed: int) -> None:
    assert part_foreign.run(Random(seed), QUICK, wrap=FollowsLinks).violations
