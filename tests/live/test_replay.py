"""The main job against the real server: a recorded session gets a memory there and answers from it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hindbrain.contracts.testing import planted_secrets
from hindbrain.generic import Layer, Replay, Settings, merge, open_backend

EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"


@pytest.fixture
def settings(live_url: str, live_key: str, bank: str, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HINDBRAIN_TEST_KEY", live_key)
    values = {
        "backend": "hindsight",
        "hindsight": {"baseUrl": live_url, "apiKeyRef": "env:HINDBRAIN_TEST_KEY"},
        "banks": {"project": {"bankId": bank}},
    }
    return merge([Layer(origin="test", values=values)])


@pytest.mark.timeout(180)
async def test_a_recorded_session_is_retained_and_answers_from_its_own_words(
    settings: Settings, consolidated: Callable[[], Awaitable[None]]
) -> None:
    path = EXAMPLES / "pi-1.6.0.jsonl"
    async with open_backend(settings) as backend:
        first = await Replay(path, backend, settings).run(None)
        await consolidated()
        report = await Replay(path, backend, settings).run("Which test framework does the user want?")
    assert (report.failed, report.waiting, report.code) == (0, 0, None)
    assert "unittest" in report.injected
    recorded = {json.loads(line).get("id") for line in path.read_text("utf-8").splitlines()}
    (document,) = report.documents
    sources = [item for item in report.items if "unittest" in item.text]
    assert sources
    assert sources[0].document_id == document
    assert set(sources[0].entries) <= recorded
    assert sources[0].entries
    assert (first.retains, first.failed) == (report.retains, 0)


@pytest.mark.timeout(120)
async def test_two_projects_in_one_bank_never_see_each_other(
    settings: Settings, tmp_path: Path, consolidated: Callable[[], Awaitable[None]]
) -> None:
    words = {
        "one": "The gearbox of project one is called Aurora.",
        "two": "The gearbox of project two is called Borealis.",
    }
    blocks = {}
    for name, text in words.items():
        (tmp_path / name).mkdir()
        lines = [
            {"type": "session", "version": 3, "id": name, "cwd": str(tmp_path / name)},
            {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": text}},
        ]
        (tmp_path / name / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    async with open_backend(settings) as backend:
        for name in words:
            await Replay(tmp_path / name / "s.jsonl", backend, settings).run(None)
        await consolidated()
        for name in words:
            replay = Replay(tmp_path / name / "s.jsonl", backend, settings)
            blocks[name] = (await replay.run("which gearbox is it?")).injected
    assert "Aurora" in blocks["one"]
    assert "Borealis" not in blocks["one"]
    assert "Borealis" in blocks["two"]
    assert "Aurora" not in blocks["two"]


@pytest.mark.timeout(120)
async def test_no_planted_secret_arrives_at_the_server(settings: Settings, tmp_path: Path, server: object) -> None:
    planted = planted_secrets()
    lines: list[dict[str, object]] = [{"type": "session", "version": 3, "id": "s", "cwd": str(tmp_path)}]
    text = "\n".join(secret.text for secret in planted)
    lines.append({"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": text}})
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    async with open_backend(settings) as backend:
        report = await Replay(path, backend, settings).run("what was run with it?")
    assert report.retains == 1
    assert report.failed == 0
    import httpx

    assert isinstance(server, httpx.AsyncClient)
    bank = settings["banks.project.bankId"]
    answer = await server.get(f"/v1/default/banks/{bank}/documents/{report.documents[0]}")
    stored = answer.raise_for_status().text
    assert "worked" in stored
    assert [s.family for s in planted if s.core in stored] == []
