"""``hindbrain retain | retain-user | forget | receipts | status``, run for real."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Command

MARKER = "MARKER-42"

Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    return tmp_path / "work"


@pytest.fixture
def run(tmp_path: Path, project: Path, hindbrain: Command) -> Run:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HIND", "PI_"))}

    def run_(*args: str, stdin: str = "", **env: str) -> tuple[int, dict[str, Any]]:
        places = ["--data-dir", str(tmp_path / "data"), "--config-dir", str(tmp_path)]
        home = {**kept, "HOME": str(tmp_path / "home"), **env}
        done = hindbrain(*args, "--json", *places, cwd=project, env=home, stdin=stdin)
        assert "Traceback" not in done.stderr
        return done.returncode, json.loads(done.stdout)

    return run_


@pytest.fixture
def down() -> dict[str, str]:
    """The variables that name a server where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    return {"HINDBRAIN_BACKEND": "hindsight", "HINDBRAIN_HINDSIGHT_BASE_URL": f"http://127.0.0.1:{port}"}


@pytest.mark.req("S0-queue-004")
@pytest.mark.parametrize("command", ["retain", "retain-user"])
def test_a_retain_that_no_server_takes_says_queued_and_waits_on_the_disk(
    run: Run, project: Path, down: dict[str, str], command: str
) -> None:
    env = {**down, "HINDBRAIN_BANKS_USER_BANK_ID": "me"}
    code, envelope = run(command, f"We ship on Fridays, {MARKER}.", "--tag", "topic:ops", **env)
    assert (code, envelope["data"]["state"], envelope["data"]["waiting"]) == (0, "queued", 1)
    (line,) = (project / ".hindbrain/retain-queue.jsonl").read_text("utf-8").splitlines()
    item = json.loads(line)["item"]
    assert MARKER in item["content"]
    assert {"topic:ops", "source:cli"} <= set(item["tags"])
    assert (project / ".hindbrain/.gitignore").read_text("utf-8").startswith("*\n")
    assert run("queue", "flush")[1]["data"]["sent"] == 1
    assert run("status")[1]["data"]["queue"]["waiting"] == 0


def test_what_is_about_the_user_is_recalled_in_the_users_bank(run: Run) -> None:
    env = {"HINDBRAIN_BANKS_USER_BANK_ID": "me"}
    code, envelope = run("retain-user", "-", stdin="I prefer tabs over spaces.", **env)
    assert (code, envelope["data"]["bank"], envelope["data"]["state"]) == (0, "me", "sent")
    (fact,) = run("recall", "tabs or spaces?", **env)[1]["data"]["facts"]
    assert (fact["bank"], fact["text"]) == ("me", "I prefer tabs over spaces.")


def test_without_a_user_bank_the_setting_is_named(run: Run) -> None:
    code, envelope = run("retain-user", "I prefer tabs.")
    assert code == 3
    assert "banks.user.bankId" in envelope["error"]["next"]


def test_an_address_that_is_refused_queues_nothing(run: Run, project: Path) -> None:
    env = {"HINDBRAIN_BACKEND": "hindsight", "HINDBRAIN_HINDSIGHT_BASE_URL": "http://memory.example.com"}
    assert run("retain", "We ship on Fridays.", **env)[0] == 3
    assert not (project / ".hindbrain/retain-queue.jsonl").exists()


def test_forgetting_takes_what_waits_along_and_makes_no_state_folder(
    run: Run, project: Path, down: dict[str, str]
) -> None:
    assert run("forget", "nothing", "--yes")[0] == 1
    assert not (project / ".hindbrain").exists()
    document = run("retain", "We ship on Fridays.", **down)[1]["data"]["document_id"]
    code, envelope = run("forget", document, "--yes")
    assert (code, envelope["data"]["found"], envelope["data"]["given_up"]) == (0, False, 1)
    assert run("status")[1]["data"]["queue"]["waiting"] == 0


def test_forget_asks_first_where_nobody_said_yes(run: Run) -> None:
    assert run("forget", "x")[0] == 2


@pytest.mark.req("S0-receipts-006")
def test_receipts_and_status_show_numbers_and_no_words(run: Run) -> None:
    assert run("receipts")[1]["data"] == {
        "receipts": [],
        "totals": {"items": None, "operations": None, "tokens": None},
    }
    assert run("status")[1]["data"]["outcome"] is None
    for text in (f"We ship on Fridays, {MARKER}.", f"We pay on Mondays, {MARKER}."):
        assert run("retain", text)[1]["data"]["state"] == "sent"
    envelope = run("receipts")[1]
    newest, oldest = envelope["data"]["receipts"]
    assert newest["created_at"] >= oldest["created_at"]
    assert (newest["items"], newest["operations"], newest["source"]) == (1, 1, "tool")
    totals = envelope["data"]["totals"]
    assert (totals["items"], totals["operations"]) == (2, 2)
    assert totals["tokens"] == newest["tokens"] + oldest["tokens"] > 0
    status = run("status")[1]["data"]
    assert (status["outcome"], status["documents"]) == (totals, 2)
    assert MARKER not in json.dumps([envelope, status])
