"""The tools of memory on the real hosts: what each does for the model that calls it."""

import json
from typing import Any

import pytest
from hosts.machine import Machine, Rpc
from hosts.remembered import jobs, remember

pytestmark = pytest.mark.timeout(180)


@pytest.mark.req("S0-banks-013")
def test_each_tool_does_what_the_model_asks_for(machine: Machine) -> None:
    remember(machine)
    add_user_bank(machine)
    with machine.rpc() as rpc:
        rpc.started()
        asked = call(rpc, machine, "retain", content="The depot closes at six.", tags=["depot", "hours"])
        document = asked.partition("(document ")[2].partition(")")[0]
        call(rpc, machine, "retain", content="The depot has a dog.", tags=["dog"])
        call(rpc, machine, "retain_user", content="I prefer uv to pip.", tags=["tools"])
        found = call(rpc, machine, "recall", query="When does the depot close?")
        narrow = call(rpc, machine, "recall", query="the depot", tagGroups=[{"tags": ["dog"], "match": "any_strict"}])
        none = call(rpc, machine, "recall", query="the depot", minScores={"final": 1000})
        wrong = call(rpc, machine, "recall", query="the depot", tagGroups=[{"tag": "dog"}])
        status = call(rpc, machine, "status")
        kept_back = delete(rpc, machine, document, confirmed=False)
        again = call(rpc, machine, "recall", query="the depot", tagGroups=[{"tags": ["depot"]}])
        deleted = delete(rpc, machine, document, confirmed=True)
        gone = call(rpc, machine, "recall", query="the depot", tagGroups=[{"tags": ["depot"]}])
    assert [job["bankId"] for job in explicit(machine)][-1] == "user-a"
    assert {"depot", "hours"} <= set(explicit(machine)[0]["item"]["tags"])
    assert "closes at six" in found
    assert ("has a dog" in narrow, "closes at six" in narrow) == (True, False)
    assert none == "Nothing was found."
    assert wrong.count("tagGroups does not have its form") == wrong.count("Give a list of") == 1
    assert "reads     pi-project" in status
    assert "user-a" in status
    assert "did not confirm" in kept_back
    assert ("closes at six" in again, document in again) == (True, True)
    assert f"{document} was deleted" in deleted
    assert gone == "Nothing was found."


def add_user_bank(machine: Machine) -> None:
    """Give the user a bank of their own."""
    file = machine.installed.parents[1] / "hindbrain.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), "banks.user.bankId": "user-a"}), "utf-8")


def explicit(machine: Machine) -> list[dict[str, Any]]:
    """The jobs that a tool made."""
    return [job for job in jobs(machine) if job["item"]["metadata"]["retainSource"] != "auto"]


def call(rpc: Rpc, machine: Machine, name: str, **arguments: Any) -> str:
    """Let the model call a tool; return what it was told."""
    rpc.prompt(f"CALL hindsight_{name} {json.dumps(arguments)}")
    return result(machine)


def delete(rpc: Rpc, machine: Machine, document: str, *, confirmed: bool) -> str:
    """Let the model delete a document, and the user say yes or no."""
    rpc.request("prompt", message=f"CALL hindsight_delete_document {json.dumps({'documentId': document})}")
    asked = rpc.answer("confirm", confirmed=confirmed)
    assert document in json.dumps(asked)
    rpc.wait(rpc.is_settled)
    return result(machine)


def result(machine: Machine) -> str:
    """The newest tool result that the model was shown."""
    results = [message for message in machine.model.requests[-1]["messages"] if message["role"] == "tool"]
    content = results[-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
