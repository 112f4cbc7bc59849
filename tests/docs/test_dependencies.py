"""The page on dependencies lists what the packages ask for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = {
    cells[0]: set(re.findall(r"[\w-]+", cells[1]))
    for line in (ROOT / "docs/DEPENDENCIES.md").read_text(encoding="utf-8").splitlines()
    if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) > 1
}
PACKAGES = sorted(path.parent for base in ("packages", "adapters") for path in ROOT.glob(f"{base}/*/pyproject.toml"))


@pytest.mark.parametrize("package", PACKAGES, ids=[path.name for path in PACKAGES])
def test_a_row_names_what_the_package_needs(package: Path) -> None:
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[^\w-]", line)[0] for line in project["dependencies"]}
    assert {name for name in names if not name.startswith("hindbrain-")} == ROWS[package.name]
