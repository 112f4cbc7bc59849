"""A session of three hundred turns in a small window, so that the host compacts it again and again."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from _pinned.settings import agent_folder
from hosts.machine import Machine
from hosts.model import text_of
from hosts.remembered import BLOCK, remember, sidecars, state

# More than the queue's file keeps of what was sent, and with all of them it would be larger than this.
TURNS = 300
RESIDENT_KB = 60 * 1024
STATE_BYTES = 512 * 1024
# What omp says before the user says anything takes more of it.
WINDOW = {"pi": 10_000, "omp": 24_000}
FILES = {"pi": ("models.json", "settings.json"), "omp": ("models.yml", "config.yml")}
COMPACTION = {
    "pi": {"enabled": True, "reserveTokens": 2000, "keepRecentTokens": 1000},
    "omp": {"enabled": True, "asyncEnabled": False, "thresholdTokens": 20_000, "keepRecentTokens": 1000},
}
FILLER = "The harbour office writes down every ship, its draught and the name of its master. " * 4


def narrow(machine: Machine) -> None:
    """Give the model a small window, and let the host compact."""
    agent = agent_folder(machine.host, machine.home)
    models, settings = (agent / name for name in FILES[machine.host])
    known = json.loads(models.read_text("utf-8"))
    for provider in known["providers"].values():
        provider["models"][0]["contextWindow"] = WINDOW[machine.host]
    models.write_text(json.dumps(known), "utf-8")
    own = json.loads(settings.read_text("utf-8"))
    settings.write_text(json.dumps({**own, "compaction": COMPACTION[machine.host]}), "utf-8")


def kept(machine: Machine) -> Counter[str]:
    """How often each of the user's messages was retained, by its number."""
    found: Counter[str] = Counter()
    for bank in (machine.root / "data" / "banks").rglob("[!_]*.sqlite"):
        with sqlite3.connect(bank) as connection:
            for (text,) in connection.execute("SELECT text FROM fact WHERE role = 'user'"):
                found.update(word for word in text.split() if word.startswith("ship-"))
    return found


def shown(machine: Machine) -> dict[str, int]:
    """How many blocks the request about each of the user's messages has."""
    found: dict[str, int] = {}
    for body in machine.model.requests:
        texts = [text_of(message) for message in body["messages"] if message["role"] == "user"]
        last = next((text for text in reversed(texts) if BLOCK not in text), "")
        if last.startswith("In the harbour lies"):
            found[last.split()[4]] = sum(text.count(BLOCK) for text in texts)
    return found


def resident(pid: int) -> int:
    """The kilobytes of memory that a process has had at most."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


@pytest.mark.timeout(300)
def test_three_hundred_turns_with_compaction_are_retained_once_each(
    machine: Machine, record_property: Callable[[str, object], None]
) -> None:
    remember(machine)
    narrow(machine)
    with machine.rpc() as rpc:
        rpc.started()
        rpc.prompt(f"The harbour office opens at eight. {FILLER}")
        rpc.request("new_session")
        for turn in range(TURNS):
            rpc.prompt(f"In the harbour lies ship-{turn:03d} today. {FILLER}")
        (pid,) = sidecars(machine)
        most = resident(pid)
        (session,) = [each for each in machine.sessions() if "ship-299" in each.read_text("utf-8")]
    entries = [json.loads(line) for line in session.read_text("utf-8").splitlines()]
    compactions = [entry for entry in entries if entry["type"] == "compaction"]
    size = sum(each.stat().st_size for each in state(machine).rglob("*") if each.is_file())
    for name, figure in (("compactions", len(compactions)), ("sidecarKb", most), ("stateBytes", size)):
        record_property(f"{machine.host}.{name}", figure)
    assert len(compactions) >= 3
    ships = {f"ship-{turn:03d}": 1 for turn in range(TURNS)}
    assert kept(machine) == ships
    assert shown(machine) == ships
    assert most <= RESIDENT_KB
    assert size <= STATE_BYTES
