"""``hindbrain observe``, through the installed script, on recorded sessions and on a ledger of another writer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.observe import record_id

HINDBRAIN = Path(sys.executable).with_name("hindbrain")
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "sessions"
LONG = ROOT.parent / "shared" / "data" / "pi-before-compaction.jsonl"
SURROUNDINGS = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"},
    {"PYTHONHASHSEED": "4242", "LC_ALL": "C.UTF-8", "TZ": "America/New_York"},
)
SHORT = ("--observe-after", "2000", "--compact-after", "8000", "--keep-recent", "500")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HIND", "PI_"))}
    home = {name: str(tmp_path / name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}

    def run_(*args: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [HINDBRAIN, "observe", *args],
            cwd=tmp_path,
            env={**kept, **home, **env},
            capture_output=True,
            encoding="utf-8",
            timeout=50,
            check=False,
        )

    return run_


def data(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    envelope = json.loads(done.stdout)
    assert envelope["ok"] is (done.returncode == 0)
    found: dict[str, Any] = envelope["data"]
    return found


@pytest.fixture
def remembered(tmp_path: Path) -> Path:
    """A session with a ledger as the extension wrote it."""
    text = "user chose SQLite"
    record: dict[str, Any] = {
        "id": record_id(text),
        "content": text,
        "timestamp": "2026-01-02 10:00",
        "relevance": "high",
    }
    record |= {"sourceEntryIds": ["m1"], "tokenCount": 12, "kind": "decision"}
    dropped = {**record, "id": record_id("tests pass"), "content": "tests pass", "kind": "progress"}
    thoughts = [
        {"id": record_id(each), "content": each, "supportingObservationIds": [record["id"]], "tokenCount": 3}
        for each in ("SQLite", "SQLite it is")
    ]
    said = {"role": "user", "content": [{"type": "text", "text": "Let us take SQLite."}], "timestamp": 1767344400000}
    ledger: list[tuple[str, dict[str, Any]]] = [
        ("om.observations.recorded", {"observations": [record, dropped], "coversUpToId": "m1"}),
        ("om.reflections.recorded", {"reflections": thoughts, "coversUpToId": "m1"}),
        ("om.observations.dropped", {"observationIds": [dropped["id"]], "coversUpToId": "m1"}),
        ("om.reflections.dropped", {"reflectionIds": [thoughts[0]["id"]], "coversUpToId": "m1"}),
    ]
    entries: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-02T09:00:00.000Z", "cwd": "/src"},
        {"type": "message", "id": "m1", "parentId": None, "timestamp": "2026-01-02T09:00:00.000Z", "message": said},
    ]
    for n, (custom_type, payload) in enumerate(ledger):
        entry = {"type": "custom", "id": f"l{n}", "parentId": entries[-1]["id"], "customType": custom_type}
        entries.append({**entry, "timestamp": "2026-01-02T09:00:01.000Z", "data": payload})
    path = tmp_path / "remembered.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return path


@pytest.mark.req("S4-budget-016")
@pytest.mark.parametrize(
    "session", [EXAMPLES / "pi-1.6.0.jsonl", EXAMPLES / "omp-18.2.3.jsonl", LONG], ids=lambda p: p.stem
)
def test_a_replay_is_the_same_bytes_whatever_surrounds_it(session: Path, run: Run) -> None:
    if not session.exists():
        pytest.skip("this public session is not at hand")
    options = () if session == LONG else SHORT
    outputs = [run("replay", session, *options, "--json", **around) for around in SURROUNDINGS]
    assert [done.returncode for done in outputs] == [0, 0, 0], outputs[0].stderr
    assert len({done.stdout for done in outputs}) == 1
    found = data(outputs[0])
    assert found["compactions"]
    for one in found["compactions"]:
        assert 0 < one["budget"]["rendered_tokens"] <= one["budget"]["max_tokens"]
    assert 0 < found["tokens"]["rendered"] <= found["tokens"]["budget"]
    assert found["tokens"]["source"] > 5 * found["tokens"]["rendered"]
    assert found["decisions"]["active"] == found["decisions"]["shown"]


def test_a_replay_changes_nothing_and_its_ids_can_be_recalled(run: Run) -> None:
    session = EXAMPLES / "pi-1.6.0.jsonl"
    before = session.read_bytes()
    done = run("replay", session)
    assert done.returncode == 0
    (line,) = (line for line in done.stdout.splitlines() if "[critical]" in line and "full jitter" in line)
    asked = run("recall", session, line[1:13], "--observer", "extractive", "--json")
    found = data(asked)
    assert (found["found"], found["sources"]) == ("ok", ["d91346d5"])
    assert "all twelve warehouse machines retried in the same second" in found["text"]
    assert session.read_bytes() == before


def test_a_person_sees_the_counts_and_every_compaction(run: Run) -> None:
    done = run("replay", EXAMPLES / "omp-18.2.3.jsonl", *SHORT)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("189 entries of omp, about ")
    assert any(line.startswith("compaction 1 at ") for line in lines)
    assert "<memory>" in lines
    assert done.stderr == ""


@pytest.mark.req("S4-compaction-016", "S4-reflections-011")
def test_the_memory_in_a_file_is_shown_as_the_model_sees_it_or_whole(remembered: Path, run: Run) -> None:
    assert run("view", remembered).stdout == (
        "## Reflections\nNo visible reflections\n\n## Observations\nNo visible observations\n"
    )
    assert run("view", remembered, "--full").stdout == (
        f"## Reflections\n[{record_id('SQLite')}] SQLite (superseded)\n[{record_id('SQLite it is')}] SQLite it is\n\n"
        f"## Observations\n[{record_id('user chose SQLite')}] 2026-01-02 10:00 [high] user chose SQLite\n"
    )
    shown = data(run("view", remembered, "--full", "--json"))
    assert (len(shown["reflections"]), len(shown["observations"]), shown["full"]) == (2, 1, True)


def test_the_status_of_a_file_in_numbers(remembered: Path, run: Run) -> None:
    state = data(run("status", remembered, "--window", "128000", "--json"))
    assert (state["gate_on"], state["cap"], state["clocks"]["observe"]) == (True, 12_800, 0)
    told = run("status", remembered, COLUMNS="70").stdout
    assert "Observations: 2 recorded, 1 dropped, 1 active, 0 visible +1" in told
    assert max(map(len, told.splitlines())) <= 70


def test_a_recall_says_by_its_exit_code_what_came_of_it(remembered: Path, run: Run) -> None:
    done = run("recall", remembered, record_id("SQLite it is"))
    assert done.returncode == 0
    assert done.stdout.endswith("[User @ 2026-01-02 09:00]: Let us take SQLite.\n")
    assert run("recall", remembered, "cccccccccccc").returncode == 1
    assert run("recall", remembered, "deploy key").stdout.endswith("invalid id\n")


def test_what_is_no_session_is_refused_with_an_envelope(tmp_path: Path, run: Run) -> None:
    for command in (("replay",), ("view",), ("status",)):
        done = run(*command, tmp_path / "none.jsonl", "--json")
        assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (1, "session-file")
