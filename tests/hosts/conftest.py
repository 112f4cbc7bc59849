"""The real hosts, one machine a test. Run with scripts/hosts, which installs them; a skipped test fails there."""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "scripts")]

from _live.hindsight import running_server  # noqa: E402  (the folders above come first)
from _live.waiting import StopRequest  # noqa: E402
from hosts.gateway import Gateway  # noqa: E402
from hosts.machine import Machine, eventually, is_stopped  # noqa: E402
from hosts.model import ObedientModel  # noqa: E402
from hosts.remembered import KEY, Hindsight  # noqa: E402

HOSTS = ("pi", "omp")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for a machine runs on both hosts, unless it says on which."""
    if "host" in metafunc.fixturenames:
        only = metafunc.definition.get_closest_marker("host")
        metafunc.parametrize("host", only.args if only else HOSTS)


@pytest.fixture
def model() -> Iterator[ObedientModel]:
    with ObedientModel() as server:
        yield server


@pytest.fixture
def machine(host: str, model: ObedientModel) -> Iterator[Machine]:
    # Not pytest's own folder: a tmux socket needs a short path.
    with tempfile.TemporaryDirectory(prefix=f"{host}-", ignore_cleanup_errors=True) as name:
        machine = Machine(host, Path(name).resolve(), model)
        yield machine
        eventually(lambda: nothing_left(machine))


def nothing_left(machine: Machine) -> bool:
    """Whether everything that a test started has ended. What it stopped cannot see that its host is gone."""
    left = machine.processes()
    for pid in left:
        if is_stopped(pid):
            os.kill(pid, signal.SIGKILL)
    return not left


@pytest.fixture(scope="session")
def hindsight() -> Iterator[Hindsight]:
    """A real server, started for this run."""
    with running_server(StopRequest()) as server:
        yield Hindsight(server.url, server.key)


@pytest.fixture
def gateway(hindsight: Hindsight, machine: Machine) -> Iterator[Gateway]:
    """A door before that server; the host's environment has its token."""
    machine.env[KEY] = hindsight.key
    with Gateway(hindsight.url) as door:
        yield door


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a test that is skipped fails the run (scripts/hosts)")


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--no-skips") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
