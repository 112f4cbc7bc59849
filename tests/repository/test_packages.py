"""What every dist has, and how its modules are cut."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from itertools import chain
from pathlib import Path
from statistics import median

LONGEST = 500
TYPICAL = 100


def modules(package: Path) -> list[Path]:
    return sorted((package / "src").rglob("*.py"))


def doors(package: Path) -> list[str]:
    """The import names that have no underscore in them: what a user may rely on."""
    source = package / "src"
    names = [path.relative_to(source).with_suffix("").parts for path in modules(package)]
    public = [tuple(part for part in name if part != "__init__") for name in names]
    return [".".join(name) for name in public if not any(part.startswith("_") for part in name)]


def test_a_package_has_what_a_stranger_looks_for(package: Path, root: Path) -> None:
    name = f"hindbrain-{package.name}"
    assert (package / "README.md").read_text(encoding="utf-8").startswith(f"# {name}\n")
    assert f"`{name}`" in (package / "CHANGELOG.md").read_text(encoding="utf-8")
    assert (package / "LICENSE").read_bytes() == (root / "LICENSE").read_bytes()
    assert (package / "src/hindbrain" / package.name / "py.typed").is_file()
    assert not (package / "src/hindbrain/__init__.py").exists()


def test_the_readme_of_a_package_shows_how_to_use_it(package: Path) -> None:
    text = (package / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^```(python|console|bash|sh)", text, re.MULTILINE)


def test_the_changelog_of_a_package_says_what_its_version_brings(package: Path) -> None:
    text = (package / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\[?\d+\.\d+\.\d+\]?|Unreleased)", text, re.MULTILINE)
    assert re.search(r"^- \w", text, re.MULTILINE)


def test_the_package_of_a_sibling_is_asked_for_by_a_range(package: Path) -> None:
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    siblings = [line for line in project["dependencies"] if line.startswith("hindbrain-")]
    assert [line for line in siblings if not re.fullmatch(r"hindbrain-[a-z]+>=\d+\.\d+,<\d+\.\d+", line)] == []


FOR_OTHERS = {"client": {"sniffio"}}
"""Asked for though not imported: httpcore is faster where it finds it."""


DISTS = {"opentelemetry": "opentelemetry-api"}
"""Distributions that are not called what they are imported as."""


def imported(package: Path) -> set[str]:
    """The modules of other people that the package's sources import, at whatever place in them."""
    names = set[str]()
    for path in modules(package):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                names.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"hindbrain"}


def test_a_package_asks_for_what_it_imports_and_for_nothing_else(package: Path) -> None:
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *chain.from_iterable(project.get("optional-dependencies", {}).values())]
    asked = {re.split(r"[^\w-]", line)[0] for line in lines}
    used = {DISTS.get(name, name.replace("_", "-")) for name in imported(package)} | FOR_OTHERS.get(package.name, set())
    assert {name for name in asked if not name.startswith("hindbrain-")} == used


def test_no_module_is_longer_than_a_reader_can_hold(package: Path) -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules(package)}
    assert {str(path): length for path, length in lengths.items() if length > LONGEST} == {}


def test_the_typical_module_fits_on_two_screens(packages: list[Path]) -> None:
    lengths = [len(path.read_text(encoding="utf-8").splitlines()) for package in packages for path in modules(package)]
    assert median(lengths) <= TYPICAL


def test_every_door_lists_its_names_in_order_and_has_them(package: Path) -> None:
    for name in doors(package):
        module = importlib.import_module(name)
        names = module.__all__
        assert list(names) == sorted(set(names), key=_as_ruff_sorts), name
        assert [missing for missing in names if not hasattr(module, missing)] == [], name


def _as_ruff_sorts(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name


def test_every_public_name_of_a_door_has_a_docstring(package: Path) -> None:
    """The linter asks for docstrings where things are defined; this holds what the doors give."""
    for name in doors(package):
        module = importlib.import_module(name)
        shown = {attribute: getattr(module, attribute) for attribute in module.__all__}
        callables = {key: value for key, value in shown.items() if callable(value) and hasattr(value, "__module__")}
        ours = {key: value for key, value in callables.items() if str(value.__module__).startswith("hindbrain.")}
        assert [key for key, value in ours.items() if not value.__doc__] == [], name


def test_no_module_reads_the_environment_outside_the_command_line(package: Path) -> None:
    """Settings are values (architecture, rule 3).

    A key is read where it is used; git is started without the variables that name another
    repository.
    """
    allowed = {
        "client/_tokens.py",
        "generic/_cli/_install.py",
        "generic/_cli/_run.py",
        "generic/hosts/_trial.py",
        "generic/sidecar/_settings.py",
        "memory/_checkout.py",
    }
    readers = {
        path.relative_to(package / "src/hindbrain").as_posix()
        for path in modules(package)
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv"}
    }
    assert readers - allowed == set()
