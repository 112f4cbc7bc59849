"""Each dist, as a stranger would install it: built, alone in a clean environment, doing its main thing."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import pytest

HERE = Path(__file__).parent
DISTS = ("contracts", "client", "store", "memory", "observe", "bridge", "generic", "pi", "omp")
WITHOUT_KNOWLEDGE = ("contracts", "client", "store", "memory", "observe", "bridge")


class Wheel(Protocol):
    @property
    def files(self) -> list[str]: ...
    @property
    def metadata(self) -> Mapping[str, str]: ...


def run(*command: str | Path, cwd: Path) -> str:
    """The output of a program; it must end well and in time."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_dist_of_the_workspace_is_tested_here(wheels: Mapping[str, Wheel]) -> None:
    assert sorted(wheels) == sorted(DISTS)


@pytest.mark.req("S4-house-011")
@pytest.mark.parametrize("name", DISTS)
def test_a_wheel_says_mit_and_ships_the_licence(name: str, wheels: Mapping[str, Wheel]) -> None:
    assert wheels[name].metadata["License-Expression"] == "MIT"
    assert any(file.endswith(".dist-info/licenses/LICENSE") for file in wheels[name].files)


@pytest.mark.parametrize("name", DISTS)
def test_a_wheel_is_typed_and_leaves_the_namespace_to_all(name: str, wheels: Mapping[str, Wheel]) -> None:
    files = wheels[name].files
    assert f"hindbrain/{name}/py.typed" in files
    assert "hindbrain/__init__.py" not in files
    assert {file.split("/")[1] for file in files if file.startswith("hindbrain/")} == {name}


@pytest.mark.req("S4-house-004")
@pytest.mark.parametrize("name", DISTS)
def test_a_dist_does_its_main_thing_alone_in_a_clean_environment(
    name: str, install: Callable[..., Path], tmp_path: Path
) -> None:
    smoke = HERE / f"smoke_{name}.py"
    assert "assert" in smoke.read_text("utf-8"), "a smoke test that checks nothing proves nothing"
    run(install(name) / "python", "-I", "-W", "error", smoke, cwd=tmp_path)


@pytest.mark.req("S2-backends-032")
def test_without_knowledge_there_is_no_way_to_reflect_or_to_mental_models(
    install: Callable[..., Path], tmp_path: Path
) -> None:
    code = "; ".join(f"import hindbrain.{name}" for name in WITHOUT_KNOWLEDGE)
    search = "import importlib.util as u; print(u.find_spec('hindbrain.knowledge'), u.find_spec('hindbrain.generic'))"
    assert run(install(*WITHOUT_KNOWLEDGE) / "python", "-I", "-c", f"{code}; {search}", cwd=tmp_path) == "None None\n"
