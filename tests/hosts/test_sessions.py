"""Sessions that replace one another, copies of us, and subagents: one sidecar, one block, one owner."""

import json
import shutil
from pathlib import Path

import pytest
from hosts.machine import Machine, Rpc, eventually, is_alive
from hosts.model import text_of
from hosts.remembered import remember

BLOCK = "<hindsight-memory>"
LISTENER = """
import { appendFileSync } from "node:fs";
export default (host: { events: { on(channel: string, heard: (data: unknown) => void): void } }) =>
  host.events.on("hindsight:retrieval", (data) => appendFileSync(%s, JSON.stringify(data) + "\\n"));
"""


def blocks(machine: Machine, text: str) -> list[int]:
    """How many blocks each request of an agent about a text has; omp also asks for labels, without tools."""
    return [
        sum(text_of(message).count(BLOCK) for message in body["messages"] if message["role"] == "user")
        for body in machine.model.about(text)
        if body.get("tools")
    ]


def switch(rpc: Rpc, machine: Machine, how: str) -> None:
    """Replace the session in one of the ways a host has."""
    if how == "new":
        rpc.request("new_session")
    elif how == "resume":
        rpc.request("switch_session", sessionPath=str(machine.sessions()[0]))
    else:
        entries = [json.loads(line) for line in machine.sessions()[-1].read_text("utf-8").splitlines()]
        users = [entry["id"] for entry in entries if entry.get("message", {}).get("role") == "user"]
        rpc.request("fork" if machine.host == "pi" else "branch", entryId=users[-1])


@pytest.mark.parametrize("how", ["new", "resume", "fork"])
def test_a_replaced_session_keeps_the_process_of_the_sidecar(machine: Machine, how: str) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("the first question")
        switch(rpc, machine, "new")
        rpc.prompt("the second question")
        if how != "new":
            switch(rpc, machine, how)
            rpc.prompt("the third question")
        (pid,) = machine.pids()
        assert is_alive(pid)
    asked = machine.calls("session/context")
    opened = {call["session"] for call in machine.calls("session/open")}
    expected = {"new": 2, "resume": 2, "fork": 3}[how]
    assert len({call["session"] for call in asked}) == len(opened) == expected
    assert blocks(machine, "the second question")[-1] == 1
    assert len(machine.calls("shutdown")) == 1


def test_what_a_new_session_offers_is_there_at_once(machine: Machine) -> None:
    machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        switch(rpc, machine, "new")
        rpc.prompt('CALL hindsight_echo {"text": "x"}')
        assert "Nothing waits." in rpc.command("/hindsight:queue")
    assert len(machine.calls("initialize")) == 1
    assert "py:x" in str(machine.model.requests[-1]["messages"])


def test_two_copies_are_one(machine: Machine, tmp_path: Path) -> None:
    machine.install()
    copy = machine.install(folder=tmp_path / "copy")
    with machine.rpc("-e", str(copy)) as rpc:
        rpc.started()
        rpc.prompt("how many?")
        assert "Nothing waits." in rpc.command("/hindsight:queue")
    assert blocks(machine, "how many?") == [1]
    declared = [tool["function"]["name"] for tool in machine.model.requests[0]["tools"]]
    assert declared.count("hindsight_echo") == 1
    assert len(machine.pids()) == len(machine.calls("session/settled")) == 1


def test_the_same_copy_twice_is_one(machine: Machine) -> None:
    folder = machine.install()
    machine.print("how many?", "-e", str(folder))
    assert blocks(machine, "how many?") == [1]
    assert len(machine.pids()) == len(machine.calls("session/settled")) == 1


def test_a_second_extension_hears_what_the_sidecar_emits(machine: Machine, tmp_path: Path) -> None:
    machine.install()
    heard = tmp_path / "heard.jsonl"
    (tmp_path / "listener.ts").write_text(LISTENER % json.dumps(str(heard)))
    with machine.rpc("-e", str(tmp_path / "listener.ts")) as rpc:
        rpc.started()
        rpc.command("/hindsight emit retrieval")
        eventually(heard.exists)
    assert json.loads(heard.read_text()) == {"phase": "retrieval"}


@pytest.mark.req("S0-telemetry-015")
def test_a_second_extension_hears_of_each_retrieval(machine: Machine, tmp_path: Path) -> None:
    remember(machine)
    machine.print("Our releases go out on Tuesdays because of the harbour office.")
    heard = tmp_path / "heard.jsonl"
    (tmp_path / "listener.ts").write_text(LISTENER % json.dumps(str(heard)))
    with machine.rpc("-e", str(tmp_path / "listener.ts")) as rpc:
        rpc.started()
        rpc.prompt("On which days do our releases go out?")
        eventually(heard.exists)
    phases = [json.loads(line)["phase"] for line in heard.read_text().splitlines()]
    assert "retrieval" in phases


@pytest.mark.host("omp")
def test_subagents_share_the_sidecar_and_are_told_apart(machine: Machine) -> None:
    machine.install()
    task = {"agent": "task", "context": "c", "tasks": [{"name": "One", "task": "SUBTASK look"}]}
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt(f"CALL task {json.dumps(task)}")
        rpc.prompt("and then?")
    assert len(machine.pids()) == 1
    kinds = {call["session"]: call["kind"] for call in machine.calls("session/open")}
    assert sorted(kinds.values()) == ["main", "sub"]
    settled = [kinds[call["session"]] for call in machine.calls("session/settled")]
    assert sorted(settled) == ["main", "main", "sub"]
    closed = [kinds[call["session"]] for call in machine.calls("session/close")]
    assert closed == ["sub", "main"]
    assert set(blocks(machine, "SUBTASK look")) == {1}


@pytest.mark.host("pi")
def test_a_reload_keeps_the_sidecar(machine: Machine) -> None:
    machine.install()
    with machine.tui() as tui:
        eventually(lambda: machine.calls("session/open"), 30)
        tui.say("/reload")
        eventually(lambda: len(machine.calls("session/open")) == 2, 30)
        tui.say("still there?")
        tui.wait("ok: still there?")
    assert len(machine.pids()) == 1
    assert blocks(machine, "still there?") == [1]


def test_an_extension_that_was_replaced_while_the_host_ran_ends_nothing(machine: Machine) -> None:
    folder = machine.install()
    with machine.rpc() as rpc:
        rpc.started()
        shutil.rmtree(folder)
        rpc.prompt("are you there?")
    assert blocks(machine, "are you there?") == [1]
