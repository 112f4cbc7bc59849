"""Part 6 of the chaos proof, and that it catches what it is there for."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from chaos import part_holder
from chaos.finding import Finding
from chaos.nursery import nursery
from chaos.plants import a_live_holder_is_taken_for_dead, os_lock_is_anybodys

from .conftest import Check

pytestmark = [pytest.mark.timeout(600), pytest.mark.skipif(os.name == "nt", reason="stops processes by signals")]


def test_a_holder_that_is_stopped_costs_others_a_bounded_wait_and_never_a_second_committer(check: Check) -> None:
    check("6 stopped holders", part_holder.run)


@pytest.mark.parametrize("bug", [os_lock_is_anybodys, a_live_holder_is_taken_for_dead])
def test_the_stopped_holders_catch_a_lock_that_can_be_stolen(
    bug: Callable[[], AbstractContextManager[Any]],
) -> None:
    finding = Finding()
    with bug(), nursery() as nest:
        for os_locks in (True, False):
            part_holder.stopped_holder(nest, finding, os_locks=os_locks)
    assert finding.violations
