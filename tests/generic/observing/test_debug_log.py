"""The debug log: opt-in, one JSON object a line, ids and counts only, and nothing depends on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import Completion
from hindbrain.generic._observe import DebugLog
from hindbrain.observe.testing import Asked, says

Begin = Callable[..., Any]
AT = "2026-01-02T09:00:00Z"


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def failing(_asked: Asked) -> Completion:
    return says("", stop="error")


@pytest.mark.req("S4-settings-050", "S4-debug-009")
async def test_without_the_setting_no_file_is_written_not_even_for_failures(talk: Begin, tmp_path: Path) -> None:
    here = talk(failing, folder=tmp_path)
    for _each in range(10):
        await here.turn()
    assert files(tmp_path) == []


@pytest.mark.req("S4-settings-051", "S4-debug-001", "S4-debug-002", "S4-debug-003", "S4-debug-005")
async def test_a_session_writes_to_a_file_of_its_name(talk: Begin, tmp_path: Path) -> None:
    here = talk(folder=tmp_path, debug_log=True)
    await here.turn()
    assert files(tmp_path) == ["observational-memory/debug/s1.ndjson"]
    rows = here.rows()
    assert {row["sessionId"] for row in rows} == {"s1"}
    assert {"consolidation.begin", "observer.recorded", "consolidation.end"} <= {row["event"] for row in rows}
    text = json.dumps(rows)
    assert ("word" in text, "seen e1" in text) == (False, False)


@pytest.mark.req("S4-debug-006", "S4-debug-007")
async def test_the_rows_of_a_run_have_its_id(talk: Begin, tmp_path: Path) -> None:
    here = talk(folder=tmp_path, debug_log=True, reflect_after_tokens=1)
    await here.turn()
    await here.turn()
    begun = [row["runId"] for row in here.rows() if row["event"] == "consolidation.begin"]
    assert len(set(begun)) == len(begun) == 2
    for run in begun:
        events = [row["event"] for row in here.rows() if row["runId"] == run]
        assert (events[0], events[-1]) == ("consolidation.begin", "consolidation.end")
        assert [events.count(f"{stage}.recorded") for stage in ("observer", "reflector")] == [1, 1]


@pytest.mark.req("S4-debug-004", "S4-debug-008")
@pytest.mark.parametrize(
    ("session", "path"),
    [
        (None, "observational-memory/debug.ndjson"),
        ("", "observational-memory/debug.ndjson"),
        ("../..", "observational-memory/debug.ndjson"),
        ("../../x", "observational-memory/debug/x.ndjson"),
        ("a b/c:d", "observational-memory/debug/a_b_c_d.ndjson"),
        ("x" * 300, f"observational-memory/debug/{'x' * 128}.ndjson"),
    ],
)
def test_an_id_never_leads_out_of_the_folder(tmp_path: Path, session: str | None, path: str) -> None:
    DebugLog(tmp_path / "agent", session).write("event", {"count": 1}, at=AT)
    assert files(tmp_path / "agent") == [path]
    assert files(tmp_path) == [f"agent/{path}"]
    row = json.loads((tmp_path / "agent" / path).read_text("utf-8"))
    assert row == {"ts": AT, "event": "event", "sessionId": session, "runId": None, "data": {"count": 1}}


def test_a_file_of_ten_mebibytes_is_put_aside(tmp_path: Path) -> None:
    log = DebugLog(tmp_path, "s")
    log.path.parent.mkdir(parents=True)
    with log.path.open("wb") as out:
        out.truncate(10 * 1024 * 1024)
    log.write("event", {}, at=AT)
    assert [path.name for path in sorted(log.path.parent.iterdir())] == ["s.ndjson", "s.ndjson.1"]
    assert log.path.read_text("utf-8").count("\n") == 1


def test_a_log_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "observational-memory").write_text("in the way", "utf-8")
    DebugLog(tmp_path, "s").write("event", {}, at=AT)
    assert files(tmp_path) == ["observational-memory"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    log = DebugLog(tmp_path, "s")
    log.path.parent.mkdir(parents=True)
    log.path.symlink_to(tmp_path / "elsewhere")
    log.write("event", {}, at=AT)
    assert not (tmp_path / "elsewhere").exists()
