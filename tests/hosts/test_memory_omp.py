"""What only omp has: subagents in its process, and its own names for files and tags."""

import json

import pytest
from hosts.gateway import Gateway
from hosts.machine import Machine, eventually
from hosts.remembered import BLOCK, Hindsight, arrives, blocks, new_bank, projected, remember, said, state

pytestmark = pytest.mark.host("omp")


def test_subagents_neither_lose_nor_repeat(machine: Machine, gateway: Gateway, hindsight: Hindsight) -> None:
    bank = new_bank()
    remember(machine, hindsight.settings(bank, gateway.url))
    work = [{"name": name, "task": f"SUBTASK look at {name}"} for name in ("Anchor", "Beacon")]
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("Two buoys need paint.")
        rpc.prompt(f"CALL task {json.dumps({'agent': 'task', 'context': 'c', 'tasks': work})}")
        rpc.prompt("And what did they see?")
    expected = [projected(each) for each in machine.sessions()]
    arrives(hindsight, bank, expected)
    (main,) = [each for each in expected if "Two buoys need paint." in said(each, "user")]
    assert said(main, "user")[::2] == ["Two buoys need paint.", "And what did they see?"]
    for task in work:
        (sub,) = [each for each in expected if each is not main and str(task["task"]) in json.dumps(each)]
        assert json.dumps(sub).count(str(task["task"])) == 1


@pytest.mark.req("S0-scopes-031")
def test_what_omp_retained_for_the_user_omp_recalls(machine: Machine, gateway: Gateway, hindsight: Hindsight) -> None:
    settings = hindsight.settings(new_bank(), gateway.url)
    settings["banks"]["user"] = {"bankId": (person := new_bank())}
    remember(machine, settings)
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt('CALL hindsight_retain_user {"content": "The user sails a yawl called Merle."}')
    eventually(lambda: hindsight.observed(person))
    (machine.home / "elsewhere" / ".git").mkdir(parents=True)
    machine.project = machine.home / "elsewhere"
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("Which yawl does the user sail?")
    (block,) = blocks(machine, "Which yawl does the user sail?")
    assert "Merle" in block


@pytest.mark.req("S0-snapshot-003")
def test_the_last_recall_is_stored_in_the_folder_of_omp(machine: Machine) -> None:
    remember(machine, {"backend": "local", "recall": {"storeLastRecall": True}})
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("Our harbour has two tugs.")
        rpc.request("new_session")
        rpc.prompt("How many tugs has our harbour?")
    assert state(machine) == machine.project / ".omp" / "hindsight"
    stored = json.loads((state(machine) / "last-recall.json").read_text("utf-8"))
    assert "two tugs" in json.dumps(stored)
    assert BLOCK in blocks(machine, "How many tugs has our harbour?")[-1]
