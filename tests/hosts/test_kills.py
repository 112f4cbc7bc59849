"""The sidecar or the host is killed at any moment: the turn goes on, nothing is lost, and nothing is kept twice."""

import sys
from pathlib import Path

import pytest
from hosts.kept import said, twice_or_never
from hosts.machine import Machine, Rpc, eventually
from hosts.remembered import jobs, remember

pytestmark = pytest.mark.timeout(180)

KILLED = Path(__file__).with_name("killed_sidecar.py")
TOOL = "CALL hindsight_status {}"


def deadly(machine: Machine) -> Path:
    """Install the real sidecar in a form that can be told where to die; return the file that tells it."""
    remember(machine)
    file = machine.root / "dies"
    machine.install_command([sys.executable, "-I", str(KILLED), machine.host, str(file)])
    return file


@pytest.mark.parametrize("event", ["session/open", "session/context", "session/settled", "tool/call", "command/run"])
def test_a_sidecar_killed_at_an_event_costs_no_turn_and_nothing_twice(machine: Machine, event: str) -> None:
    file = deadly(machine)
    with machine.rpc() as rpc:
        rpc.started()
        for when in ("before", "after"):
            rpc.prompt(f"This was said {when} the kill.")
            file.write_text(f"{event} {when}")
            # A sidecar that was killed twice comes back after a second; till then nothing meets the call.
            eventually(lambda: step(rpc, event) and not file.exists())
            rpc.prompt(f"And it went on, {when}.")
            assert f"ok: And it went on, {when}." in said(machine)
            eventually(lambda: remembers(rpc, machine))
    assert twice_or_never(machine) == {}


def step(rpc: Rpc, event: str) -> bool:
    """Do something in which a call happens."""
    if event == "session/open":
        rpc.request("new_session")
    elif event == "command/run":
        rpc.command("/hindsight:queue")
    else:
        rpc.prompt(TOOL if event == "tool/call" else f"Number {len(rpc.frames)} is said.")
    return True


def remembers(rpc: Rpc, machine: Machine) -> bool:
    """Whether memory is back: the model is shown something again."""
    rpc.prompt(f"What was said of the kill, after {len(rpc.frames)} frames?")
    return "<hindsight-memory>" in str(machine.model.requests[-1])


@pytest.mark.parametrize("event", ["session/settled", "session/close"])
def test_a_sidecar_killed_at_the_end_of_a_host_has_kept_the_turn(machine: Machine, event: str) -> None:
    file = deadly(machine)
    for number, when in enumerate(("before", "after")):
        file.write_text(f"{event} {when}")
        more = ["--continue"] if number else []
        assert f"ok: The end came {when} it." in machine.print(f"The end came {when} it.", *more)
        assert not file.exists()
        assert f"The end came {when} it." in str(jobs(machine))
    machine.print("And that was all.", "--continue")
    assert twice_or_never(machine) == {}


@pytest.mark.parametrize("moment", ["at the model", "behind a tool"])
def test_a_host_killed_in_the_middle_of_a_turn_loses_nothing_when_it_is_resumed(machine: Machine, moment: str) -> None:
    remember(machine)
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("The first turn is over.")
        machine.model.hold(1 if moment == "at the model" else 2)
        rpc.request("prompt", message=TOOL)
        machine.model.held()
        rpc.kill()
        machine.model.release()
    before = said(machine)
    machine.print("The host was killed and is back.", "--continue")
    assert before | {"The host was killed and is back."} <= said(machine)
    assert twice_or_never(machine) == {}
    assert str(jobs(machine)).count("hindsight_status") <= 1
