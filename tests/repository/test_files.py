"""What stands in the repository means the same on every machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

REGISTRIES = ("pypi.", "honhosted.", "pmjs.", "yarnpkg.", "eb.debian.")
"""Without their endings, so that this file does not name one itself."""
HOSTS = re.compile("|".join(re.escape(name) + "(?:org|com)" for name in REGISTRIES))
PLACES = re.compile(r"(?<![\w.~*-])/(?:root|work)/")
LOCKS = ("uv.lock",)


def tracked(root: Path) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    return [path for name in listed.split("\0") if name and (path := root / name).is_file()]


def found(pattern: re.Pattern[str], root: Path) -> list[str]:
    return [
        f"{path.relative_to(root)}:{text[: match.start()].count(chr(10)) + 1} {match[0]}"
        for path in tracked(root)
        if path.name not in LOCKS
        for text in [path.read_text(encoding="utf-8", errors="replace")]
        for match in pattern.finditer(text)
    ]


def test_no_file_names_the_host_of_a_package_registry(root: Path) -> None:
    assert found(HOSTS, root) == []


def test_no_file_names_a_place_on_the_machine_of_its_author(root: Path) -> None:
    assert found(PLACES, root) == []


def test_these_patterns_find_what_they_are_for() -> None:
    assert HOSTS.search("https://" + "pypi." + "org/simple")
    assert PLACES.search("see /" + "root/x") is not None
    assert PLACES.search("see ./" + "work/x and a/" + "root/x") is None


def test_nothing_private_or_generated_is_tracked(root: Path) -> None:
    generated = re.compile(r"(^|/)(\.venv|\.cache|__pycache__|node_modules|\.hindbrain|dist)/|\.(pyc|sqlite|env)$")
    names = [str(path.relative_to(root)) for path in tracked(root)]
    assert [name for name in names if generated.search(name)] == []
