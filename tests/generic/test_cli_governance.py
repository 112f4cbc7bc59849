"""``hindbrain mode | opt-out | tag`` write the record that a live session of the same file reads."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Command

SESSION = Path(__file__).parents[2] / "examples" / "sessions" / "pi-1.6.0.jsonl"

Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def run(tmp_path: Path, hindbrain: Command) -> Run:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HIND", "PI_"))}

    def run_(*args: str) -> tuple[int, dict[str, Any]]:
        places = ["--data-dir", str(tmp_path / "data"), "--config-dir", str(tmp_path)]
        env = {**kept, "HOME": str(tmp_path / "home")}
        done = hindbrain(*args, "--json", *places, cwd=tmp_path / "work", env=env)
        assert "Traceback" not in done.stderr
        return done.returncode, json.loads(done.stdout)

    return run_


@pytest.fixture
def session(tmp_path: Path) -> str:
    return str(shutil.copy(SESSION, tmp_path / "s.jsonl"))


def test_a_session_without_a_record_is_normal_and_looking_makes_none(run: Run, session: str, tmp_path: Path) -> None:
    code, envelope = run("mode", session)
    assert code == 0
    assert envelope["data"]["mode"] == "normal"
    assert envelope["data"]["next_opt_out"] is False
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.jsonl", "work"]
    assert [path.name for path in (tmp_path / "work").iterdir()] == [".git"]
    run("tag", "add", session, "topic:db")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert run("mode", session)[1]["data"] == {**envelope["data"], "tags": ["topic:db"]}
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_moved_session_shows_the_record_it_was_given_first(run: Run, session: str, tmp_path: Path) -> None:
    given = run("mode", session, "ignored")[1]["data"]
    moved = Path(session).rename(tmp_path / "moved.jsonl")
    assert run("mode", str(moved))[1]["data"] == given


def test_a_record_that_cannot_be_believed_is_shown_as_all_off_with_a_warning(
    run: Run, session: str, tmp_path: Path
) -> None:
    sid = run("tag", "add", session, "topic:db")[1]["data"]["session"]
    record = tmp_path / "work/.hindbrain/session-meta" / f"{sid}.json"
    record.write_bytes(record.read_bytes().replace(b"topic:db", b"topic:xx"))
    _, envelope = run("mode", session)
    assert (envelope["data"]["mode"], envelope["data"]["retain"]) == ("ignored", "off")
    assert len(envelope["warnings"]) == 1


COMMANDS = [("mode", ()), ("mode", ("ignored",)), ("opt-out", ()), ("tag add", ("x",)), ("tag remove", ("x",))]


@pytest.mark.parametrize(("command", "more"), COMMANDS)
def test_what_is_no_session_has_no_record(run: Run, tmp_path: Path, command: str, more: tuple[str, ...]) -> None:
    (tmp_path / "notes.md").write_text("a private note")
    for path in (tmp_path / "notes.md", tmp_path):
        code, envelope = run(*command.split(), str(path), *more)
        assert (code, envelope["error"]["code"]) == (1, "no-session")
        assert "notes" not in json.dumps(envelope)
    assert not (tmp_path / "work/.hindbrain").exists()


def test_a_session_whose_file_is_not_there_yet_is_warned_of_and_finds_its_record_later(
    run: Run, session: str, tmp_path: Path
) -> None:
    later = tmp_path / "later.jsonl"
    code, envelope = run("opt-out", str(later))
    assert (code, envelope["data"]["next_opt_out"]) == (0, True)
    assert "no session file" in envelope["warnings"][0]
    Path(session).rename(later)
    _, envelope = run("mode", str(later))
    assert envelope["data"]["next_opt_out"] is True
    assert envelope["warnings"] == []


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
