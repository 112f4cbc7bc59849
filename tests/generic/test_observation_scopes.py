"""Observation scopes from the settings to the queue's file, and what a user is told of faulty ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import Entry, Message, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import DiskOutbox, InProcessHost, Layer, Session, memory_config, merge
from hindbrain.generic._doctor import examine
from hindbrain.memory import Checkout, ScopeConfig, SessionIdentity, identify
from hindbrain.store import HostState

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="session.jsonl", origin="local")


async def queued(tmp_path: Path, values: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The item of the one line in the queue's file after one turn, and what the user was told."""
    settings = merge([Layer(origin="test", values=values)])
    told: list[str] = []
    host = InProcessHost(notify=lambda text, _level: told.append(text))
    state = await HostState.open(tmp_path / "state", seal_file=tmp_path / "seal.key", notify=told.append)
    backend = InMemoryBackend()
    session = Session(
        host=host,
        backend=backend,
        config=memory_config(settings),
        project=PROJECT,
        identity=IDENTITY,
        outbox=DiskOutbox(state, backend, settings),
    )
    for number in range(2):
        said = Message(role="user", parts=(TextPart(f"turn {number}"),))
        host.add(Entry(id=f"e{number}", parent_id=f"e{number - 1}" if number else None, kind="message", message=said))
        await session.settled()
    await session.close()
    line, _ = (tmp_path / "state" / "retain-queue.jsonl").read_text("utf-8").splitlines()
    item: dict[str, Any] = json.loads(line)["item"]
    return item, told


@pytest.mark.req("S0-scopes-006", "S0-scopes-007", "S0-scopes-033")
async def test_a_turn_is_queued_with_the_hosts_and_both_project_tags_and_the_default_scopes(tmp_path: Path) -> None:
    item, told = await queued(tmp_path, {})
    assert item["tags"] == [
        "source:pi",
        "harness:pi",
        "project:acme",
        "repo:repo-816fc349d3fa",
        "session:29e67821bedc391a",
    ]
    assert item["observationScopes"] == [["harness:pi"], ["project:acme"]]
    assert told == []


@pytest.mark.req("S0-scopes-021")
async def test_the_queue_holds_the_scopes_expanded(tmp_path: Path) -> None:
    item, _ = await queued(tmp_path, {"observations": {"scopes": [["session:{sessionId}"], ["to:{bankId}"]]}})
    assert item["observationScopes"] == [
        ["session:29e67821bedc391a"],
        [f"to:{PROJECT.bank}"],
    ]


@pytest.mark.parametrize("values", [{"enabled": False}, {"scopes": []}])
async def test_without_scopes_the_queue_holds_none_and_never_an_empty_list(
    tmp_path: Path, values: dict[str, Any]
) -> None:
    item, told = await queued(tmp_path, {"observations": values})
    assert "observationScopes" not in item
    assert told == []


@pytest.mark.req("S0-scopes-029")
async def test_a_faulty_row_is_told_once_and_the_turn_is_kept(tmp_path: Path) -> None:
    item, told = await queued(tmp_path, {"observations": {"scopes": [["x:{nope}"]]}})
    assert item["observationScopes"] == [["harness:pi"], ["project:acme"]]
    (line,) = told
    assert "{nope}" in line
    assert "hindbrain doctor" in line


async def findings(values: dict[str, Any]) -> list[tuple[str, str]]:
    settings = merge([Layer(origin="test", values=values)])
    found = await examine(settings, online=False)
    return [(each.level, each.text) for each in found if each.check == "observations"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "project"


@pytest.mark.req("S0-scopes-018")
@pytest.mark.usefixtures("folder")
async def test_doctor_names_a_placeholder_that_is_none_and_those_there_are() -> None:
    (level, problem), _ = await findings({"observations": {"scopes": [["x:{nope}"]]}})
    assert level == "problem"
    assert "{nope}" in problem
    for name in ("repoKey", "sessionId", "cwdHash", "projectBankId", "bankId", "projectId"):
        assert f"{{{name}}}" in problem


@pytest.mark.req("S0-scopes-019")
async def test_doctor_shows_the_scopes_as_a_job_would_carry_them(folder: Path) -> None:
    key = identify(Checkout(cwd=str(folder), root=str(folder.resolve())), ScopeConfig()).repo_key
    ((level, text),) = await findings({"observations": {"scopes": [["repo:{repoKey}"], ["s:{sessionId}"]]}})
    assert level == "ok"
    assert json.loads(text) == [[f"repo:{key}"], ["s:<sessionId>"]]
    ((level, text),) = await findings({"observations": {"enabled": False}})
    assert (level, "server" in text) == ("ok", True)
