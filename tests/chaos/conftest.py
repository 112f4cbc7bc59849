"""How the parts of the chaos proof are run and reported: ``scripts/chaos``."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest

# The parts are a library too: their workers are forked from a process of their own.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from chaos.finding import Part, Scale

Check: TypeAlias = Callable[[str, Part], None]
_SHOWN = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chaos-scale", choices=["quick", "full"], default="quick")
    parser.addoption("--chaos-seed", type=int, default=1)


@pytest.fixture
def scale(pytestconfig: pytest.Config) -> Scale:
    return Scale(is_full=pytestconfig.getoption("--chaos-scale") == "full")


@pytest.fixture
def seed(pytestconfig: pytest.Config) -> int:
    return int(pytestconfig.getoption("--chaos-seed"))


@pytest.fixture
def check(pytestconfig: pytest.Config, seed: int, scale: Scale) -> Check:
    """Run a part, print its row, and fail where it found a violation."""
    reporter = pytestconfig.pluginmanager.get_plugin("terminalreporter")
    capture = pytestconfig.pluginmanager.get_plugin("capturemanager")
    assert reporter is not None
    assert capture is not None

    def run(name: str, part: Part) -> None:
        begun = time.monotonic()
        finding = part(Random(f"{seed} {name}"), scale)
        lines = [f"{name} (seed {seed}): {finding.row()}; {time.monotonic() - begun:.1f} s"]
        lines += [f"  VIOLATION {line}" for line in finding.violations[:_SHOWN]]
        with capture.global_and_fixture_disabled():
            reporter.ensure_newline()
            for line in lines:
                reporter.write_line(line)
        assert finding.tried
        assert not finding.violations, finding.violations[0]

    return run
