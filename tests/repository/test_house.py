"""The arrows between the rooms, what a door weighs, and the one command that checks them all."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HEAVY = {"pydantic", "httpx", "tenacity", "json5", "click", "keyring", "sqlite3", "platformdirs"}
LIGHT = {
    "contracts": {"asyncio", "ssl", *HEAVY},
    "store": HEAVY - {"sqlite3"},
    "bridge": {"attrs", "attr", "dataclasses", "pathlib", "hindbrain.contracts", *HEAVY},
    "generic": HEAVY - {"pydantic"},
    "pi": {"attrs", "attr", "hindbrain.contracts", *HEAVY},
    "omp": {"attrs", "attr", "hindbrain.contracts", *HEAVY},
}
"""What opening a door must not bring in. A store is SQLite; the border of generic is made of pydantic models."""
WITHOUT_KNOWLEDGE = ("contracts", "client", "store", "memory", "observe", "bridge")
BEYOND = re.compile(r"/(reflect|mental-models)|^(reflect|mental-models)(/|$)")
TAG_NAMES = {"contracts/_fence.py"}
"""Here the words stand for the tags of a block, not for routes."""


def test_the_arrows_between_the_rooms_hold(root: Path) -> None:
    checker = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([checker, "--no-cache"], cwd=root, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stdout


def test_the_arrows_know_every_room(packages: list[Path], settings: dict[str, Any]) -> None:
    rooms = {f"hindbrain.{package.name}" for package in packages}
    assert set(settings["tool"]["importlinter"]["root_packages"]) == rooms


def test_a_door_opens_without_the_heavy_modules(package: Path) -> None:
    code = f"import sys, hindbrain.{package.name}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=50, check=True)
    assert set(done.stdout.split()) & LIGHT.get(package.name, HEAVY) == set()


def strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Every string of a module that is not a docstring."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node


@pytest.mark.req("S2-backends-032")
def test_the_rooms_without_knowledge_hold_no_route_to_reflect_or_mental_models(packages: list[Path]) -> None:
    routes = [
        f"{path}:{node.lineno} {node.value!r}"
        for package in packages
        if package.name in WITHOUT_KNOWLEDGE
        for path in sorted((package / "src").rglob("*.py"))
        if path.relative_to(package / "src/hindbrain").as_posix() not in TAG_NAMES
        for node in strings(ast.parse(path.read_bytes()))
        if BEYOND.search(str(node.value))
    ]
    assert routes == []


def test_a_route_to_reflect_or_mental_models_would_be_found() -> None:
    for code in ('x = "reflect"', 'x = f"/banks/{b}/reflect"', 'x = "banks/mental-models/{id}"'):
        assert any(BEYOND.search(str(node.value)) for node in strings(ast.parse(code))), code
    assert not any(BEYOND.search(str(node.value)) for node in strings(ast.parse('x = "hindsight-mental-models"')))


def commands(root: Path, script: str = "scripts/test") -> list[list[str]]:
    """What a script runs through uv, word by word."""
    lines = (root / script).read_text(encoding="utf-8").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("run ")]


@pytest.mark.req("S4-house-001")
def test_one_command_checks_lint_types_and_tests_of_every_package(
    root: Path, packages: list[Path], settings: dict[str, Any]
) -> None:
    words = commands(root)
    assert "set -euo pipefail" in (root / "scripts/test").read_text(encoding="utf-8")
    assert ["ruff", "check", "."] in [[word for word in line if word != "--quiet"] for line in words]
    (types,) = (line for line in words if line[0] == "mypy")
    assert {"packages", "adapters", "tests", "scripts"} <= set(types)
    assert any(line[0] == "pytest" for line in words)
    assert settings["tool"]["pytest"]["ini_options"]["testpaths"] == ["tests"]
    shared = {"pi": "adapters", "omp": "adapters"}  # two hosts, one sidecar
    untested = [p.name for p in packages if not list((root / "tests" / shared.get(p.name, p.name)).rglob("test_*.py"))]
    assert untested == []


@pytest.mark.req("S4-house-001")
def test_a_package_has_no_tools_of_its_own(package: Path) -> None:
    own = {"mypy.ini", "ruff.toml", ".ruff.toml", "pytest.ini", "tox.ini", "setup.cfg", "noxfile.py", "Makefile"}
    assert {path.name for path in package.iterdir()} & own == set()
    assert not re.search(r"\[tool\.(ruff|mypy|pytest|coverage)", (package / "pyproject.toml").read_text("utf-8"))


@pytest.mark.timeout(240)  # the checker reads everything anew; on a busy machine that takes a minute
@pytest.mark.req("S4-house-002")
def test_a_type_error_planted_in_any_package_is_found_from_the_root(
    root: Path, packages: list[Path], tmp_path: Path
) -> None:
    """The checker reads changed copies in place of the doors; nothing in the tree is written."""
    command, planted = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache")], set[str]()
    for package in packages:
        door = package / "src/hindbrain" / package.name / "__init__.py"
        copy = tmp_path / f"{package.name}.py"
        copy.write_text(door.read_text(encoding="utf-8") + '\nplanted: int = "a text"\n', encoding="utf-8")
        command += ["--shadow-file", str(door.relative_to(root)), str(copy)]
        planted.add(str(door.relative_to(root)))
    run = [*command, "packages", "adapters"]
    done = subprocess.run(run, cwd=root, capture_output=True, text=True, timeout=230, check=False)
    named = {line.partition(":")[0] for line in done.stdout.splitlines() if line.endswith("[assignment]")}
    assert (done.returncode, named) == (1, planted), done.stdout + done.stderr


@pytest.mark.req("S4-house-011")
def test_the_licence_is_mit(root: Path, package: Path) -> None:
    assert (root / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n")
    assert 'license = "MIT"' in (package / "pyproject.toml").read_text(encoding="utf-8")


SCRIPTS = ("scripts/demo", "scripts/test", "scripts/live", "scripts/bench", "scripts/docs", "scripts/lowest", ".ci/run")


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_can_be_run_and_stops_at_its_first_failure(script: str, root: Path) -> None:
    path = root / script
    assert path.stat().st_mode & 0o111, f"{script} is not executable"
    assert "set -euo pipefail" in path.read_text(encoding="utf-8")


def test_the_readme_shows_the_two_commands(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    assert "scripts/demo" in text
    assert "scripts/test" in text


@pytest.mark.req("S4-house-003")
def test_the_tests_of_a_package_are_collected_by_its_own_folder_alone(root: Path) -> None:
    run = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests/observe"]
    done = subprocess.run(run, cwd=root, capture_output=True, text=True, check=False, timeout=50)
    found = [line for line in done.stdout.splitlines() if "::" in line]
    assert done.returncode == 0, done.stdout[-2000:]
    assert len(found) > 200
    assert {line.split("/")[1] for line in found} == {"observe"}


@pytest.mark.req("S4-house-010")
def test_the_origin_of_observational_memory_is_credited(root: Path) -> None:
    told = " ".join((root / "packages/observe/README.md").read_text("utf-8").split())
    assert "Mastra's Observational Memory research" in told
    assert "an independent implementation" in told
