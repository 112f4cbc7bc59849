"""How a sidecar ends: with its input, with its parent, and for nothing else; and what is done before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bridge.conftest import Process, Start

APP = Path(__file__).with_name("app.py")


def until_there(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} never came"
        time.sleep(0.002)


def until_gone(pid: int) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < deadline, f"process {pid} never ended"
        time.sleep(0.002)


def begin(sidecar: Process, folder: Path, method: str) -> None:
    sidecar.initialize()
    sidecar.send(1, method)
    until_there(folder / "begun")


def test_the_end_of_its_input_is_the_stop(start: Start, tmp_path: Path) -> None:
    sidecar = start()
    sidecar.initialize()
    sidecar.ask(1, "echo")
    assert sidecar.end() == (0, b"")
    assert (tmp_path / "shutdowns").read_text() == "one\n"


def test_a_host_that_asked_for_the_shutdown_gets_only_one(start: Start, tmp_path: Path) -> None:
    sidecar = start()
    sidecar.initialize()
    assert sidecar.ask(1, "shutdown") == {}
    assert sidecar.end() == (0, b"")
    assert (tmp_path / "shutdowns").read_text() == "one\n"


@pytest.mark.parametrize("begun", [False, True], ids=["before-initialize", "while-loading"])
def test_an_end_before_the_application_is_there_ends_it_too(start: Start, tmp_path: Path, *, begun: bool) -> None:
    sidecar = start("slow")
    if begun:
        sidecar.initialize()
        until_there(tmp_path / "modules")
        (tmp_path / "go").touch()
    assert sidecar.end()[1] == b""


def test_a_request_that_runs_at_the_end_is_finished_and_answered(start: Start, tmp_path: Path) -> None:
    sidecar = start()
    begin(sidecar, tmp_path, "wait")
    code, rest = sidecar.end()
    assert (code, rest) == (0, b'{"jsonrpc":"2.0","id":1,"result":{"done":true}}\n')
    assert (tmp_path / "finished").exists()


def test_a_request_that_takes_longer_is_cancelled_and_can_commit(start: Start, tmp_path: Path) -> None:
    sidecar = start()
    begin(sidecar, tmp_path, "commit")
    assert sidecar.end()[0] == 0
    assert (tmp_path / "committed").exists()
    assert (tmp_path / "shutdowns").exists()


@pytest.mark.parametrize("method", ["hang", "thread"])
def test_nothing_that_hangs_keeps_it(start: Start, tmp_path: Path, method: str) -> None:
    sidecar = start()
    begin(sidecar, tmp_path, method)
    sidecar.end()
    assert (tmp_path / "shutdowns").exists()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_changes_nothing(start: Start, name: str) -> None:
    sidecar = start()
    sidecar.initialize()
    for number in (1, 2):
        sidecar.child.send_signal(getattr(signal, name))
        assert sidecar.ask(number, "echo", n=number) == {"n": number}
    assert sidecar.end() == (0, b"")


PARENT = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdin=int(sys.argv[1]) if sys.argv[1] != "-" else subprocess.PIPE)
print(child.pid, flush=True)
sys.stdin.read()
"""


def parent_of(sidecar: list[str], descriptor: int | None) -> list[str]:
    return [sys.executable, "-I", "-c", PARENT, "-" if descriptor is None else str(descriptor), *sidecar]


def test_a_parent_that_is_killed_takes_it_along(start: Start, tmp_path: Path) -> None:
    del start  # it has written the data file
    run = parent_of([sys.executable, "-I", str(APP), str(tmp_path)], None)
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
        until_gone(pid)


@pytest.mark.parametrize("method", ["wait", "block"])
def test_a_killed_parent_is_noticed_where_another_holds_the_input_open(
    start: Start, tmp_path: Path, method: str
) -> None:
    del start
    theirs, ours = os.pipe()
    os.set_inheritable(theirs, True)  # noqa: FBT003
    run = parent_of([sys.executable, "-I", str(APP), str(tmp_path)], theirs)
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.write(ours, b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":1}}\n')
        assert b'"protocol":1' in parent.stdout.readline()
        os.write(ours, b'{"jsonrpc":"2.0","id":2,"method":"%s"}\n' % method.encode())
        until_there(tmp_path / "begun")
        parent.kill()
        until_gone(pid)
    assert (tmp_path / "finished").exists() == (tmp_path / "shutdowns").exists() == (method == "wait")
    os.close(theirs)
    os.close(ours)
