"""The user's abort on the real hosts reaches the sidecar as a cancellation and is nobody's error."""

import pytest
from hosts.machine import Machine, eventually
from hosts.test_surfaces import ready


@pytest.mark.host("pi")
def test_an_abort_over_rpc_cancels_what_memory_is_doing(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        rpc.request("prompt", message="HANG on this")
        eventually(lambda: machine.events("hangs"))
        rpc.send("abort")
        rpc.wait(rpc.is_settled)
        eventually(lambda: machine.events("cancelled"))
        rpc.prompt("and then?")
    assert machine.model.about("HANG on this") == machine.model.about("and then?")
    outcomes = [call["outcome"] for call in machine.calls("session/settled")]
    assert outcomes == ["aborted", "completed"]
    assert [f for f in rpc.frames if f.get("type") == "extension_error" or f.get("method") == "notify"] == []


@pytest.mark.req("S0-abort-007", "S0-abort-009")
def test_escape_in_a_terminal_cancels_what_memory_is_doing(machine: Machine) -> None:
    machine.install()
    with machine.tui() as tui:
        ready(tui, machine)
        tui.say("HANG on this")
        eventually(lambda: machine.events("hangs"))
        tui.press("Escape")
        eventually(lambda: machine.events("cancelled"), 5)
        eventually(lambda: machine.calls("session/settled"))
        tui.say("and then?")
        screen = tui.wait("ok: and then?")
    assert "xtension" not in screen
    assert "hindbrain" not in screen
    assert machine.calls("session/settled")[0]["outcome"] == "aborted"
    assert len(machine.pids()) == 1


def test_an_abort_cancels_a_tool_of_memory(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        rpc.request("prompt", message='CALL hindsight_echo {"text": "hang"}')
        eventually(lambda: machine.events("hangs"))
        rpc.send("abort")
        rpc.wait(rpc.is_settled)
        eventually(lambda: machine.events("cancelled"), 5)
        rpc.prompt("and then?")
    assert [call["outcome"] for call in machine.calls("session/settled")] == ["aborted", "completed"]
    assert len(machine.pids()) == 1
