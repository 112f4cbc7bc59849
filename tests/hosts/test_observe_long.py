"""Three hundred turns that are observed and compacted from memory, on the real hosts."""

import json
from collections.abc import Iterator

import pytest
from hosts.machine import Machine, Rpc
from hosts.model import text_of
from hosts.observing import entries, observed, rested
from hosts.workers import Workers

TURNS = 300
PLANTED = {
    3: ("critical", "user", "the user wants all times in UTC"),
    40: ("critical", "decision", "the quay is booked by the hour and never by the day"),
    120: ("high", "decision", "ships above nine metres berth at the north quay"),
}
FILLER = "The harbour office writes down every ship, its draught and the name of its master. " * 6


@pytest.fixture
def model() -> Iterator[Workers]:
    with Workers() as server:
        yield server


def said(turn: int) -> str:
    """What the user says in a turn, with the fact that is planted there."""
    fact = "FACT {} {}: {}".format(*PLANTED.get(turn, ("low", "fact", f"ship-{turn:03d} lies in the harbour")))
    return f"Turn {turn}. {FILLER}\n{fact}"


def talk(rpc: Rpc, machine: Machine, turns: range) -> None:
    """Some turns; omp compacts where it has a moment of rest, which nobody who types denies it."""
    for turn in turns:
        rpc.prompt(said(turn))
        if machine.host == "omp" and turn % 40 == 39:
            rested(machine, turn // 40 + 1)


def summaries(model: Workers) -> list[str]:
    """The memory that each request of the session shows, "" where it shows none."""
    shown = []
    for body in model.requests:
        texts = [text_of(message) for message in body["messages"] if message["role"] != "system"]
        shown.append(next((text for text in texts if "<memory>" in text), ""))
    return shown


@pytest.mark.timeout(240)
@pytest.mark.req("S4-lifecycle-002", "S4-lifecycle-009", "S4-compaction-004", "S4-compaction-006")
def test_three_hundred_turns_are_compacted_from_memory_and_lose_nothing(machine: Machine, model: Workers) -> None:
    observed(machine)
    with machine.rpc() as rpc:
        rpc.started()
        talk(rpc, machine, range(TURNS))
        (session,) = machine.sessions()
        compactions = entries(session, "compaction")
        (record,) = {
            each["id"]
            for entry in entries(session, "om.observations.recorded")
            for each in entry["data"]["observations"]
            if each["content"] == PLANTED[3][2]
        }
        rpc.prompt(f'CALL om_recall {{"id": "{record}"}}')
    assert len(compactions) >= 5
    assert all(each["details"]["type"] == "om.folded" for each in compactions)
    assert all("<memory>" in each["summary"] for each in compactions)
    last = summaries(model)[-1]
    for relevance, _, text in PLANTED.values():
        assert relevance != "critical" or text in last
    recalled = text_of(model.requests[-1]["messages"][-1])
    assert "Turn 3." in recalled
    assert model.asked["observer"] > 5
    assert model.asked["reflector"] > 0
    assert max(len(json.dumps(body["messages"])) for body in model.requests[30:]) < 60_000
