"""Whatever is wrong with the sidecar, a turn on the real hosts goes as it goes without us."""

import os
import shutil
import signal
import time
from typing import Any

import pytest
from hosts.machine import Machine, eventually, is_alive


def goes_on(machine: Machine, text: str = "go on") -> None:
    """A turn is answered, and the model was shown nothing of ours."""
    assert f"ok: {text}" in machine.print(text)
    assert not machine.model.about("hindsight-memory")


@pytest.mark.parametrize(
    "command",
    [["/nowhere/python", "-m", "x"], ["/bin/false"], ["/bin/true"], ["/bin/cat", "/dev/null"]],
    ids=["missing", "fails", "ends", "no output"],
)
def test_a_command_that_is_no_sidecar_leaves_the_turn_alone(machine: Machine, command: list[str]) -> None:
    machine.install_command(command)
    goes_on(machine)


@pytest.mark.parametrize("how", ["hang", "exit", "garbage", "stop", "protocol"])
def test_a_sidecar_that_does_not_greet_leaves_the_turn_alone(machine: Machine, how: str) -> None:
    machine.install({"initialize": how})
    goes_on(machine)


@pytest.mark.parametrize("how", ["hang", "exit", "garbage", "huge", "error", "stop"])
def test_a_sidecar_that_fails_in_the_context_leaves_the_turn_alone(machine: Machine, how: str) -> None:
    machine.install({"context": how})
    goes_on(machine)


def test_a_sidecar_that_speaks_another_protocol_is_told_in_one_line_and_not_started_again(machine: Machine) -> None:
    machine.install({"initialize": "protocol"})
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("one")
        rpc.prompt("two")
        notes = [str(frame["message"]) for frame in rpc.frames if frame.get("method") == "notify"]
    assert [note for note in notes if "hindbrain" in note] == [
        (
            "hindbrain: memory is off, for the extension and the memory process are of different versions. "
            f'Run "hindbrain install {machine.host}" again.'
        )
    ]
    assert len(machine.pids()) == 1


def test_a_sidecar_that_ends_is_started_again_and_knows_its_session(machine: Machine) -> None:
    machine.install({"context": "exit", "once": True})
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("one")
        eventually(lambda: "<hindsight-memory>" in str(prompted(rpc, machine, "again")))
    first, *later = machine.pids()
    assert len(later) == 1
    assert first not in later
    opened = [e["frame"]["params"]["session"] for e in machine.events("frame") if is_open(e) and e["pid"] == later[0]]
    assert len(opened) == 1


def test_a_sidecar_that_stands_still_is_replaced(machine: Machine) -> None:
    machine.install({"context": "stop", "once": True})
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("one")
        eventually(lambda: "<hindsight-memory>" in str(prompted(rpc, machine, "again")), 40)
    assert not is_alive(machine.pids()[0])


def test_a_sidecar_that_always_ends_is_given_up(machine: Machine) -> None:
    machine.install({"context": "exit"})
    with machine.rpc() as rpc:
        rpc.started()

        def told() -> list[str]:
            rpc.prompt("again")
            notes = [str(frame["message"]) for frame in rpc.frames if frame.get("method") == "notify"]
            return [note for note in notes if "5 times; memory is off for some minutes" in note]

        eventually(told, 60)
        # Longer than a sixth start would have to wait for.
        until = time.monotonic() + 10
        while time.monotonic() < until:
            rpc.prompt("more")
    assert len(machine.pids()) == 5


def test_files_that_are_missing_or_broken_register_nothing(machine: Machine) -> None:
    folder = machine.install()
    (folder / "shim.json").write_text("{")
    goes_on(machine)
    (folder / "shim.json").unlink()
    goes_on(machine)
    assert machine.pids() == []


def test_a_home_that_is_gone_does_not_stop_the_host(machine: Machine) -> None:
    machine.install_command([str(machine.root / "venv" / "bin" / "python"), "-I", "-m", f"hindbrain.{machine.host}"])
    shutil.rmtree(machine.root / "venv", ignore_errors=True)
    goes_on(machine)


def test_when_the_host_is_killed_the_sidecar_goes(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("one")
        (pid,) = machine.pids()
        rpc.kill()
        eventually(lambda: not is_alive(pid), 5)
    assert len(machine.events("eof")) == 1


def test_signals_to_the_whole_group_do_not_end_the_sidecar_before_the_host(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("one")
        (pid,) = machine.pids()
        os.kill(pid, signal.SIGTERM)
        os.kill(pid, signal.SIGINT)
        rpc.prompt("two")
    assert machine.pids() == [pid]
    assert len(machine.calls("session/settled")) == 2


def is_open(event: Any) -> bool:
    return bool(event["frame"].get("method") == "session/open")


def prompted(rpc: Any, machine: Machine, text: str) -> Any:
    """The last request after a prompt."""
    rpc.prompt(text)
    return machine.model.requests[-1]
