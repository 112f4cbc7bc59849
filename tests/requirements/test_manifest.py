"""Every rule has a stable id in the ``*.jsonl`` files here; tests name the ids they prove. Both directions are held.

The marks are read from the sources, so a rule that only a live or host test proves counts without running it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

HERE = Path(__file__).parent
TESTS = HERE.parent


class Requirement(BaseModel):
    """One line of a manifest file. ``differs`` says why we deviate from the rule's source on purpose."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^S[024]-[a-z]+-[0-9]{3}$")
    rule: str = Field(min_length=20, pattern=r"\.$")
    package: Literal["contracts", "client", "store", "memory", "observe", "generic", "pi", "omp"]
    surface: Literal["library", "wire", "cli", "file", "pi", "omp"]
    differs: str | None = Field(default=None, min_length=20, pattern=r"\.$")


def read_manifest(path: Path) -> list[Requirement]:
    return [Requirement.model_validate_json(line) for line in path.read_text(encoding="utf-8").splitlines()]


def is_mark(node: ast.AST) -> bool:
    """Whether this is the call ``pytest.mark.req(...)``, on a test, a class, a parameter or a whole module."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.req"


def proves(tree: ast.Module) -> Iterator[tuple[int, str | None]]:
    """The line and id of each mark; None for an argument that cannot be read without running the test."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_mark(node):
            for argument in node.args:
                value = argument.value if isinstance(argument, ast.Constant) else None
                yield node.lineno, value if isinstance(value, str) else None


def misplaced(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Marked functions that pytest would never collect."""
    for node in ast.walk(tree):
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, functions) and not node.name.startswith("test_") and any(map(is_mark, node.decorator_list)):
            yield node.lineno, node.name


REQUIREMENTS = [requirement for path in sorted(HERE.glob("*.jsonl")) for requirement in read_manifest(path)]
SOURCES = {path.relative_to(TESTS): ast.parse(path.read_bytes()) for path in sorted(TESTS.rglob("test_*.py"))}


def test_ids_are_unique_sorted_and_in_the_file_of_their_source() -> None:
    for path in sorted(HERE.glob("*.jsonl")):
        ids = [requirement.id for requirement in read_manifest(path)]
        assert ids == sorted(set(ids)), f"{path.name} is not sorted, or names an id twice"
        assert {i.partition("-")[0] for i in ids} == {path.stem}


def test_every_mark_names_a_requirement_that_exists() -> None:
    known = {requirement.id for requirement in REQUIREMENTS}
    strangers = [
        f"{path}:{line} {named}"
        for path, tree in SOURCES.items()
        for line, named in proves(tree)
        if named is None or named not in known
    ]
    assert strangers == []


def test_every_mark_on_a_function_is_on_a_test() -> None:
    assert [f"{path}:{line} {name}" for path, tree in SOURCES.items() for line, name in misplaced(tree)] == []


def test_every_requirement_is_proved_by_a_test() -> None:
    proved = {named for tree in SOURCES.values() for _, named in proves(tree)}
    unproved = [f"{r.id} ({r.package}): {r.rule}" for r in REQUIREMENTS if r.id not in proved]
    assert unproved == [], "\n".join(unproved)


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.req("A", "B")\ndef test_it(): ...',
        '@pytest.mark.req("A", "B")\nclass TestIt: ...',
        'pytestmark = [pytest.mark.req("A"), pytest.mark.req("B")]',
        '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.req("A", "B"))])\ndef test_it(x): ...',
    ],
)
def test_a_mark_is_found_wherever_pytest_would_honour_it(source: str) -> None:
    assert {named for _, named in proves(ast.parse(source))} == {"A", "B"}


def test_a_mark_that_is_computed_or_not_on_a_test_is_seen_as_such() -> None:
    assert list(proves(ast.parse("@pytest.mark.req(*IDS)\ndef test_it(): ..."))) == [(1, None)]
    assert list(misplaced(ast.parse('@pytest.mark.req("A")\ndef helper(): ...'))) == [(2, "helper")]
