"""Every dist built once, and clean environments to install them in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from email.message import Message
from email.parser import BytesParser
from functools import cached_property
from pathlib import Path

import pytest
from attrs import define, frozen

ROOT = Path(__file__).parents[2]


@frozen(slots=False)
class Wheel:
    """One built wheel."""

    path: Path

    @cached_property
    def files(self) -> list[str]:
        with zipfile.ZipFile(self.path) as archive:
            return [name for name in archive.namelist() if not name.endswith("/")]

    @cached_property
    def metadata(self) -> Message:
        (name,) = (name for name in self.files if name.endswith(".dist-info/METADATA"))
        with zipfile.ZipFile(self.path) as archive:
            return BytesParser().parsebytes(archive.read(name))

    @property
    def siblings(self) -> set[str]:
        """The other dists of this workspace that it asks for."""
        asked = [re.split(r"[^\w-]", line)[0] for line in self.metadata.get_all("Requires-Dist", [])]
        return {name.removeprefix("hindbrain-") for name in asked if name.startswith("hindbrain-")}


@define
class Uv:
    """The package manager the scripts use, with a deadline on each call."""

    program: str

    def __call__(self, *arguments: str | Path, **environment: str) -> str:
        done = subprocess.run(
            [self.program, *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        assert done.returncode == 0, f"uv {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="session")
def uv() -> Uv:
    program = os.environ.get("UV") or shutil.which("uv")
    if program is None:
        pytest.fail("These tests build wheels with uv, and it is neither in UV nor on PATH. Run scripts/test.")
    return Uv(program)


@pytest.fixture(scope="session")
def wheels(uv: Uv, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Wheel]:
    """The wheel of each dist by its short name, each built from its own source distribution."""
    out = tmp_path_factory.mktemp("dist")
    uv("build", "--all-packages", "--quiet", "--out-dir", out)
    built = [Wheel(path) for path in sorted(out.glob("*.whl"))]
    return {wheel.path.name.split("-")[0].removeprefix("hindbrain_"): wheel for wheel in built}


@pytest.fixture(scope="session")
def install(uv: Uv, wheels: dict[str, Wheel], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A clean environment with these dists, what they ask for, and nothing else; gives the folder of its programs.

    Other people's packages come at the versions of ``uv.lock``, so no index is asked when uv has them already.
    ``uv pip check`` then holds the wheels' own metadata against what is there.
    """

    def install(*names: str) -> Path:
        environment = tmp_path_factory.mktemp("-".join(names)) / "env"
        packages = [part for name in names for part in ("--package", f"hindbrain-{name}")]
        locked = ("--locked", "--no-dev", "--no-install-workspace", "--quiet", "--python", sys.executable)
        uv("sync", *locked, *packages, UV_PROJECT_ENVIRONMENT=str(environment))
        needed, todo = set[str](), set(names)
        while todo:
            needed |= todo
            todo = {sibling for name in todo for sibling in wheels[name].siblings} - needed
        uv("pip", "install", "--quiet", "--no-deps", "--python", environment, *(wheels[n].path for n in sorted(needed)))
        uv("pip", "check", "--quiet", "--python", environment)
        return environment / ("Scripts" if sys.platform == "win32" else "bin")

    return install
