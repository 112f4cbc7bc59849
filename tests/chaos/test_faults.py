"""Part 2 of the chaos proof, and that it catches what it is there for."""

from __future__ import annotations

from random import Random

import pytest
from chaos import part_faults
from chaos.finding import QUICK
from chaos.plants import BelievesSync, BelievesWrite
from chaos.subjects import QueueLife, ReceiptsLife

from hindbrain.store.testing import ForwardingLayer

from .conftest import Check

pytestmark = pytest.mark.timeout(900)


def test_whatever_operation_fails_there_is_no_false_success(check: Check) -> None:
    check("2 faults", part_faults.run)


@pytest.mark.parametrize("bug", [BelievesSync, BelievesWrite])
@pytest.mark.parametrize("life", [QueueLife, ReceiptsLife])
def test_the_faults_catch_a_planted_bug(
    bug: type[ForwardingLayer], life: type[QueueLife | ReceiptsLife], seed: int
) -> None:
    assert part_faults.run(Random(seed), QUICK, wrap=bug, lives=(life,)).violations
