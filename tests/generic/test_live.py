"""A live session over the embedded store and a state folder in its project."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from hindbrain.contracts import HindbrainError, Message, Recall, TextPart
from hindbrain.generic import InProcessHost, Layer, SessionPlace, live_session, merge
from hindbrain.memory import NoProjectError, session_key
from hindbrain.memory.sessions import raw_messages, read_session
from hindbrain.store import EmbeddedBackend, HostState, StoreError
from hindbrain.store._cursors import legacy_fingerprint

EXAMPLES = Path(__file__).parents[2] / "examples" / "sessions"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


async def retain_all(tmp_path: Path, project: Path, file: Path, host_name: str = "pi") -> tuple[str, int, list[str]]:
    lines: list[str] = []
    host = InProcessHost(notify=lambda text, _level: lines.append(text))
    for entry in read_session(file).entries:
        host.add(entry)
    settings = merge([Layer(origin="test", values={"dataDir": str(tmp_path / "data")})])
    place = SessionPlace(host=host_name, cwd=str(project), file=str(file))
    async with live_session(host, settings, place) as session:
        turn = await session.settled()
        kept = [each for job in turn.jobs for each in json.loads(job.item.content)]
        return session.identity.document_id, len(kept), lines


async def test_a_session_is_retained_once_and_recalled_in_the_next(tmp_path: Path, project: Path) -> None:
    file = shutil.copy(EXAMPLES / "pi-1.6.0.jsonl", tmp_path / "s.jsonl")
    _, first, _ = await retain_all(tmp_path, project, Path(file))
    _, again, _ = await retain_all(tmp_path, project, Path(file))
    assert first > 10
    assert again == 0
    assert (project / ".pi/hindsight/retain-queue.jsonl").stat().st_mode & 0o077 == 0
    settings = merge([Layer(origin="test", values={"dataDir": str(tmp_path / "data")})])
    async with live_session(InProcessHost(), settings, SessionPlace(host="pi", cwd=str(project))) as session:
        question = Message(role="user", parts=(TextPart("Which test framework does the user want?"),))
        assert "unittest, not pytest" in (await session.context([question])).text


async def test_a_session_file_that_moves_keeps_its_document(tmp_path: Path, project: Path) -> None:
    file = Path(shutil.copy(EXAMPLES / "pi-1.6.0.jsonl", tmp_path / "s.jsonl"))
    before, _, _ = await retain_all(tmp_path, project, file)
    moved = file.rename(tmp_path / "moved.jsonl")
    after, new, _ = await retain_all(tmp_path, project, moved)
    assert before == after
    assert new == 0


async def test_a_fork_has_its_own_document_and_retains_only_what_is_new(tmp_path: Path, project: Path) -> None:
    whole, _, _ = await retain_all(tmp_path, project, EXAMPLES / "pi-1.6.0.jsonl")
    fork, new, _ = await retain_all(tmp_path, project, EXAMPLES / "pi-1.6.0-fork.jsonl")
    entries = read_session(EXAMPLES / "pi-1.6.0-fork.jsonl").entries
    shared = {e.id for e in read_session(EXAMPLES / "pi-1.6.0.jsonl").entries}
    own = [e for e in entries if e.message is not None and e.id not in shared and e.message.role != "system"]
    assert whole != fork
    assert 0 < new <= len(own) < len(entries)


@pytest.mark.req("S0-abort-005")
async def test_a_recall_that_was_aborted_leaves_no_file(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recall = {"storeLastRecall": True, "storeLastRecallFailures": True}
    settings = merge([Layer(origin="test", values={"dataDir": str(tmp_path / "data"), "recall": recall})])
    question = Message(role="user", parts=(TextPart("Which test framework does the user want?"),))
    entered, abort = asyncio.Event(), asyncio.Event()

    async def held(*_: object) -> Recall:
        entered.set()
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    async with live_session(InProcessHost(), settings, SessionPlace(host="pi", cwd=str(project))) as session:
        with monkeypatch.context() as hanging:
            hanging.setattr(EmbeddedBackend, "recall", held)
            task = asyncio.create_task(session.context([question], abort=abort))
            await entered.wait()
            abort.set()
            assert (await task).skipped == "aborted"
        assert not list(tmp_path.rglob("last-recall*"))
        await session.context([question])
        assert list(tmp_path.rglob("last-recall.json"))


async def test_each_host_keeps_its_state_in_its_own_folder(tmp_path: Path, project: Path) -> None:
    await retain_all(tmp_path, project, EXAMPLES / "omp-18.2.3.jsonl", "omp")
    assert (project / ".omp/hindsight/retain-cursors.json").exists()
    assert not (project / ".pi").exists()


async def test_a_repository_that_ships_a_link_for_the_state_folder_is_refused(tmp_path: Path, project: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / ".pi").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        await retain_all(tmp_path, project, EXAMPLES / "pi-1.6.0.jsonl")
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_a_cursor_file_that_came_with_a_repository_is_not_believed(tmp_path: Path, project: Path) -> None:
    (project / ".pi/hindsight").mkdir(parents=True)
    (project / ".pi/hindsight/retain-cursors.json").write_text("not json", "utf-8")
    _, new, lines = await retain_all(tmp_path, project, EXAMPLES / "pi-1.6.0.jsonl")
    assert new > 10
    assert any("cursors" in line for line in lines)


async def test_what_the_typescript_extension_retained_is_not_retained_again(tmp_path: Path, project: Path) -> None:
    file = Path(shutil.copy(EXAMPLES / "pi-1.6.0.jsonl", tmp_path / "s.jsonl"))
    branch = {entry.id for entry in read_session(file).branch().path()}
    raw = [message for entry_id, message in raw_messages(file) if entry_id in branch]
    (project / ".pi/hindsight").mkdir(parents=True)
    old = {session_key(str(file)): [legacy_fingerprint(message) for message in raw[:-2]]}
    (project / ".pi/hindsight/retain-cursors.json").write_text(json.dumps(old), "utf-8")
    _, new, _ = await retain_all(tmp_path, project, file)
    _, again, _ = await retain_all(tmp_path, project, file)
    assert 0 < new <= 2
    assert again == 0


async def test_a_session_that_cannot_be_opened_lets_go_of_its_folder(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[HostState] = []
    close = HostState.close

    async def closing(self: HostState) -> None:
        closed.append(self)
        await close(self)

    monkeypatch.setattr(HostState, "close", closing)
    values = {
        "dataDir": str(tmp_path / "data"),
        "backend": "hindsight",
        "hindsight": {"baseUrl": "http://a.example.com"},
    }
    place = SessionPlace(host="pi", cwd=str(project))
    with pytest.raises(HindbrainError):
        async with live_session(InProcessHost(), merge([Layer(origin="test", values=values)]), place):
            pass
    assert len(closed) == 1


async def test_the_home_directory_is_no_place_for_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(NoProjectError):
        await retain_all(tmp_path, tmp_path, EXAMPLES / "pi-1.6.0.jsonl")


async def test_what_is_wrong_with_the_settings_is_told_when_the_session_opens(tmp_path: Path, project: Path) -> None:
    lines: list[str] = []
    host = InProcessHost(notify=lambda text, _level: lines.append(text))
    mine = Layer(origin="mine", values={"dataDir": str(tmp_path / "data")})
    theirs = Layer(origin="theirs", values={"backend": "hindsight", "enabled": 3}, trusted=False)
    async with live_session(host, merge([mine, theirs]), SessionPlace(host="pi", cwd=str(project))):
        assert lines == list(merge([mine, theirs]).warnings)
        assert any("backend" in line for line in lines)
