"""A machine whose sessions are observed, and what lies in their files."""

import json
from pathlib import Path
from typing import Any

from _pinned.settings import agent_folder
from hosts.machine import Machine, eventually
from hosts.remembered import remember

OBSERVE = {
    "observeAfterTokens": 1500,
    "reflectAfterTokens": 4000,
    "compactAfterTokens": 6000,
    "observationsPoolMaxTokens": 2000,
    "memoryMaxTokens": 2500,
    "showWorkerNotifications": False,
}
COMPACTION = {
    "pi": {"enabled": True, "reserveTokens": 2000, "keepRecentTokens": 1000},
    "omp": {"enabled": True, "asyncEnabled": False, "thresholdTokens": 100_000, "keepRecentTokens": 1000},
}
FILES = {"pi": "settings.json", "omp": "config.yml"}


def observed(machine: Machine, **more: Any) -> None:
    """Install the real sidecar with thresholds that a short session reaches; long-term memory is off."""
    remember(machine)
    agent = agent_folder(machine.host, machine.home)
    own = json.loads((agent / "hindbrain.json").read_text("utf-8"))
    told = {**own, "enabled": False, "observe": {**OBSERVE, **more}}
    (agent / "hindbrain.json").write_text(json.dumps(told), "utf-8")
    settings = agent / FILES[machine.host]
    host = json.loads(settings.read_text("utf-8"))
    settings.write_text(json.dumps({**host, "compaction": COMPACTION[machine.host]}), "utf-8")


def entries(session: Path, kind: str) -> list[dict[str, Any]]:
    """The entries of a session file that are of this type, or of this custom type; all of them for ""."""
    read = [json.loads(line) for line in session.read_text("utf-8").splitlines()]
    return [each for each in read if kind in {"", each["type"], each.get("customType")}]


def compacted(machine: Machine) -> int:
    """How many compactions the session has by now."""
    (session,) = machine.sessions()
    return len(entries(session, "compaction"))


def rested(machine: Machine, compactions: int) -> None:
    """Wait until the session was compacted so often."""
    eventually(lambda: compacted(machine) >= compactions)
