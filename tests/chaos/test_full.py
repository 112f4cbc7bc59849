"""Part 4 of the chaos proof, and that it catches what it is there for."""

from __future__ import annotations

import sys
from random import Random

import pytest
from chaos import part_full
from chaos.finding import QUICK
from chaos.plants import BelievesWrite

from .conftest import Check

pytestmark = [pytest.mark.timeout(600), pytest.mark.skipif(sys.platform != "linux", reason="mounts a tmpfs")]


def test_a_disk_without_room_refuses_with_a_type_stays_readable_and_drains_afterwards(check: Check) -> None:
    check("4 full and read-only disks", part_full.run)


def test_the_full_disk_catches_writes_that_are_believed(seed: int) -> None:
    assert part_full.run(Random(seed), QUICK, wrap=BelievesWrite).violations
