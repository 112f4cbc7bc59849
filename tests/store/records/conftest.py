"""A state folder and a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._seal import SealKey


@pytest.fixture
def key() -> SealKey:
    return SealKey(bytes(range(32)))


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir.open(OsFileLayer(), tmp_path / ".pi" / "hindsight")
