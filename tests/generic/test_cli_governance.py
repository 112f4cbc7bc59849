"""``hindbrain mode | opt-out | tag`` write the record that a live session of the same file reads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HINDBRAIN = Path(sys.executable).with_name("hindbrain")
SESSION = Path(__file__).parents[2] / "examples" / "sessions" / "pi-1.6.0.jsonl"

Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HIND", "PI_"))}

    def run_(*args: str) -> tuple[int, dict[str, Any]]:
        done = subprocess.run(
            [HINDBRAIN, *args, "--json", "--data-dir", str(tmp_path / "data"), "--config-dir", str(tmp_path)],
            cwd=tmp_path / "work",
            env={**kept, "HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, json.loads(done.stdout)

    return run_


@pytest.fixture
def session(tmp_path: Path) -> str:
    return str(shutil.copy(SESSION, tmp_path / "s.jsonl"))


def test_a_session_without_a_record_is_normal(run: Run, session: str) -> None:
    code, envelope = run("mode", session)
    assert code == 0
    assert envelope["data"]["mode"] == "normal"
    assert envelope["data"]["next_opt_out"] is False


@pytest.mark.parametrize("mode", ["normal", "read-only", "ignored"])
def test_a_mode_that_is_set_stays(run: Run, session: str, mode: str) -> None:
    assert run("mode", session, mode)[0] == 0
    assert run("mode", session)[1]["data"]["mode"] == mode


@pytest.mark.req("S0-governance-015")
@pytest.mark.parametrize("mode", ["tools-only", "NORMAL", ""])
def test_another_mode_is_refused_with_the_three_and_nothing_changes(run: Run, session: str, mode: str) -> None:
    run("mode", session, "read-only")
    code, envelope = run("mode", session, mode)
    assert code == 3
    assert "normal, read-only or ignored" in envelope["error"]["message"]
    assert run("mode", session)[1]["data"]["mode"] == "read-only"


@pytest.mark.req("S0-governance-017")
def test_retain_is_turned_off_and_on_again_beside_the_mode(run: Run, session: str) -> None:
    data = run("mode", session, "--retain", "off")[1]["data"]
    assert (data["mode"], data["retain"]) == ("normal", "off")
    data = run("mode", session, "read-only", "--retain", "on")[1]["data"]
    assert (data["mode"], data["retain"]) == ("read-only", "on")


def test_opt_out_and_tags_stand_in_the_record(run: Run, session: str, tmp_path: Path) -> None:
    assert run("mode", session, "read-only")[1]["data"]["mode"] == "read-only"
    assert run("opt-out", session)[1]["data"]["next_opt_out"] is True
    assert run("tag", "add", session, "topic:db")[1]["data"]["tags"] == ["topic:db"]
    moved = Path(session).rename(tmp_path / "moved.jsonl")
    data = run("tag", "add", str(moved), "topic:ops")[1]["data"]
    assert (data["tags"], data["next_opt_out"]) == (["topic:db", "topic:ops"], True)
    assert data["mode"] == "read-only"
    assert run("tag", "remove", str(moved), "topic:db")[1]["data"]["tags"] == ["topic:ops"]


@pytest.mark.parametrize("tag", ["", "x" * 81, "a\tb"])
def test_a_tag_of_the_wrong_form_is_refused(run: Run, session: str, tag: str) -> None:
    code, envelope = run("tag", "add", session, tag)
    assert code == 3
    assert envelope["error"]["next"] or envelope["error"]["message"]
