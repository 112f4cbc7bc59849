"""Commands, questions and lists: what the sidecar asks of the host, in RPC mode and in a terminal."""

import json
from typing import Any

import pytest
from hosts.machine import Machine, Rpc, eventually
from hosts.terminal import Terminal


def asked(rpc: Rpc, args: str) -> Any:
    """What the host answered the sidecar, which repeats it."""
    shown = rpc.command(f"/hindsight {args}")
    return json.loads(shown.partition(": ")[2])


def test_a_command_shows_what_the_sidecar_says(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        assert rpc.command("/hindsight:queue") == "Nothing waits."
        assert rpc.command("/hindsight what").startswith("Say one of status, append")
        ask = {"pi": "get_commands", "omp": "get_available_commands"}[machine.host]
        (named,) = [c for c in rpc.request(ask)["commands"] if c["name"] == "hindsight"]
    assert named["description"] == "Does what its first word says"
    assert machine.calls("command/run")[1]["args"] == "what"


def test_a_command_whose_sidecar_ends_is_told_so(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        notes = [rpc.command("/hindsight exit"), str(rpc.wait(lambda f: f.get("method") == "notify")["message"])]
        rpc.prompt("go on")
    assert any(note.startswith("hindbrain: the memory process ended;") for note in notes)
    assert "/hindsight: Memory is gone: ended." in notes


def test_an_entry_is_appended_below_the_one_expected_and_not_on_another_branch(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("one")
        first = asked(rpc, "entries")
        appended = asked(rpc, f"append {first['leaf']}")
        refused = asked(rpc, "append ffffffff")
        rest = asked(rpc, f"entries {first['leaf']}")
        lost = asked(rpc, "entries ffffffff")
        rpc.prompt("two")
    assert (refused["code"], lost["code"]) == (-32805, -32805)
    (entry,) = rest["entries"]
    kept = {name: entry[name] for name in ("type", "customType", "data", "parentId", "id")}
    expected = {"type": "custom", "customType": "hindbrain.echo", "data": {"n": 1}, "parentId": first["leaf"]}
    assert kept == {**expected, "id": appended["id"]}
    assert (rest["leaf"], rest["more"]) == (appended["id"], False)
    roles = [e["message"]["role"] for e in first["entries"] if e["type"] == "message"]
    assert roles[-2:] == ["user", "assistant"]
    assert appended["id"] in machine.sessions()[-1].read_text("utf-8")


def test_the_sidecar_asks_the_user_through_the_host(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        rpc.send("prompt", message="/hindsight confirm")
        assert rpc.answer("confirm", confirmed=True)["title"] == "Sure?"
        assert shown(rpc) == {"yes": True}
        rpc.send("prompt", message="/hindsight select")
        question = rpc.answer("select", value="3. second")
        assert shown(rpc) == {"index": 2}
        rpc.send("prompt", message="/hindsight select")
        rpc.answer("select", cancelled=True)
        assert shown(rpc) == {"index": None}
        assert asked(rpc, "view") == {"key": None, "index": None}
    assert question["options"] == ["1. first 日本語", "2. second", "3. second"]


def test_the_sidecar_reaches_the_sessions_own_model(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        answer = asked(rpc, "complete say something")
        usage, memory = asked(rpc, "usage"), asked(rpc, "memory")
    assert answer["message"]["content"][0]["text"] == "ok: say something"
    assert answer["usage"]["output"] == 10
    (body,) = machine.model.requests
    assert next(message["content"] for message in body["messages"]) in (
        "Be brief.",
        [{"type": "text", "text": "Be brief."}],
    )
    assert usage["window"] == 128_000
    assert memory == {"backend": {"pi": None, "omp": "off"}[machine.host]}


def test_a_status_line_comes_and_goes(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        rpc.command("/hindsight status recalled 2")
        rpc.command("/hindsight status")
        lines = [f.get("statusText") for f in rpc.frames if f.get("method") == "setStatus"]
    assert [line for line in lines if line in ("recalled 2", None)][-2:] == ["recalled 2", None]


def test_in_a_terminal_arguments_are_completed_and_the_list_takes_keys(machine: Machine) -> None:
    machine.install()
    with machine.tui() as tui:
        ready(tui, machine)
        open_list(tui)
        assert any(call["prefix"] == "vi" for call in machine.calls("command/complete"))
        screen = tui.wait("f flush   enter open   esc close")
        assert "Echo" in screen
        assert "> first 日本語" in screen
        tui.press("Down")
        tui.wait("> second")
        tui.press("f")
        tui.wait('view: {"key": "f", "index": 1}')
        tui.say("and on")
        tui.wait("ok: and on")


def test_in_a_terminal_escape_closes_the_list(machine: Machine) -> None:
    machine.install()
    with machine.tui() as tui:
        ready(tui, machine)
        open_list(tui)
        tui.wait("esc close")
        tui.press("Escape")
        tui.wait('view: {"key": null, "index": null}')


@pytest.mark.parametrize("columns", [20, 7])
def test_the_list_is_never_wider_than_the_terminal(machine: Machine, columns: int) -> None:
    machine.install()
    with machine.tui() as tui:
        ready(tui, machine)
        open_list(tui)
        tui.wait("esc close")
        tui.resize(columns, 20)
        tui.wait("> first"[:columns])
        tui.resize(100, 30)
        tui.wait("esc close")
        tui.press("Escape")
        tui.wait('"index": null}')


def shown(rpc: Rpc) -> Any:
    note = str(rpc.wait(lambda frame: frame.get("method") == "notify")["message"])
    return json.loads(note.partition(": ")[2])


def ready(tui: Terminal, machine: Machine) -> None:
    """Wait until the host takes keys: its session has been opened and it shows its model."""
    eventually(lambda: machine.calls("session/open"), 30)
    tui.wait("obedient-1")


def open_list(tui: Terminal) -> None:
    """Run ``/hindsight view``, whose last letters come from the sidecar's completions."""
    tui.write("/hindsight vi")
    tui.wait("view")
    tui.press("Tab")
    tui.wait("/hindsight view")
    tui.press("Enter")
