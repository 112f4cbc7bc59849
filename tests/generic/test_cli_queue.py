"""``hindbrain queue`` on a queue that a session left behind."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hindbrain.contracts import BackendError, Outcome, Retained, RetainItem, RetainJob
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.store import FlushPolicy, HostState

from .conftest import Command

MARKER = "MARKER-42"

Run = Callable[..., subprocess.CompletedProcess[str]]


class Refusing(InMemoryBackend):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        del bank, item, operation_id
        error = BackendError("it was refused")
        error.outcome = Outcome.REFUSED
        raise error


def job(number: int) -> RetainJob:
    id_ = f"{number:08d}-0000-4000-8000-000000000000"
    item = RetainItem(content=f"{MARKER} says {number}", document_id=f"doc-{number}")
    return RetainJob(id=id_, bank="bank-a", item=item, operation_id=id_, created_at="2026-01-02T03:04:05.000Z")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def run(place: Path, hindbrain: Command) -> Run:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HIND", "PI_"))}

    def run_(*args: str) -> subprocess.CompletedProcess[str]:
        places = ["--data-dir", str(place / "data"), "--config-dir", str(place)]
        return hindbrain("queue", *args, *places, cwd=place / "work", env={**kept, "HOME": str(place / "home")})

    return run_


@pytest.fixture
def fill(place: Path) -> Callable[..., None]:
    """Leave jobs behind: some waiting, some given up."""

    async def work(waiting: int, dead: int) -> None:
        folder, seal = place / "work" / ".hindbrain", place / "data" / "seal.key"
        state = await HostState.open(folder, seal_file=seal)
        await state.ask(lambda queue: queue.append_many([job(n) for n in range(dead)]))
        flusher = state.flusher(Refusing(), FlushPolicy(max_attempts=1))
        if dead:
            await flusher.flush()
        await state.ask(lambda queue: queue.append_many([job(100 + n) for n in range(waiting)]))
        await state.close()

    return lambda waiting=0, dead=0: asyncio.run(work(waiting, dead))


def data(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert MARKER not in done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["data"]
    return found


@pytest.mark.req("S0-queue-010", "S0-queue-012")
def test_status_counts_and_never_shows_content(run: Run, fill: Callable[..., None]) -> None:
    fill(waiting=2, dead=1)
    found = data(run("status", "--json"))
    assert (found["waiting"], found["dead"], found["malformed"]) == (2, 1, 0)
    assert "waiting      2" in run("status").stdout


def everything(root: Path) -> dict[str, tuple[int, bytes | None]]:
    return {str(p): (p.lstat().st_mode, p.read_bytes() if p.is_file() else None) for p in root.rglob("*")}


LOOKS = [("status",), ("list",), ("verify",), ("adopt",), ("dead", "list"), ("dead", "show", "x")]


@pytest.mark.parametrize("args", LOOKS)
def test_looking_makes_no_state_folder_and_no_key(run: Run, place: Path, args: tuple[str, ...]) -> None:
    done = run(*args, "--json")
    assert done.returncode == (1 if "show" in args else 0)
    assert not (place / "work/.hindbrain").exists()
    assert not (place / "data").exists()


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("flush",), 0),
        (("flush", "--backend", "hindsight"), 0),
        (("adopt", "--yes"), 0),
        (("dead", "requeue", "x"), 1),
        (("dead", "drop", "x", "--yes"), 1),
    ],
)
def test_where_no_queue_is_there_is_nothing_to_do_and_none_is_made(
    run: Run, place: Path, args: tuple[str, ...], code: int
) -> None:
    done = run(*args, "--json")
    assert done.returncode == code, done.stdout
    assert not (place / "work/.hindbrain").exists()
    assert not (place / "data").exists()


@pytest.mark.parametrize("args", LOOKS)
def test_looking_changes_nothing(run: Run, fill: Callable[..., None], place: Path, args: tuple[str, ...]) -> None:
    fill(waiting=1, dead=1)
    with (place / "work/.hindbrain/retain-queue.jsonl").open("ab") as queue:
        queue.write(b'{"broken": 1\n{"torn')
    before = everything(place)
    run(*args)
    assert everything(place) == before


@pytest.mark.req("S0-queue-011")
def test_a_malformed_line_is_counted_without_its_text(run: Run, fill: Callable[..., None], place: Path) -> None:
    fill(waiting=1)
    with (place / "work/.hindbrain/retain-queue.jsonl").open("ab") as queue:
        queue.write(b'{"broken": "' + MARKER.encode() + b"\n")
    found = data(run("status", "--json"))
    assert (found["waiting"], found["malformed"]) == (1, 1)


@pytest.mark.req("S0-receipts-002")
def test_flush_delivers_what_waits_and_says_how_much(run: Run, fill: Callable[..., None]) -> None:
    fill(waiting=2)
    found = data(run("flush", "--json"))
    assert (found["sent"], found["remaining"], found["items"], found["operations"]) == (2, 0, 2, 2)
    assert found["tokens"] > 0
    assert data(run("status", "--json"))["waiting"] == 0


def test_flush_keeps_to_the_number_it_is_given(run: Run, fill: Callable[..., None]) -> None:
    fill(waiting=3)
    assert data(run("flush", "--max-jobs", "1", "--json"))["remaining"] == 2


@pytest.mark.parametrize(("delivery", "operations"), [("immediate", 2), ("coalesced", 1)])
def test_flush_sends_turns_of_a_document_as_the_settings_say(
    run: Run, place: Path, delivery: str, operations: int
) -> None:
    async def work() -> None:
        state = await HostState.open(place / "work" / ".hindbrain", seal_file=place / "data" / "seal.key")
        turns = [job(n) for n in range(2)]
        item: dict[str, Any] = {
            "document_id": "doc",
            "update_mode": "append",
            "content": '[{"role": "user", "content": "words"}]',
        }
        await state.ask(lambda queue: queue.append_many([evolve(t, item=evolve(t.item, **item)) for t in turns]))
        await state.close()

    asyncio.run(work())
    (place / "hindbrain.json").write_text(json.dumps({"retain": {"delivery": delivery}}), "utf-8")
    assert data(run("flush", "--json"))["operations"] == operations


def test_list_shows_order_and_no_content(run: Run, fill: Callable[..., None]) -> None:
    fill(waiting=2)
    assert [row["document_id"] for row in data(run("list", "--json"))["jobs"]] == ["doc-100", "doc-101"]
    assert MARKER not in run("list").stdout


def test_dead_letters_are_listed_shown_requeued_and_dropped(run: Run, fill: Callable[..., None]) -> None:
    fill(dead=2)
    first, second = data(run("dead", "list", "--json"))["dead"]
    assert first["retries"] == 1
    assert "content" not in data(run("dead", "show", first["id"], "--json"))
    assert MARKER in run("dead", "show", first["id"], "--content").stdout
    assert run("dead", "requeue", first["id"]).returncode == 0
    assert run("dead", "drop", second["id"]).returncode == 2
    assert run("dead", "drop", second["id"], "--yes").returncode == 0
    found = data(run("status", "--json"))
    assert (found["waiting"], found["dead"]) == (1, 0)
    again = run("dead", "requeue", second["id"], "--json")
    assert again.returncode == 1
    assert json.loads(again.stdout)["error"]["next"]


def test_verify_is_content_with_what_we_wrote_and_not_with_a_flipped_byte(
    run: Run, fill: Callable[..., None], place: Path
) -> None:
    fill(waiting=2)
    assert data(run("verify", "--json"))["sound"] is True
    path = place / "work/.hindbrain/retain-queue.jsonl"
    path.write_bytes(path.read_bytes().replace(b"says 100", b"says 900"))
    done = run("verify", "--json")
    assert (done.returncode, data(done)["sound"]) == (1, False)


def test_lines_of_another_user_are_sent_only_after_adoption(run: Run, fill: Callable[..., None], place: Path) -> None:
    fill(waiting=1)
    (place / "data" / "seal.key").unlink()
    assert data(run("flush", "--json"))["sent"] == 0
    found = data(run("adopt", "--json"))
    assert (found["unsealed"], found["adopted"]) == (1, 0)
    assert MARKER in run("adopt", "--content").stdout
    assert data(run("adopt", "--yes", "--json"))["adopted"] == 1
    assert data(run("flush", "--json"))["sent"] == 1


def test_a_server_that_is_not_there_leaves_everything_waiting(run: Run, fill: Callable[..., None], place: Path) -> None:
    fill(waiting=2)
    (place / "hindbrain.json").write_text('{"hindsight": {"baseUrl": "http://127.0.0.1:9"}}', "utf-8")
    done = run("flush", "--backend", "hindsight", "--json")
    assert done.returncode == 4
    found = data(done)
    assert (found["sent"], found["remaining"], found["stopped_by"]) == (0, 2, "network")


@pytest.mark.parametrize("command", [("status",), ("flush",), ("list",), ("verify",), ("dead", "list")])
def test_an_empty_queue_is_no_error(run: Run, command: tuple[str, ...]) -> None:
    done = run(*command)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
