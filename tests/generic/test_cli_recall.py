"""``hindbrain last-recall | suppress | why``, and what ``recall`` makes of what is suppressed."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hindbrain.contracts import Message, TextPart
from hindbrain.generic import InProcessHost, Layer, SessionPlace, live_session, merge
from hindbrain.generic._cli import main
from hindbrain.memory.sessions import read_session

Run = Callable[..., Result]
EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"
SESSION_ID = read_session(EXAMPLES / "pi-1.6.0.jsonl").header.id  # type: ignore[union-attr]  # it has one
FRAMEWORK = "I want unittest, not pytest"


class Place:
    """A project whose session was retained, and asked one question in the next."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "work"
        (self.root / ".git").mkdir(parents=True)
        self.file = Path(shutil.copy(EXAMPLES / "pi-1.6.0.jsonl", folder / "s.jsonl"))

    @property
    def snapshot(self) -> Path:
        return self.root / ".hindbrain" / "last-recall.json"

    def live(self, **recall: Any) -> None:
        asyncio.run(self._live({"storeLastRecall": True, **recall}))

    async def _live(self, recall: dict[str, Any]) -> None:
        values = {"dataDir": str(self.folder / "data"), "recall": recall}
        settings = merge([Layer(origin="global file", values=values)])
        host = InProcessHost()
        for entry in read_session(self.file).entries:
            host.add(entry)
        place = SessionPlace(host="generic", cwd=str(self.root), file=str(self.file))
        async with live_session(host, settings, place) as session:
            await session.settled()
            asked = Message(role="user", parts=(TextPart("Which test framework does the user want?"),))
            assert FRAMEWORK in (await session.context([asked])).text


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name in list(os.environ):
        if name.startswith(("HIND", "PI_", "XDG")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    made = Place(tmp_path)
    monkeypatch.chdir(made.root)
    return made


@pytest.fixture
def run(place: Place) -> Run:
    def run_(*args: str) -> Result:
        folders = ["--data-dir", str(place.folder / "data"), "--config-dir", str(place.folder / "config")]
        done = CliRunner().invoke(main, [*args, *folders])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    return run_


def said(done: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def first_id(place: Place) -> str:
    id_: str = json.loads(place.snapshot.read_bytes())["blocks"][0]["results"][0]["id"]
    return id_


def test_the_last_recall_is_shown_whole_to_a_program_and_in_short_to_a_person(run: Run, place: Place) -> None:
    place.live(topK=2)
    whole = said(run("last-recall", "--json"))
    assert whole["data"] == json.loads(place.snapshot.read_bytes())
    text = run("last-recall").stdout
    assert "candidates, 2 shown, 0 banks failed" in text
    assert "  1. Yes, but two habits" in text
    assert f"     {first_id(place)}  final 0." in text
    assert "dropped: over-top-k" in text


def test_what_a_memory_says_cannot_write_to_the_terminal(run: Run, place: Place) -> None:
    evil = {"id": "m1\x1b[2J", "text": "a\x1b]0;title\x07b\r\nc", "reasons": ["x\x1b"], "scores": {"final": 1}}
    body = {"createdAt": "now\x1b", "blocks": [{"bankId": "b\x1b", "results": [evil]}], "failed": 0}
    place.snapshot.parent.mkdir()
    place.snapshot.write_text(json.dumps(body), "utf-8")
    for command in (("last-recall",), ("why", "title")):
        done = run(*command)
        assert "title" in done.stdout
        assert not {"\x1b", "\x07", "\r"} & set(done.stdout)


def test_where_no_recall_is_stored_that_is_said_with_what_to_do_and_nothing_is_made(run: Run, place: Place) -> None:
    for command in (("last-recall",), ("why", "1")):
        done = run(*command, "--json")
        assert done.exit_code == 1
        error = said(done)["error"]
        assert error["code"] == "no-last-recall"
        assert "recall.storeLastRecall to true" in error["next"]
    assert "(nothing is suppressed)" in run("suppress", "--list").stdout
    run("recall", "what?")
    assert list(place.root.iterdir()) == [place.root / ".git"]
    (place.folder / "config").mkdir()
    (place.folder / "config/hindbrain.json").write_text('{"recall": {"storeLastRecall": true}}', "utf-8")
    assert "Ask the agent something first" in said(run("last-recall", "--json"))["error"]["next"]


@pytest.mark.parametrize("command", [("last-recall",), ("why", "1")])
def test_a_broken_file_is_told_and_left(run: Run, place: Place, command: tuple[str, ...]) -> None:
    place.snapshot.parent.mkdir()
    place.snapshot.write_text('{"broken": "MARKER-42', "utf-8")
    done = run(*command, "--json")
    assert (done.exit_code, said(done)["error"]["code"]) == (1, "last-recall-unreadable")
    assert "MARKER-42" not in done.output
    assert [path.name for path in place.snapshot.parent.iterdir()] == ["last-recall.json"]


def test_a_link_in_its_place_is_not_followed(run: Run, place: Place) -> None:
    place.live()
    (place.folder / "other.json").write_bytes(place.snapshot.read_bytes())
    place.snapshot.unlink()
    place.snapshot.symlink_to(place.folder / "other.json")
    assert said(run("last-recall", "--json"))["error"]["code"] == "state-file"


def test_the_path_of_the_settings_counts_for_the_commands_too(run: Run, place: Place) -> None:
    named = "logs/last.json"
    place.live(lastRecallPath=named)
    (place.folder / "config").mkdir()
    (place.folder / "config/hindbrain.json").write_text(json.dumps({"recall": {"lastRecallPath": named}}), "utf-8")
    assert run("last-recall").exit_code == 0
    (place.folder / "config/hindbrain.json").write_text('{"recall": {"lastRecallPath": "../last.json"}}', "utf-8")
    assert said(run("last-recall", "--json"))["error"]["code"] == "last-recall-path"


def test_the_way_back_from_a_line_is_told_whole(run: Run, place: Place) -> None:
    place.live(includeSourceFacts=True)
    done = run("why", "1", "--session", str(place.file), "--json")
    found = said(done)["data"]
    (origin,) = found["origins"]
    assert (done.exit_code, found["whole"], origin["unknown"]) == (0, True, {})
    assert FRAMEWORK in found["memory"]["text"]
    assert (found["memory"]["line"], found["memory"]["id"]) == (1, first_id(place))
    assert origin["document_id"].startswith("pi-session:")
    assert origin["fact_id"] != found["memory"]["id"]
    assert origin["job"]["taken"]["id"] == origin["job"]["logged"][0]
    assert origin["session"]["id"] == SESSION_ID
    (entry,) = origin["entries"]
    line = json.loads(place.file.read_text("utf-8").splitlines()[entry["line"] - 1])
    assert (line["id"], line["message"]["role"]) == (entry["id"], entry["role"])
    assert FRAMEWORK in json.dumps(line)
    assert entry["job"] == origin["job"]["taken"]["id"]
    text = run("why", "1", "--session", str(place.file)).stdout
    for words in (FRAMEWORK, origin["document_id"], "was taken at", SESSION_ID, f"{entry['id']} (line {entry['line']}"):
        assert words in text
    assert "unknown" not in text


@pytest.mark.parametrize("agent", ["home/.pi/agent", "home/.omp/agent", "moved"])
def test_the_file_is_found_where_hosts_keep_sessions(
    run: Run, place: Place, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    place.live(includeSourceFacts=True)
    if agent == "moved":
        monkeypatch.setenv("PI_CODING_AGENT_DIR", str(place.folder / "moved"))
    folder = place.folder / agent / "sessions" / "--work--"
    folder.mkdir(parents=True)
    kept = place.file.rename(folder / f"2026-03-01T09-00-00-000Z_{SESSION_ID}.jsonl")
    done = run("why", FRAMEWORK, "--json")
    assert done.exit_code == 0
    assert said(done)["data"]["origins"][0]["session"]["file"] == str(kept)


def test_each_link_that_is_missing_says_why(run: Run, place: Place) -> None:
    place.live()
    done = run("why", "1", "--json")
    assert done.exit_code == 5
    (origin,) = said(done)["data"]["origins"]
    assert "--ask" in origin["unknown"]["document"]
    assert "unknown: It names no document" in run("why", "1").stdout
    done = run("why", "1", "--ask", "--json")
    assert done.exit_code == 5
    (origin,) = said(done)["data"]["origins"]
    assert origin["document_id"].startswith("pi-session:")
    assert origin["unknown"] == {"entries": "The session's file was not found; name it with --session."}


def test_memory_that_does_not_answer_leaves_the_document_unknown(run: Run, place: Place) -> None:
    place.live()
    (place.folder / "config").mkdir()
    (place.folder / "config/hindbrain.json").write_text(
        '{"backend": "hindsight", "hindsight": {"baseUrl": "http://127.0.0.1:9"}}', "utf-8"
    )
    done = run("why", "1", "--ask", "--json")
    assert done.exit_code == 5
    assert "(network)" in said(done)["data"]["origins"][0]["unknown"]["document"]


@pytest.mark.parametrize(
    ("file", "words"),
    [("missing.jsonl", "there is no such file"), ("other.jsonl", "that of another session"), (".", "not a regular")],
)
def test_a_session_file_that_does_not_fit_is_told(run: Run, place: Place, file: str, words: str) -> None:
    place.live(includeSourceFacts=True)
    shutil.copy(EXAMPLES / "omp-18.2.3.jsonl", place.folder / "other.jsonl")
    done = run("why", "1", "--session", str(place.folder / file), "--json")
    assert done.exit_code == 5
    assert words in said(done)["data"]["origins"][0]["unknown"]["entries"]


def test_a_document_nobody_here_knows_is_told_as_such(run: Run, place: Place) -> None:
    rows = [
        {"id": "m1", "text": "Somebody else said so", "documentId": "pi-session:0000000000000000", "line": 1},
        {"id": "m2", "text": "It was typed in by hand", "documentId": "pi-explicit:0000000000000000:1", "line": 2},
        {"id": "m3", "text": "It rests on a fact", "sourceFactIds": ["s1"], "line": 3},
    ]
    body = {
        "createdAt": "2026-01-01T00:00:00.000Z",
        "blocks": [{"bankId": "bank-a", "results": rows}],
        "sources": [{"id": "s1", "text": "a fact of no document"}],
        "failed": 0,
    }
    place.snapshot.parent.mkdir()
    place.snapshot.write_text(json.dumps(body), "utf-8")
    unknown = [said(run("why", id_, "--json"))["data"]["origins"][0]["unknown"] for id_ in ("m1", "m2", "m3")]
    assert "another project, host or machine" in unknown[0]["job"]
    assert "--host" in unknown[0]["session"]
    assert "retained by hand" in unknown[1]["session"]
    assert unknown[2] == {"document": "The facts it rests on name no document."}


def test_words_that_fit_nothing_or_several_are_told_as_that(run: Run, place: Place) -> None:
    place.live()
    nothing = said(run("why", "no such words anywhere", "--json"))
    assert nothing["error"]["code"] == "not-recalled"
    several = said(run("why", "test", "--json"))
    assert several["error"]["code"] == "several-recalled"
    assert first_id(place) in several["error"]["next"]


def test_a_suppressed_memory_is_gone_from_sessions_and_commands_until_it_is_let_back(run: Run, place: Place) -> None:
    place.live()
    id_ = first_id(place)
    question = "Which test framework does the user want?"
    assert id_ in [fact["id"] for fact in said(run("recall", question, "--json"))["data"]["facts"]]
    assert said(run("suppress", id_, "--json"))["data"] == {"id": id_, "suppressed": True, "changed": True}
    assert said(run("suppress", id_, "--json"))["data"]["changed"] is False
    assert [each["id"] for each in said(run("suppress", "--list", "--json"))["data"]["suppressed"]] == [id_]
    found = said(run("recall", question, "--json"))
    assert id_ not in [fact["id"] for fact in found["data"]["facts"]]
    assert found["data"]["suppressed"] == 1
    assert "1 suppressed" in found["warnings"][0]
    with pytest.raises(AssertionError, match="unittest"):
        place.live()
    assert json.loads(place.snapshot.read_bytes())["blocks"][0]["results"][0]["reasons"] == ["suppressed"]
    assert "dropped: suppressed" in run("last-recall").stdout
    assert run("suppress", "--remove", id_).exit_code == 0
    assert run("suppress", id_, "--remove").exit_code == 1
    assert "(nothing is suppressed)" in run("suppress", "--list").stdout
    place.live()


@pytest.mark.parametrize("args", [(), ("--remove",), ("--list", "m1"), ("--list", "--remove")])
def test_half_a_command_is_wrong_usage(run: Run, place: Place, args: tuple[str, ...]) -> None:
    done = run("suppress", *args, "--json")
    assert done.exit_code == 2
    assert said(done)["error"]["code"] == "usage"
    assert not (place.root / ".hindbrain").exists()


@pytest.mark.parametrize("wrong", ["", " ", "a\nb", "x" * 600])
def test_an_id_of_the_wrong_form_is_refused(run: Run, wrong: str) -> None:
    done = run("suppress", wrong, "--json")
    assert (done.exit_code, said(done)["error"]["code"]) == (3, "invalid-value")
    assert "1 to 512 printable characters" in done.output


def test_a_list_that_cannot_be_believed_is_told_and_put_aside_by_the_next_change(run: Run, place: Place) -> None:
    run("suppress", "m1")
    path = place.root / ".hindbrain/suppressed.json"
    path.write_bytes(path.read_bytes().replace(b"m1", b"m2"))
    listed = said(run("suppress", "--list", "--json"))
    assert (listed["data"]["suppressed"], len(listed["warnings"])) == ([], 1)
    assert "suppressed.json was not written" in said(run("recall", "what?", "--json"))["warnings"][0]
    run("suppress", "m3")
    assert [each["id"] for each in said(run("suppress", "--list", "--json"))["data"]["suppressed"]] == ["m3"]
    assert len(list(path.parent.glob("suppressed.json.broken-*"))) == 1


def test_each_host_has_its_own_list_and_whoever_forgets_that_is_told(run: Run, place: Place) -> None:
    assert said(run("suppress", "m1", "--json"))["warnings"] == []
    assert said(run("suppress", "m2", "--host", "pi", "--json"))["warnings"] == []
    assert [each["id"] for each in said(run("suppress", "--list", "--json"))["data"]["suppressed"]] == ["m1"]
    assert "for pi say --host" in said(run("suppress", "m3", "--json"))["warnings"][0]
    named = str(place.root / ".pi/hindsight")
    listed = said(run("suppress", "--list", "--state-dir", named, "--json"))
    assert [each["id"] for each in listed["data"]["suppressed"]] == ["m2"]
