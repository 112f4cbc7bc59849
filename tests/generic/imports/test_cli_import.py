"""``hindbrain import`` as a user runs it."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.generic._cli._import_bar import Bar, rate_text

HINDBRAIN = Path(sys.executable).with_name("hindbrain")
SECRET = "ghp_" + "A1b2C3d4E5" * 4

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HIND", "PI_"))}
    return {**kept, "HOME": str(tmp_path / "home")}


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    return [str(HINDBRAIN), "import", "--data-dir", str(tmp_path / "data"), "--config-dir", str(tmp_path)]


@pytest.fixture
def run(place: Any, command: list[str], environment: dict[str, str], hindbrain: Run) -> Run:
    recording = place.record()
    recording.turns(1, 3)
    recording.add("toolResult", "a listing", toolName="bash", isError=False)
    recording.add("user", f"the token is {SECRET}")
    recording.write()

    def run_(*args: str) -> subprocess.CompletedProcess[str]:
        done = hindbrain(*command[1:], str(place.sessions), *args, cwd=place.project, env=environment)
        assert "Traceback" not in done.stderr
        return done

    return run_


def data(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)["data"]
    return found


@pytest.mark.parametrize("args", [(), ("--dry-run",)])
def test_without_a_yes_only_the_counts_are_shown(run: Run, place: Any, args: tuple[str, ...]) -> None:
    done = run(*args)
    assert done.returncode == 0
    assert "1 documents would be sent" in done.stdout
    assert "successful-tool-output" in done.stdout
    assert "Say --yes" in done.stdout
    assert not (place.project / ".pi").exists()
    assert not (place.folder / "data").exists()
    assert data(run(*args, "--json"))["dry_run"] is True


def test_with_a_yes_it_is_in_memory_and_repeated_nothing_happens(run: Run) -> None:
    done = data(run("--yes", "--json"))
    (project,) = done["projects"]
    assert (project["documents"]["new"], project["sent"], project["waiting"]) == (1, 1, 0)
    assert done["kept"]["messages"] == 7
    assert done["dropped"] == {"successful-tool-output": {"messages": 1, "bytes": len("a listing")}}
    again = run("--yes")
    assert again.returncode == 0
    assert "nothing to import that is not there already" in again.stdout
    assert data(run("--yes", "--json"))["unchanged"] == 1


def test_no_secret_reaches_the_disk(run: Run, place: Any) -> None:
    run("--yes")
    written = [path for path in (*place.project.rglob("*"), *(place.folder / "data").rglob("*")) if path.is_file()]
    assert any("retain-queue" in path.name for path in written)
    assert not any(SECRET.encode() in path.read_bytes() for path in written)


def test_content_is_never_shown(run: Run) -> None:
    for args in (("--json",), (), ("--yes", "--json"), ("--yes",)):
        done = run(*args)
        assert "question 1" not in done.stdout + done.stderr


def test_a_server_that_is_down_leaves_everything_in_the_queue(run: Run, place: Any, tmp_path: Path) -> None:
    (tmp_path / "hindbrain.json").write_text('{"hindsight": {"baseUrl": "http://127.0.0.1:9"}}')
    done = run("--yes", "--backend", "hindsight")
    assert done.returncode == 4
    assert "1 documents of project wait in the queue (network)" in done.stderr
    assert "hindbrain queue flush --host pi" in done.stderr
    assert (place.project / ".pi/hindsight/retain-queue.jsonl").stat().st_size > 0


def test_a_process_that_is_killed_between_queue_and_checkpoint_leaves_nothing_undone_and_nothing_twice(
    run: Run, place: Any, command: list[str], environment: dict[str, str]
) -> None:
    code = (
        "import os, signal; from hindbrain.store import DurableQueue as Q; from hindbrain.generic._cli import main;"
        "real = Q.append_many; Q.append_many = lambda *a: (real(*a), os.kill(os.getpid(), signal.SIGKILL)); main()"
    )
    killed = subprocess.run(
        [sys.executable, "-c", code, *command[1:], str(place.sessions), "--yes"],
        cwd=place.project,
        env=environment,
        capture_output=True,
        timeout=50,
        check=False,
    )
    assert killed.returncode == -9
    folder = place.project / ".pi/hindsight"
    assert len((folder / "retain-queue.jsonl").read_text().splitlines()) == 1
    project = data(run("--yes", "--json"))["projects"][0]
    assert (project["documents"]["new"], project["sent"], project["waiting"]) == (1, 1, 0)
    assert len(json.loads((folder / "retain-receipts.json").read_text())["receipts"]) == 1
    assert data(run("--yes", "--json"))["projects"][0]["sent"] == 0


def test_queue_only_sends_nothing(run: Run) -> None:
    project = data(run("--yes", "--queue-only", "--json"))["projects"][0]
    assert (project["sent"], project["waiting"], project["stopped_by"]) == (0, 1, None)


def test_a_broken_line_is_named_and_a_missing_file_makes_it_partial(run: Run, place: Any) -> None:
    with (place.sessions / "one.jsonl").open("a") as file:
        file.write("{broken\n")
    done = run("--yes", "--json", str(place.sessions / "gone.jsonl"))
    assert done.returncode == 5
    assert data(done)["broken_lines"] == [
        {"file": str((place.sessions / "one.jsonl").resolve()), "line": 10, "reason": "not-json"}
    ]
    assert data(done)["passed_over"] == [{"file": str(place.sessions / "gone.jsonl"), "reason": "missing"}]


def test_sessions_of_a_directory_that_is_gone_need_a_word_of_whose_they_are(run: Run, place: Any) -> None:
    path = place.sessions / "one.jsonl"
    path.write_text(path.read_text().replace(f'"{place.project}"', f'"{place.folder}/gone"'))
    done = run("--yes")
    assert done.returncode == 1
    assert "--project DIR" in done.stderr
    assert data(run("--yes", "--project", ".", "--json"))["projects"][0]["sent"] == 1


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("--yes", "--dry-run"), 2, "either --dry-run or --yes"),
        (("--mode", "all"), 2, "curated"),
        (("--yes", "--bank", "a bank"), 3, "bank id is refused"),
        (("--yes", "--tag", "a\tb"), 3, "tags is refused"),
        (("--yes", "--project", "/"), 3, "no project"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(
    run: Run, place: Any, args: tuple[str, ...], code: int, words: str
) -> None:
    done = run(*args)
    assert done.returncode == code
    assert words in done.stderr
    assert not (place.project / ".pi").exists()


def test_an_untrusted_project_cannot_send_its_sessions_elsewhere(run: Run, place: Any) -> None:
    (place.project / ".hindbrain").mkdir()
    (place.project / ".hindbrain/hindbrain.json").write_text('{"banks": {"project": {"bankId": "elsewhere"}}}')
    done = run("--json")
    assert data(done)["projects"][0]["bank"] != "elsewhere"


@pytest.mark.usefixtures("run")
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
@pytest.mark.parametrize(("answer", "sent"), [(b"n\n", 0), (b"y\n", 1)])
def test_at_a_terminal_it_asks_and_shows_a_bar(
    place: Any, command: list[str], environment: dict[str, str], answer: bytes, sent: int
) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*command, str(place.sessions)],
        cwd=place.project,
        env={**environment, "TERM": "xterm"},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, answer)
    out, _ = process.communicate(timeout=50)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert process.returncode == 0
    assert "looking" in shown
    assert "Import this?" in shown
    assert "1 documents would be sent" in shown
    assert (b"1 sent" in out) is bool(sent)
    assert ("importing" in shown) is bool(sent)
    assert (place.project / ".pi").exists() is bool(sent)


def test_the_bar_shows_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    times = iter([0.0, 2.0])
    with Bar("importing", 100_000_000, "MB", clock=lambda: next(times)) as bar:
        bar.add(25_000_000)
    assert "importing" in terminal.getvalue()
    assert "25%" in terminal.getvalue()
    assert "12.5 MB/s" in terminal.getvalue()


def test_a_rate_is_told_in_its_unit_and_not_before_time_has_passed() -> None:
    assert rate_text(3_000_000, 2, "MB") == "1.5 MB/s"
    assert rate_text(3, 2, "documents") == "1.5 documents/s"
    assert rate_text(3, 0, "documents") == ""
