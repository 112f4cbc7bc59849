"""Automatic memory against the real server, as a user has it: sessions, the command, two projects, and a hard kill."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from hindbrain.contracts import Entry, Message, TextPart
from hindbrain.generic import InProcessHost, Layer, Session, SessionPlace, live_session, merge
from hindbrain.memory.sessions import read_session

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]

HINDBRAIN = Path(sys.executable).with_name("hindbrain")
EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"
KEY = "HINDBRAIN_AUTOMATIC_KEY"

Hindbrain = Callable[..., Awaitable[tuple[int, dict[str, Any]]]]


@pytest.fixture
async def user_bank(server: httpx.AsyncClient) -> AsyncIterator[str]:
    """A bank for the person, deleted afterwards."""
    name = f"live-user-{uuid.uuid4().hex}"
    yield name
    await server.delete(f"/v1/default/banks/{name}")


@pytest.fixture(autouse=True)
def key(live_key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is in the environment, as the settings say."""
    monkeypatch.setenv(KEY, live_key)


@pytest.fixture
def values(live_url: str, bank: str, user_bank: str, tmp_path: Path) -> dict[str, Any]:
    """Settings of a user of the server."""
    return {
        "backend": "hindsight",
        "hindsight": {"baseUrl": live_url, "apiKeyRef": f"env:{KEY}"},
        "banks": {"project": {"bankId": bank}, "user": {"bankId": user_bank}},
        "dataDir": str(tmp_path / "data"),
    }


@pytest.fixture
def projects(tmp_path: Path) -> tuple[Path, Path]:
    """Two projects of one user."""
    made = tmp_path / "heron", tmp_path / "otter"
    for project in made:
        (project / ".git").mkdir(parents=True)
    return made


@pytest.fixture
def hindbrain(tmp_path: Path, values: dict[str, Any], projects: tuple[Path, Path]) -> Hindbrain:
    """The command as that user runs it, in the first project unless another is named."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "hindbrain.json").write_text(json.dumps(values))
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HIND", "PI_")) or k == KEY}

    def run(*args: str, cwd: Path | None = None, key: str | None = None) -> tuple[int, dict[str, Any]]:
        done = subprocess.run(
            [HINDBRAIN, *args, "--json", "--config-dir", tmp_path / "config"],
            cwd=cwd or projects[0],
            env={**kept, "HOME": str(tmp_path / "home"), **({} if key is None else {KEY: key})},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, json.loads(done.stdout)

    async def hindbrain(*args: str, **more: Any) -> tuple[int, dict[str, Any]]:
        return await asyncio.to_thread(run, *args, **more)

    return hindbrain


async def quiet(server: httpx.AsyncClient, bank: str) -> None:
    """Wait until the server has nothing left to do in a bank."""
    async with asyncio.timeout(90):
        for status in ("pending", "processing", "pending"):
            while True:
                answer = await server.get(f"/v1/default/banks/{bank}/operations", params={"status": status, "limit": 1})
                if answer.status_code == 404 or not answer.raise_for_status().json()["total"]:
                    break
                await asyncio.sleep(0.1)


async def documents(server: httpx.AsyncClient, bank: str) -> dict[str, dict[str, Any]]:
    """All documents of a bank, whole, by id."""
    listed = await server.get(f"/v1/default/banks/{bank}/documents", params={"limit": 500})
    names = [each["id"] for each in listed.raise_for_status().json()["items"]]
    answers = [await server.get(f"/v1/default/banks/{bank}/documents/{name.replace('/', '%2F')}") for name in names]
    return {name: answer.raise_for_status().json() for name, answer in zip(names, answers, strict=True)}


def said(number: int, text: str) -> Entry:
    above = f"e{number - 1}" if number else None
    return Entry(
        id=f"e{number}", parent_id=above, kind="message", message=Message(role="user", parts=(TextPart(text),))
    )


async def shown(session: Session, question: str) -> str:
    patch = await session.context([Message(role="user", parts=(TextPart(question),))])
    assert patch.outcome.failures == ()
    return patch.text


async def test_each_append_carries_all_tags_and_what_was_retained_is_recalled_in_this_project_only(
    values: dict[str, Any],
    projects: tuple[Path, Path],
    bank: str,
    server: httpx.AsyncClient,
    consolidated: Callable[[], Awaitable[None]],
) -> None:
    settings = merge([Layer(origin="test", values=values)])
    words = "The release branch is called harbour.", "Nobody renames the release branch."
    host, place = InProcessHost(), SessionPlace(host="pi", cwd=str(projects[0]))
    async with live_session(host, settings, place) as session:
        host.add(said(0, words[0]))
        await session.settled()
        await quiet(server, bank)
        (first,) = (await documents(server, bank)).values()
        await session.governance.add_tag("topic:release")
        host.add(said(1, words[1]))
        (job,) = (await session.settled()).jobs
        await quiet(server, bank)
        ((name, second),) = (await documents(server, bank)).items()
    assert (job.item.document_id, job.item.update_mode) == (name, "append")
    assert set(second["tags"]) == set(job.item.tags) == {*first["tags"], "topic:release"}
    assert {tag.partition(":")[0] for tag in first["tags"]} == {"source", "harness", "project", "repo", "session"}
    assert [second["original_text"].count(text) for text in words] == [1, 1]
    await consolidated()
    for project, found in zip(projects, (True, False), strict=True):
        async with live_session(InProcessHost(), settings, SessionPlace(host="pi", cwd=str(project))) as session:
            block = await shown(session, "What is the release branch called?")
            assert ("harbour" in block) is found
            assert (block != "") is found


def killed(argv: list[str], moment: str) -> int:
    """Run a host until it says that it is so far, and kill it there; its exit code."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        assert any(line.strip() == moment for line in iter(host.stdout.readline, ""))
        host.kill()
    return host.returncode


@pytest.mark.parametrize("moment", ["written 2", "kept 2", "sent 2", "kept 3"])
async def test_a_session_that_is_killed_goes_on_with_nothing_lost_and_nothing_twice(
    moment: str, values: dict[str, Any], projects: tuple[Path, Path], bank: str, server: httpx.AsyncClient
) -> None:
    file, texts = projects[0] / "s.jsonl", [f"Lamp number {number:03} of the walk is red." for number in range(5)]
    argv = [sys.executable, str(Path(__file__).with_name("walk.py")), str(file), json.dumps(texts), json.dumps(values)]
    assert await asyncio.to_thread(killed, argv, moment) == -signal.SIGKILL
    assert len(read_session(file).entries) < 2 * len(texts)
    again = await asyncio.to_thread(subprocess.run, argv, capture_output=True, text=True, timeout=120, check=True)
    assert "failed" not in again.stdout
    await quiet(server, bank)
    (document,) = (await documents(server, bank)).values()
    assert [document["original_text"].count(text) for text in texts] == [1] * len(texts)


async def test_what_is_retained_for_the_user_is_recalled_in_every_project_and_can_be_forgotten(
    hindbrain: Hindbrain,
    projects: tuple[Path, Path],
    bank: str,
    user_bank: str,
    server: httpx.AsyncClient,
    *,
    consolidated: Callable[..., Awaitable[None]],
) -> None:
    for command, text in (("retain-user", "The user prefers tabs over spaces."), ("retain", "Tabs cost a crown here.")):
        code, envelope = await hindbrain(command, text)
        assert (code, envelope["data"]["state"]) == (0, "sent")
    for name in (bank, user_bank):
        await quiet(server, name)
    await consolidated(bank, user_bank)
    found = {}
    for project in projects:
        code, envelope = await hindbrain("recall", "tabs or spaces?", cwd=project)
        assert code == 0
        found[project] = {(each["bank"], each["text"]) for each in envelope["data"]["facts"]}
    users = (user_bank, "The user prefers tabs over spaces.")
    assert found == {projects[0]: {users, (bank, "Tabs cost a crown here.")}, projects[1]: {users}}

    ((document, _),) = (await documents(server, user_bank)).items()
    code, envelope = await hindbrain("forget", document, "--bank", user_bank, "--yes", cwd=projects[1])
    assert (code, envelope["data"]["found"]) == (0, True)
    assert await documents(server, user_bank) == {}
    assert (await hindbrain("recall", "tabs or spaces?", cwd=projects[1]))[0] == 1
    assert (await hindbrain("forget", document, "--bank", user_bank, "--yes", cwd=projects[1]))[0] == 1


def levels(envelope: dict[str, Any], check: str) -> list[tuple[str, str]]:
    return [(each["level"], each["text"]) for each in envelope["data"]["findings"] if each["check"] == check]


async def test_doctor_tells_a_server_that_answers_from_a_wrong_key_and_facts_without_observations(
    hindbrain: Hindbrain, bank: str, server: httpx.AsyncClient
) -> None:
    # A bank whose observations are switched off on the server has raw facts only.
    (await server.put(f"/v1/default/banks/{bank}", json={"enable_observations": False})).raise_for_status()
    code, envelope = await hindbrain("doctor", "--online")
    assert (code, [level for level, _ in levels(envelope, "reach")]) == (0, ["ok"])
    assert "nothing under these tags yet" in levels(envelope, "memories")[0][1]

    assert (await hindbrain("retain", "The gateway uses port 7."))[0] == 0
    await quiet(server, bank)
    code, envelope = await hindbrain("doctor", "--online")
    assert code == 0
    level, text = levels(envelope, "memories")[0]
    assert (level, "raw facts but no observations" in text) == ("warning", True)
    assert "gateway" not in json.dumps(envelope)

    code, envelope = await hindbrain("doctor", "--online", key="not-the-key-hunter2")
    assert (code, [level for level, _ in levels(envelope, "reach")]) == (1, ["problem"])
    (reach,) = (each for each in envelope["data"]["findings"] if each["check"] == "reach")
    assert reach["data"]["code"] == "unauthorized"
    assert "hunter2" not in json.dumps(envelope)


async def test_old_sessions_imported_twice_are_there_once(
    hindbrain: Hindbrain, bank: str, server: httpx.AsyncClient
) -> None:
    sessions = "import", str(EXAMPLES), "--project", ".", "--bank", bank
    code, envelope = await hindbrain(*sessions)
    assert (code, envelope["data"]["dry_run"]) == (0, True)
    assert await operations(server, bank) == 0
    code, envelope = await hindbrain(*sessions, "--yes")
    assert code == 0
    await quiet(server, bank)
    first, done = await documents(server, bank), await operations(server, bank)
    assert first
    code, envelope = await hindbrain(*sessions, "--yes")
    assert code == 0
    await quiet(server, bank)
    assert (texts_of(await documents(server, bank)), await operations(server, bank)) == (texts_of(first), done)

    # Both hosts recorded the same conversation, and the fork has its parent's entries under the same ids.
    entries = {
        entry.id: " ".join(part.text for part in entry.message.parts if isinstance(part, TextPart))
        for file in EXAMPLES.rglob("*.jsonl")
        for entry in read_session(file).branch().path()
        if entry.message is not None and entry.message.role == "user"
    }
    assert len(entries) > 20
    kept = [json.dumps(each, ensure_ascii=False) for document in first.values() for each in messages(document)]
    for text, count in Counter(entries.values()).items():
        inside = json.dumps(text, ensure_ascii=False)[1:-1]
        assert sum(inside in one for one in kept if '"user"' in one) == count, text


def texts_of(found: dict[str, dict[str, Any]]) -> dict[str, tuple[str, list[str]]]:
    """What a document says and is tagged with: its counts go on changing while observations are made."""
    return {name: (document["original_text"], sorted(document["tags"])) for name, document in found.items()}


async def operations(server: httpx.AsyncClient, bank: str) -> int:
    answer = await server.get(f"/v1/default/banks/{bank}/operations", params={"type": "retain", "limit": 1})
    return 0 if answer.status_code == 404 else int(answer.raise_for_status().json()["total"])


def messages(document: dict[str, Any]) -> list[dict[str, Any]]:
    content = json.loads(document["original_text"])
    found: list[dict[str, Any]] = content["messages"] if isinstance(content, dict) else content
    return found
