"""One turn on the real hosts: what the model is shown, what the session keeps, what the sidecar is told."""

import json
from typing import Any

import pytest
from hosts.machine import Machine
from hosts.model import text_of

BLOCK = "<hindsight-memory>"


@pytest.mark.req("S0-recall-006", "S0-recall-008")
def test_a_patch_reaches_the_model_and_never_the_session_file(machine: Machine) -> None:
    machine.install()
    assert "ok: where do the tests live?" in machine.print("where do the tests live?")
    (body,) = machine.model.about("where do the tests live?")
    shown = [text_of(message) for message in body["messages"] if message["role"] == "user"]
    assert [text.count(BLOCK) for text in shown] == [1, 0]
    assert "echoes 'where do the tests live?'" in shown[0]
    (session,) = machine.sessions()
    assert "where do the tests live?" in session.read_text("utf-8")
    assert "hindsight-memory" not in session.read_text("utf-8")


def test_the_sidecar_is_told_where_the_session_lies_and_what_was_asked(machine: Machine) -> None:
    machine.install()
    machine.print("where do the tests live?")
    (hello,), (opened,), (asked,), (settled,) = map(
        machine.calls, ("initialize", "session/open", "session/context", "session/settled")
    )
    assert (hello["protocol"], hello["host"], hello["shim"]) == (1, machine.host, "0")
    assert (hello["hostVersion"], hello["agentDir"]) == (version_of(machine), str(machine.installed.parents[1]))
    (session,) = machine.sessions()
    for told in (opened, asked, settled):
        assert (told["session"], told["file"]) == (opened["session"], str(session))
    facts = {name: opened[name] for name in ("cwd", "mode", "ui", "kind", "reason")}
    assert facts == {"cwd": str(machine.project), "mode": "print", "ui": False, "kind": "main", "reason": "startup"}
    assert text_of(asked["user"]) == "where do the tests live?"
    assert settled["outcome"] == "completed"
    entries = [json.loads(line) for line in session.read_text("utf-8").splitlines()]
    assert settled["leaf"] in [entry.get("id") for entry in entries]


def test_the_end_of_a_session_is_told_and_ends_the_sidecar(machine: Machine) -> None:
    machine.install()
    machine.print("hello there")
    kinds = [e["frame"].get("method") for e in machine.events("frame")]
    assert kinds[-2:] == ["session/close", "shutdown"]
    assert len(machine.events("eof")) == len(machine.pids()) == 1


def test_a_tool_with_a_schema_from_python_is_called_and_its_failure_is_a_result(machine: Machine) -> None:
    machine.install()
    assert "tool said: py:abab" in machine.print('CALL hindsight_echo {"text": "ab", "times": "2"}')
    first = machine.model.requests[0]
    (declared,) = [tool for tool in first["tools"] if tool["function"]["name"] == "hindsight_echo"]
    assert declared["function"]["parameters"]["properties"]["text"]["type"] == "string"
    (called,) = machine.calls("tool/call")
    assert called["arguments"] == {"text": "ab", "times": 2}
    assert "broken on purpose" in machine.print('CALL hindsight_echo {"text": "error"}')


def test_behind_a_tool_call_the_block_stands_where_it_stood(machine: Machine) -> None:
    machine.install()
    machine.print('CALL hindsight_echo {"text": "x"}')
    first, second = (body["messages"] for body in machine.model.about("CALL hindsight_echo"))
    assert second[: len(first)] == first


def version_of(machine: Machine) -> Any:
    from _pinned.settings import VERSIONS

    return VERSIONS[machine.host]
