"""What the hosts' sessions leave on a real Hindsight server: the projection of the session, once, whatever happens."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hosts.gateway import Gateway
from hosts.machine import Machine, Rpc, eventually
from hosts.remembered import (
    BLOCK,
    Hindsight,
    Messages,
    arrives,
    blocks,
    hindbrain,
    jobs,
    new_bank,
    projected,
    remember,
    said,
    stored,
)
from hosts.test_sessions import LISTENER


def kept(machine: Machine, count: int) -> bool:
    """Whether so many turns stand on the disk."""
    return len(jobs(machine)) == count


def waiting(machine: Machine) -> int:
    """How many jobs wait, as the user is told."""
    count: int = hindbrain(machine, "queue", "status", "--host", machine.host)["waiting"]
    return count


def confirmed(machine: Machine) -> bool:
    """Whether the server has done all that it took, as the user is told after sending what is left."""
    report = hindbrain(machine, "queue", "flush", "--host", machine.host)
    return not (report["remaining"] or report["unconfirmed"])


def by_time(messages: Messages) -> Messages:
    """The messages of a document in the order in which they were said."""
    return sorted(messages, key=lambda message: str(message["timestamp"]))


def test_the_document_on_the_server_is_the_projection(machine: Machine, gateway: Gateway, hindsight: Hindsight) -> None:
    bank = new_bank()
    remember(machine, hindsight.settings(bank, gateway.url))
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("The pilot boat leaves at six.")
        rpc.prompt('CALL hindsight_recall {"query": "pilot boat"}')
        rpc.prompt("And when does it come back?")
    (session,) = machine.sessions()
    expected = projected(session)
    arrives(hindsight, bank, [expected])
    assert said(expected, "user") == [
        "The pilot boat leaves at six.",
        'CALL hindsight_recall {"query": "pilot boat"}',
        "And when does it come back?",
    ]
    assert said(expected, "assistant")[0] == "ok: The pilot boat leaves at six."
    assert "hindsight_recall" in json.dumps(expected)
    assert BLOCK not in json.dumps(expected)
    assert waiting(machine) == 0


@pytest.mark.req("S0-recall-001", "S0-recall-006", "S0-recall-008")
def test_a_prompt_asks_the_server_once_before_the_model_is_asked(
    machine: Machine, gateway: Gateway, hindsight: Hindsight
) -> None:
    bank = new_bank()
    remember(machine, hindsight.settings(bank, gateway.url))
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt("The pilot boat leaves at six.")
        eventually(lambda: hindsight.observed(bank))
        before = len(gateway.about("/recall"))
        rpc.request("new_session")
        rpc.prompt("When does the pilot boat leave?")
    assert len(gateway.about("/recall")) == before + 1
    (block,) = blocks(machine, "When does the pilot boat leave?")
    assert block.count(BLOCK) == 1
    assert "six" in block
    assert not [each for each in machine.sessions() if "hindsight-memory" in each.read_text("utf-8")]


def test_while_the_server_is_away_turns_are_kept_and_are_sent_when_it_is_back(
    machine: Machine, gateway: Gateway, hindsight: Hindsight, tmp_path: Path
) -> None:
    bank = new_bank()
    remember(machine, hindsight.settings(bank, gateway.url))
    heard = tmp_path / "heard.jsonl"
    (tmp_path / "listener.ts").write_text(LISTENER % json.dumps(str(heard)))
    with machine.rpc("-e", str(tmp_path / "listener.ts")) as rpc:
        rpc.started()
        gateway.down()
        for turn in range(1, 11):
            rpc.prompt(f"Ship number {turn} is at the quay.")
            eventually(partial(kept, machine, turn))
        asked = [
            event for line in heard.read_text().splitlines() if (event := json.loads(line))["phase"] == "retrieval"
        ]
        assert [event["status"] for event in asked] == ["error"] * 3
        assert hindsight.documents(bank) == []
        gateway.up()
        rpc.prompt("Which ships are at the quay?")
        (session,) = machine.sessions()
        arrives(hindsight, bank, [projected(session)])
    assert len(said(projected(session), "user")) == 11
    assert waiting(machine) == 0
    assert len(gateway.about("/recall")) == 1


def test_two_sessions_of_one_project_at_the_same_time_lose_nothing(
    machine: Machine, gateway: Gateway, hindsight: Hindsight
) -> None:
    bank = new_bank()
    remember(machine, hindsight.settings(bank, gateway.url))

    def talk(rpc: Rpc, name: str) -> None:
        for turn in range(6):
            rpc.prompt(f"{name} says {turn}.")

    with machine.rpc() as one, machine.rpc() as two, ThreadPoolExecutor(2) as pool:
        list(pool.map(Rpc.started, (one, two)))
        list(pool.map(talk, (one, two), ("Anna", "Bert")))
    # One of the two sends at a time; what the other had to leave at its end waits for the next session, or a command.
    # And the server may break off what it took of the one for the other: that comes later than what followed it.
    eventually(lambda: confirmed(machine), 60)
    expected = [projected(session) for session in machine.sessions()]
    assert sorted(map(by_time, stored(hindsight, bank)), key=str) == sorted(expected, key=str)
    assert sorted(said(each, "user") for each in expected) == [
        [f"{name} says {turn}." for turn in range(6)] for name in ("Anna", "Bert")
    ]
