"""What observation does on the real hosts when something is in its way: gate, branches, kills, a model that is down."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts.machine import Machine, Rpc, eventually
from hosts.observing import compacted, entries, observed, rested
from hosts.remembered import sidecars
from hosts.test_branches import WALK, messages, walk
from hosts.workers import Workers

pytestmark = pytest.mark.timeout(180)

FILLER = "The harbour office writes down every ship, its draught and the name of its master. " * 8


@pytest.fixture
def model() -> Iterator[Workers]:
    with Workers() as server:
        yield server


def talk(rpc: Rpc, turns: range, where: str = "harbour", relevance: str = "medium") -> set[str]:
    """Some turns, each with a fact; the facts."""
    facts = [f"ship-{turn:03d} lies in the {where}" for turn in turns]
    for fact in facts:
        rpc.prompt(f"{FILLER}\nFACT {relevance} fact: {fact}")
    return set(facts)


def session_of(machine: Machine) -> Path:
    (session,) = machine.sessions()
    return session


def recorded(machine: Machine) -> list[str]:
    """What the observations of the session say, in the order of the file."""
    found = entries(session_of(machine), "om.observations.recorded")
    return [each["content"] for entry in found for each in entry["data"]["observations"]]


def ledger(machine: Machine) -> list[str]:
    """The kinds of the ledger's entries."""
    kinds = (entry.get("customType") or "" for entry in entries(session_of(machine), "custom"))
    return [kind for kind in kinds if kind.startswith("om.")]


def test_a_passive_session_starts_nothing_and_the_commands_work(machine: Machine, model: Workers) -> None:
    observed(machine, passive=True)
    with machine.rpc() as rpc:
        rpc.started()
        facts = talk(rpc, range(40))
        assert ledger(machine) == []
        assert sum(model.asked.values()) == 0
        assert compacted(machine) == 0
        assert "Consolidated" in rpc.command("/om consolidate")
        assert set(recorded(machine)) <= facts
        assert recorded(machine)
        assert "Compacted from memory" in rpc.command("/om compact")
    assert compacted(machine) == 1


@pytest.mark.req("S4-gate-002", "S4-gate-003", "S4-gate-005")
def test_a_gate_that_is_off_stays_off_on_its_branch_and_over_a_resume(machine: Machine, model: Workers) -> None:
    observed(machine)
    with machine.rpc() as rpc:
        rpc.started()
        talk(rpc, range(2))
        assert "off" in rpc.command("/om off")
        talk(rpc, range(2, 40))
        assert ledger(machine) == ["om.gate"]
        assert compacted(machine) == 0
    session = session_of(machine)
    with machine.rpc("--session" if machine.host == "pi" else "--resume", str(session)) as rpc:
        rpc.started()
        talk(rpc, range(40, 50))
        assert "off" in rpc.command("/om")
        assert ledger(machine) == ["om.gate"]
        assert "on" in rpc.command("/om on")
        talk(rpc, range(50, 60))
        eventually(lambda: recorded(machine))
    assert model.asked["observer"] > 0


@pytest.mark.req("S4-gate-002")
def test_the_ledger_follows_the_branch(machine: Machine, tmp_path: Path) -> None:
    observed(machine)
    done = tmp_path / "walked"
    (tmp_path / "walk.ts").write_text(WALK % str(done))
    with machine.rpc("-e", str(tmp_path / "walk.ts")) as rpc:
        rpc.started()
        talk(rpc, range(20), "harbour")
        eventually(lambda: len(recorded(machine)) > 5)
        session = session_of(machine)
        walk(rpc, messages(session, "assistant")[2], done)
        talk(rpc, range(20, 50), "bay")
        eventually(lambda: sum("bay" in each for each in recorded(machine)) > 20)
    read = {entry["id"]: entry for entry in entries(session, "") if "id" in entry}
    for entry in entries(session, "om.observations.recorded"):
        above = set()
        at = entry["parentId"]
        while at is not None:
            above.add(at)
            at = read[at].get("parentId") if at in read else None
        cited = {source for each in entry["data"]["observations"] for source in each["sourceEntryIds"]}
        assert cited | {entry["data"]["coversUpToId"]} <= above


@pytest.mark.parametrize("worker", ["observer", "reflector", "dropper"])
def test_a_sidecar_killed_at_a_worker_loses_nothing(machine: Machine, model: Workers, worker: str) -> None:
    observed(machine, observationsPoolMaxTokens=400)
    with machine.rpc() as rpc:
        rpc.started()
        model.hold_worker(worker)
        facts: set[str] = set()
        for begin in range(0, 60, 3):
            facts |= talk(rpc, range(begin, begin + 3), relevance="low")
            if model.reached():
                break
        eventually(model.reached)
        (pid,) = sidecars(machine)
        os.kill(pid, signal.SIGKILL)
        model.release_worker()
        lost = set(facts)
        for begin in range(60, 140, 5):
            facts |= talk(rpc, range(begin, begin + 5), relevance="low")
            if lost <= set(recorded(machine)):
                break
    found = recorded(machine)
    assert set(found) <= facts
    last = max(int(each[5:8]) for each in found)
    assert {each for each in facts if int(each[5:8]) <= last} == set(found)


def test_while_the_workers_model_is_down_turns_go_on_and_later_nothing_was_skipped(
    machine: Machine, model: Workers
) -> None:
    observed(machine)
    with machine.rpc() as rpc:
        rpc.started()
        model.down = True
        facts = talk(rpc, range(20))
        eventually(lambda: model.missed > 0)
        assert recorded(machine) == []
        model.down = False
        # A run looks at one chunk, and each begins with a turn: the backlog drains over the turns that follow.
        for begin in range(20, 140, 5):
            facts |= talk(rpc, range(begin, begin + 5))
            if len(set(recorded(machine))) > 40:
                break
    found = recorded(machine)
    last = max(int(each[5:8]) for each in found)
    assert {each for each in facts if int(each[5:8]) <= last} == set(found)


@pytest.mark.req("S4-compaction-017")
def test_a_silence_compacts(machine: Machine) -> None:
    observed(machine, compactAfterTokens=100_000, idleCompactionTtl=1, idleCompactionMinTokens=1000)
    with machine.rpc() as rpc:
        rpc.started()
        talk(rpc, range(15))
        eventually(lambda: recorded(machine))
        rpc.prompt("And that was the last ship.")
        rested(machine, 1)
        (compaction,) = entries(session_of(machine), "compaction")
        assert compaction["details"]["type"] == "om.folded"


def test_a_host_without_a_sidecar_compacts_in_its_own_way(machine: Machine) -> None:
    observed(machine)
    machine.install_command(["/bin/false"])
    with machine.rpc() as rpc:
        rpc.started()
        talk(rpc, range(20))
        rpc.request("compact")
    (compaction,) = entries(session_of(machine), "compaction")
    assert "<memory>" not in compaction["summary"]
