"""The command line on the embedded store and on a loopback server."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest

from hindbrain.generic._cli import main
from hindbrain.generic._cli._common import Place
from hindbrain.generic._command import main as begin

from .conftest import Command

EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, hindbrain: Command) -> Run:
    """Run the command in an empty project with its own home and data."""
    work = tmp_path / "work"
    work.mkdir()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HIND", "PI_"))}
    home = {
        "HOME": str(tmp_path / "home"),
        "XDG_CONFIG_HOME": str(tmp_path / "cfg"),
        "XDG_DATA_HOME": str(tmp_path / "d"),
    }

    def run_(*args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return hindbrain(*args, cwd=work, env={**kept, **home, **env}, stdin=stdin)

    return run_


def envelope(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(done.stdout)
    assert {"schema", "command", "ok", "data", "warnings", "error"} == set(value)
    assert value["schema"] == 1
    assert value["ok"] is (done.returncode == 0)
    return value


@pytest.mark.parametrize("name", ["pi-1.6.0.jsonl", "omp-18.2.3.jsonl"])
def test_replay_answers_from_a_recorded_session_with_the_source_of_each_line(run: Run, name: str) -> None:
    question = "which retry policy did we choose, and why?"
    done = run("replay", str(EXAMPLES / name), "--ask", question, "--json")
    data = envelope(done)["data"]
    assert done.returncode == 0, done.stderr
    assert data["injected"]["text"].startswith("<hindsight-memory>")
    assert data["injected"]["items"]
    recorded = {json.loads(line).get("id") for line in (EXAMPLES / name).read_text("utf-8").splitlines()}
    for item in data["injected"]["items"]:
        assert item["document_id"].startswith("pi-session:")
        assert item["entries"]
        assert set(item["entries"]) <= recorded
    assert data["retained"]["operations"] == data["session"]["turns"] > 5
    assert {"read", "retain", "recall", "total"} <= set(data["timing"])


def test_replaying_the_same_session_again_retains_nothing_twice(run: Run) -> None:
    session = str(EXAMPLES / "pi-1.6.0.jsonl")
    blocks = [
        envelope(run("replay", session, "--ask", "which retry policy?", "--json"))["data"]["injected"]["text"]
        for _ in range(2)
    ]
    assert blocks[0] == blocks[1]


def test_replay_for_a_person_shows_the_block_and_the_sources(run: Run) -> None:
    done = run("replay", str(EXAMPLES / "pi-1.6.0.jsonl"), "--ask", "which retry policy?")
    assert done.returncode == 0
    assert "<hindsight-memory>" in done.stdout
    assert "entries" in done.stdout
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("content", [None, "", "not json\n", '{"type":"other"}\n'])
def test_a_file_that_is_no_session_is_refused_with_what_to_do(run: Run, tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "x.jsonl"
    if content is not None:
        path.write_text(content, "utf-8")
    done = run("replay", str(path), "--ask", "x", "--json")
    error = envelope(done)["error"]
    assert done.returncode == 1
    assert error["message"]
    assert error["next"]


def test_retain_recall_status_and_delete_work_on_one_fact(run: Run) -> None:
    kept = envelope(run("retain", "We deploy on Fridays.", "--tag", "topic:ops", "--json"))["data"]
    again = envelope(run("retain", "We deploy on Fridays.", "--tag", "topic:ops", "--json"))["data"]
    assert (kept["document_id"], kept["state"]) == (again["document_id"], "sent")
    state = run("status", kept["operation_id"], "--json")
    assert envelope(state)["data"]["status"] == "completed"
    (fact,) = envelope(run("recall", "when do we deploy?", "--json"))["data"]["facts"]
    assert fact["text"] == "We deploy on Fridays."
    assert fact["tags"] == ["project:work"]
    said = run("recall", "when do we deploy?", "--json", HINDBRAIN_RECALL_TYPES="world,experience")
    assert [("topic:ops" in fact["tags"], fact["text"]) for fact in envelope(said)["data"]["facts"]] == [
        (True, "We deploy on Fridays.")
    ]
    assert run("delete", kept["document_id"], "--yes").returncode == 0
    assert run("delete", kept["document_id"], "--yes").returncode == 1
    gone = run("recall", "when do we deploy?")
    assert gone.returncode == 1
    assert "Fridays" not in gone.stdout


def test_recall_asks_each_bank_that_a_session_reads_once_with_its_own_tags(run: Run) -> None:
    slots = {"HINDBRAIN_BANKS_USER_BANK_ID": "me", "HINDBRAIN_BANKS_PROJECT_BANK_ID": "ours"}
    for bank, text in (("me", "The port I like is 1."), ("ours", "The port of the project is 2.")):
        assert run("retain", text, "--bank", bank, **slots).returncode == 0

    def found(*args: str, **env: str) -> list[tuple[str, str]]:
        facts = envelope(run("recall", "which port?", "--json", *args, **slots, **env))["data"]["facts"]
        return [(fact["bank"], fact["text"][-2:]) for fact in facts]

    assert found() == [("ours", "2."), ("me", "1.")]
    assert found("--bank", "me") == [("me", "1.")]
    assert found("--bank", "ours") == [("ours", "2.")]
    elsewhere = {"HINDBRAIN_SCOPE_USER_SCOPE_TAGS": "source:elsewhere", "HINDBRAIN_SCOPE_PROJECT_ID": "elsewhere"}
    assert found(**elsewhere) == []
    assert found("--unscoped", "--bank", "me", **elsewhere) == [("me", "1.")] * 2


def test_recall_of_a_server_that_is_away_says_so(run: Run) -> None:
    done = run("recall", "x", "--backend", "hindsight", "--json", HINDSIGHT_API_URL="http://127.0.0.1:1")
    assert done.returncode == 4
    assert envelope(done)["error"]["code"] == "no-answer"


def test_retain_reads_standard_input(run: Run) -> None:
    assert run("retain", "-", stdin="Tabs are forbidden.").returncode == 0
    assert "Tabs are forbidden." in run("recall", "tabs?").stdout


def test_bytes_that_are_no_text_are_refused_and_not_retained_in_part(run: Run) -> None:
    done = run("retain", "-", stdin="Tabs are forbidden. \udcff", PYTHONUTF8="1")
    assert done.returncode == 2
    assert "UTF-8" in done.stderr
    assert run("recall", "tabs?").returncode == 1


@pytest.mark.parametrize(
    "args",
    [
        ("retain", b"Tabs are forbidden. \xff"),
        ("retain", "x", "--tag", b"\xff"),
        ("retain-user", b"Tabs are forbidden. \xff"),
        ("retain-user", "x", "--tag", b"\xff"),
        ("recall", b"\xff"),
        ("replay", str(EXAMPLES / "pi-1.6.0.jsonl"), "--ask", b"\xff"),
        ("tag", "add", "s.jsonl", b"\xff"),
    ],
)
def test_an_argument_that_is_no_text_is_refused_and_nothing_is_done(run: Run, tmp_path: Path, args: Any) -> None:
    done = run(*args, "--json", PYTHONUTF8="1")
    assert done.returncode == 2
    assert "UTF-8" in envelope(done)["error"]["message"]
    assert not (tmp_path / "d").exists()
    assert not (tmp_path / "work" / ".hindbrain").exists()


@pytest.mark.parametrize("where", ["x" * 5000, "circle", "circle/x", ""])
@pytest.mark.parametrize(
    "args",
    [
        ("mode",),
        ("import",),
        ("replay",),
        ("receipts", "--state-dir"),
        ("recall", "x", "--data-dir"),
        ("config", "show", "--config-dir"),
        ("config", "import", "--from"),
    ],
)
def test_a_path_that_nothing_could_lie_at_is_wrong_usage(
    run: Run, tmp_path: Path, args: tuple[str, ...], where: str
) -> None:
    (tmp_path / "work" / "circle").symlink_to("circle")
    done = run(*args, where, "--json")
    assert done.returncode == 2
    assert "nothing was done" in envelope(done)["error"]["message"]
    assert not (tmp_path / "d").exists()


def test_every_path_on_a_command_line_is_looked_at_first() -> None:
    def options(command: click.Command) -> list[click.Parameter]:
        below = command.commands.values() if isinstance(command, click.Group) else ()
        return [*command.params, *(each for one in below for each in options(one))]

    paths = [each for each in options(main) if isinstance(each.type, click.Path) or "dir" in str(each.name)]
    assert len(paths) > 40
    assert [each.name for each in paths if not isinstance(each.type, Place)] == []


def test_a_path_whose_bytes_are_no_text_leaves_the_envelope_json(run: Run, tmp_path: Path) -> None:
    name = b"caf\xe9".decode(errors="surrogateescape")
    done = run("import", name, "--json", PYTHONUTF8="1")
    assert done.stdout.isascii()
    assert envelope(done)["data"]["passed_over"] == [{"file": str(tmp_path / "work" / name), "reason": "missing"}]
    done = run("import", "caf\xe9", "--json", PYTHONUTF8="1")
    assert "caf\xe9" in done.stdout


def test_a_replay_that_memory_failed_says_so_in_its_envelope(run: Run) -> None:
    environ = {"HINDBRAIN_HINDSIGHT_BASE_URL": "http://127.0.0.1:9"}
    session = str(EXAMPLES / "pi-1.6.0.jsonl")
    done = run("replay", session, "--ask", "x", "--backend", "hindsight", "--json", **environ)
    told = envelope(done)
    assert done.returncode == 4
    assert told["error"]["code"] == "network"
    assert "retained" in told["error"]["message"]
    assert told["error"]["next"]
    assert len(told["warnings"]) == 1


class Interrupted:
    """A module whose loading the user cut short."""

    def __getattr__(self, name: str) -> Any:
        raise KeyboardInterrupt(name)


def test_an_interrupt_while_the_command_loads_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "hindbrain.generic._cli", Interrupted())
    with pytest.raises(SystemExit) as left:
        begin()
    assert left.value.code == 130
    assert left.value.__suppress_context__
    assert capsys.readouterr().err == "interrupted\n"


def test_nothing_is_loaded_before_an_interrupt_is_minded() -> None:
    code = "import sys, hindbrain.generic._command; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"attrs", "click", "httpx", "pydantic", "hindbrain.contracts", "hindbrain.store"} & set(loaded)


def test_delete_asks_first_or_wants_yes(run: Run) -> None:
    done = run("delete", "doc")
    assert done.returncode == 2
    assert "--yes" in done.stderr


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("retain", "   "), 3),
        (("retain", "x", "--bank", "../all"), 3),
        (("retain", "x", "--bank", ""), 3),
        (("recall", "x", "--bank", ""), 3),
        (("delete", "x", "--yes", "--bank", ""), 3),
        (("status", str(uuid.UUID(int=1)), "--bank", ""), 3),
        (("delete", "..", "--yes"), 3),
        (("status", "not-a-uuid"), 3),
        (("status", str(uuid.UUID(int=1))), 1),
        (("recall", "?!"), 1),
        (("nonsense",), 2),
        (("replay",), 2),
    ],
)
def test_a_bad_input_ends_in_its_documented_exit_code(run: Run, args: tuple[str, ...], code: int) -> None:
    done = run(*args)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_a_refused_address_sends_nothing_and_does_not_repeat_itself(run: Run) -> None:
    done = run("recall", "x", "--backend", "hindsight", "--json", HINDSIGHT_API_URL="http://hunter2.example.com")
    assert done.returncode == 3
    assert "hunter2" not in done.stdout + done.stderr
    assert "https" in envelope(done)["error"]["message"] + envelope(done)["error"]["next"]


def test_a_server_that_is_not_there_is_unreachable(run: Run) -> None:
    done = run("status", str(uuid.UUID(int=1)), "--backend", "hindsight", HINDSIGHT_API_URL="http://127.0.0.1:9")
    assert done.returncode == 4
    assert "Traceback" not in done.stderr


def test_config_show_says_where_each_value_came_from(run: Run) -> None:
    done = run("config", "show", "--origin", "--json", HINDBRAIN_RECALL_TOP_K="3")
    data = envelope(done)["data"]
    assert data["settings"]["recall.topK"] == 3
    assert data["origins"]["recall.topK"] == "environment HINDBRAIN_RECALL_TOP_K"
    assert data["origins"]["recall.types"] == "default"
    assert data["settings"]["recall.types"] == ["observation"]


def test_config_show_never_shows_a_token(run: Run) -> None:
    done = run("config", "show", "--origin", HINDSIGHT_API_TOKEN="k-1secret")
    assert "k-1secret" not in done.stdout
    assert "env:HINDSIGHT_API_TOKEN" in done.stdout


@pytest.mark.parametrize("path", ["hindsight.baseUrl", "embedder.baseUrl"])
def test_config_show_never_shows_an_address_that_is_refused(run: Run, path: str) -> None:
    variable = "HINDBRAIN_" + path.replace(".baseUrl", "_BASE_URL").upper()
    done = run("config", "show", "--origin", **{variable: "https://me:hunter2@host.example"})
    assert f'{path} = "(refused)"    (environment {variable})' in done.stdout
    assert f"{path} was dropped" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr


def test_config_show_prints_values_as_they_stand_in_a_file(run: Run) -> None:
    lines = run("config", "show").stdout.splitlines()
    values = {path: json.loads(value) for path, _, value in (line.partition(" = ") for line in lines)}
    assert values["enabled"] is True
    assert values["banks.user.bankId"] is None
    assert values["recall.types"] == ["observation"]


def test_an_invalid_setting_is_warned_about_on_stderr(run: Run) -> None:
    done = run("config", "show", HINDBRAIN_RECALL_TOP_K="many")
    assert done.returncode == 0
    assert "recall.topK" in done.stderr
    assert "many" not in done.stderr


def test_doctor_is_content_with_a_fresh_local_store_and_changes_nothing(run: Run, tmp_path: Path) -> None:
    done = run("doctor", "--json")
    assert done.returncode == 0, done.stdout
    assert {f["check"] for f in envelope(done)["data"]["findings"]} >= {"project", "banks", "sqlite", "store"}
    assert not (tmp_path / "d").exists()


def test_doctor_names_a_missing_token_and_a_readable_store(run: Run, tmp_path: Path) -> None:
    environ = {"HINDBRAIN_HINDSIGHT_API_KEY_REF": "env:NOT_SET_ANYWHERE"}
    done = run("doctor", "--backend", "hindsight", "--json", **environ)
    assert done.returncode == 1
    assert any("NOT_SET_ANYWHERE" in f["advice"] for f in envelope(done)["data"]["findings"])
    banks = tmp_path / "data" / "banks"
    banks.mkdir(parents=True)
    banks.chmod(0o755)
    done = run("doctor", "--data-dir", str(tmp_path / "data"))
    assert done.returncode == 1
    assert "chmod 700" in done.stdout


def test_doctor_finds_the_database_that_cannot_be_read_and_leaves_it(run: Run, tmp_path: Path) -> None:
    data = ("--data-dir", str(tmp_path / "data"))
    for bank in ("garbage", "flipped", "held", "sound"):
        run("retain", "We deploy on Fridays. " * 400, "--bank", bank, *data)
    banks = tmp_path / "data" / "banks"
    (banks / "garbage.sqlite").write_bytes(b"no database at all " * 1000)
    with (banks / "flipped.sqlite").open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\xa5" * 4096 * 3)
    before = {path: path.read_bytes() for path in banks.glob("*.sqlite")}
    with closing(sqlite3.connect(banks / "held.sqlite", isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        done = run("doctor", "--json", *data)
        holder.execute("ROLLBACK")
    told = [finding for finding in envelope(done)["data"]["findings"] if finding["check"] == "database"]
    assert done.returncode == 1
    assert [finding["text"].split(" ")[0] for finding in told] == ["flipped.sqlite", "garbage.sqlite", "held.sqlite"]
    assert all(finding["advice"] for finding in told)
    assert {path: path.read_bytes() for path in before} == before


def test_version_names_every_dist(run: Run) -> None:
    lines = run("--version").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [
        f"hindbrain-{name}" for name in ("contracts", "client", "store", "memory", "observe", "generic")
    ]


@pytest.mark.parametrize("args", [("--version", "--json"), ("--json", "--version")])
def test_the_versions_come_as_an_envelope_too(run: Run, args: tuple[str, ...]) -> None:
    assert set(envelope(run(*args))["data"]["versions"]) >= {"hindbrain-client", "hindbrain-store"}


@pytest.mark.parametrize(
    ("args", "command"),
    [
        (("recall", "--json"), "recall"),
        (("replay", "x", "--nonsense", "--json"), "replay"),
        (("retain", "x", "--backend", "mars", "--json"), "retain"),
        (("delete", "x", "--json"), "delete"),
        (("config", "show", "x", "--json"), "config show"),
        (("queue", "flush", "--max-jobs", "0", "--json"), "queue flush"),
        (("nonsense", "--json"), ""),
        (("--json", "status", "x", "y"), "status"),
    ],
)
def test_wrong_usage_is_an_envelope_where_json_is_asked_for(run: Run, args: tuple[str, ...], command: str) -> None:
    done = run(*args)
    told = envelope(done)
    assert done.returncode == 2
    assert told["command"] == command
    assert told["error"]["code"] == "usage"
    assert told["error"]["message"]
    assert "--help" in told["error"]["next"]
    assert done.stderr == ""


def test_json_may_stand_before_the_command(run: Run) -> None:
    assert envelope(run("--json", "config", "show"))["command"] == "config show"
