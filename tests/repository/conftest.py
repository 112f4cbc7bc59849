"""The rooms of the house, as the folders say."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path.parent for base in ("packages", "adapters") for path in ROOT.glob(f"{base}/*/pyproject.toml"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for ``package`` runs once for each."""
    if "package" in metafunc.fixturenames:
        metafunc.parametrize("package", PACKAGES, ids=[path.name for path in PACKAGES])


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def packages() -> list[Path]:
    return PACKAGES


@pytest.fixture(scope="session")
def settings() -> dict[str, Any]:
    """The root ``pyproject.toml``."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
