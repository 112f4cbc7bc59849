"""What a live session leaves of its last recall, where the user asked for it, and what it never does with that."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import (
    Backend,
    BackendError,
    Entry,
    Fact,
    FactType,
    Message,
    Outcome,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    Scores,
    TextPart,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import ContextPatch, InProcessHost, Layer, Session, SessionPlace, Settings, live_session, merge
from hindbrain.memory import (
    Checkout,
    MemoryConfig,
    Question,
    RecallConfig,
    SessionIdentity,
    identify,
    read_recall,
)
from hindbrain.store import StoreError, StoreFullError
from hindbrain.store._last_recall import LastRecall

STORED: dict[str, Any] = {"storeLastRecall": True}
BOTH: dict[str, Any] = {"storeLastRecall": True, "storeLastRecallFailures": True}
HTTPX = Fact(id="m1", text="Use httpx only", type=FactType.OBSERVATION, scores=Scores(reranker=0.41, final=0.3))


class NetworkError(BackendError):
    code = "network"


class OutageError(NetworkError):
    outcome = Outcome.UNKNOWN


class Scripted(InMemoryBackend):
    """Answers as told, by bank; holds a recall open while ``held`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, tuple[Fact, ...] | Exception] = {}
        self.sources: dict[str, Fact] = {}
        self.items: list[RetainItem] = []
        self.held = False
        self.entered = asyncio.Event()

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        del query
        self.entered.set()
        if self.held:
            await asyncio.get_running_loop().create_future()
        answer = self.answers.get(bank, ())
        if isinstance(answer, Exception):
            raise answer
        return Recall(facts=answer, source_facts=self.sources)

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.items.append(item)
        return await super().retain(bank, item, operation_id=operation_id)


class Stage:
    """A project with two banks, a scripted backend, and what the user was told."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repo"
        (self.root / ".git").mkdir(parents=True)
        self.data = folder / "data"
        self.backend = Scripted()
        self.lines: list[str] = []
        self.host = InProcessHost(notify=lambda text, _level: self.lines.append(text))

    def open(self, host: str = "pi", **recall: Any) -> AbstractAsyncContextManager[Session]:
        values = {
            "dataDir": str(self.data),
            "banks": {"project": {"bankId": "proj-a"}, "user": {"bankId": "user-a"}},
            "recall": recall,
        }
        settings = merge([Layer(origin="global file", values=values)])
        assert settings.warnings == ()
        return live_session(self.host, settings, SessionPlace(host=host, cwd=str(self.root)))

    @property
    def folder(self) -> Path:
        return self.root / ".pi" / "hindsight"

    @property
    def file(self) -> Path:
        return self.folder / "last-recall.json"

    def snapshot(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.file.read_bytes())
        return found

    def leftovers(self) -> list[str]:
        return [path.name for path in self.folder.glob("last-recall.json*") if path.is_file() and path != self.file]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage(tmp_path)

    @asynccontextmanager
    async def opened(_settings: Settings) -> AsyncIterator[Backend]:
        yield made.backend

    monkeypatch.setattr("hindbrain.generic._live.open_backend", opened)
    return made


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def user(text: str = "which http library?") -> Message:
    return Message(role="user", parts=(TextPart(text),))


async def ask(session: Session, text: str = "which http library?", **more: Any) -> ContextPatch:
    return await session.context([user(text)], **more)


@pytest.mark.req("S0-snapshot-001", "S0-snapshot-002")
async def test_what_a_recall_returned_is_written_into_the_state_folder_of_the_host(stage: Stage) -> None:
    stage.backend.answers["proj-a"] = (HTTPX,)
    async with stage.open(**STORED) as session:
        patch = await ask(session)
        shown = stage.snapshot()
    assert [block["bankId"] for block in shown["blocks"]] == ["proj-a", "user-a"]
    assert [block["memoryCount"] for block in shown["blocks"]] == [1, 0]
    assert shown["blocks"][0]["results"][0]["text"] == "Use httpx only"
    assert shown["rendered"] == patch.text
    assert shown["failed"] == 0
    assert "failures" not in shown
    assert stage.leftovers() == []
    assert stage.file.read_bytes().endswith(b"}\n")


@pytest.mark.parametrize(("host", "folder"), [("omp", ".omp/hindsight"), ("cli", ".hindbrain")])
async def test_every_host_has_its_own(stage: Stage, host: str, folder: str) -> None:
    async with stage.open(host, **STORED) as session:
        await ask(session)
    assert (stage.root / folder / "last-recall.json").exists()
    assert not stage.file.exists()


@pytest.mark.req("S0-snapshot-014")
async def test_every_candidate_stands_there_with_its_scores_and_its_verdict(stage: Stage) -> None:
    low = Fact(id="m2", text="Use requests", scores=Scores(reranker=0.1))
    twin = Fact(id="m3", text="use  HTTPX only")
    stage.backend.answers["proj-a"] = (HTTPX, low, twin)
    async with stage.open(**STORED, minScores={"reranker": 0.2}) as session:
        await ask(session)
    first, second, third = stage.snapshot()["blocks"][0]["results"]
    assert first["scores"] == {"final": 0.3, "semantic": None, "keyword": None, "reranker": 0.41}
    assert (first["kept"], first["reasons"], first["line"]) == (True, [], 1)
    assert (second["scores"]["reranker"], second["reasons"], second["line"]) == (0.1, ["below-score-floor"], None)
    assert (third["kept"], third["reasons"]) == (False, ["duplicate-memory"])


@pytest.mark.req("S0-snapshot-006", "S0-snapshot-015")
@pytest.mark.parametrize("settings", [{}, {"storeLastRecallFailures": True}])
async def test_without_being_asked_nothing_is_written(stage: Stage, settings: dict[str, Any]) -> None:
    async with stage.open(**settings) as session:
        for number in range(10):
            stage.backend.answers["proj-a"] = (HTTPX,) if number % 2 else NetworkError("away")
            stage.backend.answers["user-a"] = () if number % 2 else NetworkError("away")
            await ask(session, f"question {number}")
    assert not stage.file.exists()


@pytest.mark.req("S0-snapshot-004")
async def test_a_recall_in_which_every_bank_failed_is_written_where_failures_are_asked_for(stage: Stage) -> None:
    stage.backend.answers = {"proj-a": NetworkError("secret words"), "user-a": NetworkError("secret words")}
    async with stage.open(**BOTH) as session:
        assert (await ask(session)).skipped == "recall-failed"
    shown = stage.snapshot()
    assert [(each["bankId"], each["error"]) for each in shown["failures"]] == [
        ("proj-a", "network"),
        ("user-a", "network"),
    ]
    assert "which http library?" in shown["failures"][0]["query"]
    assert (shown["failed"], shown["blocks"], shown["rendered"]) == (2, [], "")
    assert "secret words" not in stage.file.read_text("utf-8")


@pytest.mark.req("S0-snapshot-005")
async def test_else_such_a_recall_leaves_the_one_before(stage: Stage) -> None:
    stage.backend.answers["proj-a"] = (HTTPX,)
    async with stage.open(**STORED) as session:
        await ask(session)
        before = stage.file.read_bytes()
        stage.backend.answers = {"proj-a": NetworkError("away"), "user-a": NetworkError("away")}
        assert (await ask(session, "and which parser?")).skipped == "recall-failed"
    assert stage.file.read_bytes() == before


@pytest.mark.req("S0-snapshot-016")
@pytest.mark.parametrize(("settings", "named"), [(STORED, False), (BOTH, True)])
async def test_a_bank_that_answered_is_written_though_another_failed(
    stage: Stage, settings: dict[str, Any], *, named: bool
) -> None:
    stage.backend.answers = {"proj-a": (HTTPX,), "user-a": NetworkError("away")}
    async with stage.open(**settings) as session:
        await ask(session)
    shown = stage.snapshot()
    assert [block["bankId"] for block in shown["blocks"]] == ["proj-a"]
    assert shown["failed"] == 1
    assert [each["bankId"] for each in shown.get("failures", [])] == (["user-a"] if named else [])


async def test_a_bank_that_was_left_alone_after_an_outage_is_not_in_it(stage: Stage) -> None:
    stage.backend.answers = {"proj-a": (HTTPX,), "user-a": OutageError("away")}
    async with stage.open(**BOTH) as session:
        said = [user("first?")]
        await session.context(said)
        said += [Message(role="assistant", parts=(TextPart("ok"),)), user("second?")]
        assert (await session.context(said)).left_alone == ("user-a",)
    shown = stage.snapshot()
    assert "second?" in shown["query"]
    assert ([block["bankId"] for block in shown["blocks"]], shown["failed"]) == (["proj-a"], 0)


async def test_a_recall_that_broke_by_itself_is_told_among_the_failures(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_args: object, **_more: object) -> None:
        raise ZeroDivisionError

    async with stage.open(**BOTH) as session:
        monkeypatch.setattr(session._recaller, "recall", broken)
        assert (await ask(session)).skipped == "error"
    (failure,) = stage.snapshot()["failures"]
    assert (failure["bankId"], failure["error"]) == ("pre-scope-failure", "ZeroDivisionError")


@pytest.mark.req("S0-snapshot-007")
@pytest.mark.usefixtures("open_umask")
async def test_it_holds_the_query_and_is_for_its_owner_alone(stage: Stage) -> None:
    async with stage.open(**STORED) as session:
        await ask(session, "which http library, MARKER-42?")
    assert stat.S_IMODE(stage.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(stage.folder.stat().st_mode) == 0o700
    assert "MARKER-42" in stage.snapshot()["query"]


async def test_no_secret_gets_into_it(stage: Stage) -> None:
    secret = "ghp_" + "a1B2" * 9
    stage.backend.answers["proj-a"] = (Fact(id="m1", text=f"the token is {secret}", context=f"said {secret}"),)
    stage.backend.sources = {"s1": Fact(id="s1", text=f"it was {secret}")}
    async with stage.open(**BOTH) as session:
        await ask(session, f"is {secret} right?")
    assert secret not in stage.file.read_text("utf-8")
    assert "the token is" in stage.file.read_text("utf-8")


@pytest.mark.req("S0-snapshot-008")
async def test_it_is_never_shown_to_the_model(stage: Stage) -> None:
    stage.backend.answers["proj-a"] = (Fact(id="m1", text="It is MARKER-42"),)
    async with stage.open(**STORED) as session:
        await ask(session)
        assert "MARKER-42" in stage.file.read_text("utf-8")
        stage.backend.answers.clear()
        asking = [user("and now?")]
        patch = await session.context(asking)
        assert patch.apply(asking) == tuple(asking)


@pytest.mark.req("S0-snapshot-009")
async def test_it_is_never_retained(stage: Stage) -> None:
    stage.backend.answers["proj-a"] = (Fact(id="m1", text="It is MARKER-42"),)
    async with stage.open(**STORED) as session:
        await ask(session)
        said = Message(role="user", parts=(TextPart("which http library?"),))
        stage.host.add(Entry(id="e1", parent_id=None, kind="message", message=said))
        turn = await session.settled()
    assert [job.item.document_id for job in turn.jobs] == [session.identity.document_id]
    assert "MARKER-42" in stage.file.read_text("utf-8")
    assert all("MARKER-42" not in item.content for item in stage.backend.items)
    assert "MARKER-42" not in (stage.folder / "retain-queue.jsonl").read_text("utf-8")


@pytest.mark.req("S0-snapshot-011")
@pytest.mark.parametrize("existing", [True, False])
async def test_a_recall_the_user_gave_up_writes_nothing(stage: Stage, *, existing: bool) -> None:
    async with stage.open(**BOTH) as session:
        if existing:
            await ask(session)
        before = stage.file.read_bytes() if existing else None
        stage.backend.held = True
        stage.backend.entered.clear()
        abort = asyncio.Event()
        asking = asyncio.create_task(ask(session, "and which parser?", abort=abort))
        await stage.backend.entered.wait()
        abort.set()
        assert (await asking).skipped == "aborted"
        late = asyncio.Event()
        late.set()
        assert (await ask(session, "another?", abort=late)).skipped == "aborted"
    assert (stage.file.read_bytes() if existing else None) == before
    assert stage.file.exists() is existing
    assert stage.leftovers() == []


@pytest.mark.req("S0-snapshot-012")
async def test_an_abort_while_the_new_file_is_being_written_keeps_the_old_one(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    abort = asyncio.Event()
    written: list[list[str]] = []
    replace = LastRecall._replace

    def giving_up(self: LastRecall, data: bytes, wanted: Any) -> bool:
        def asked() -> bool:
            abort.set()  # the new file is there, the old one still has the name
            written.append(stage.leftovers())
            answer: bool = wanted()
            return answer

        return replace(self, data, asked)

    async with stage.open(**BOTH) as session:
        await ask(session)
        before = stage.file.read_bytes()
        monkeypatch.setattr(LastRecall, "_replace", giving_up)
        stage.backend.answers["proj-a"] = (HTTPX,)
        patch = await ask(session, "and which parser?", abort=abort)
    assert (patch.skipped, patch.text) == ("aborted", "")
    assert [len(each) for each in written] == [1]
    assert stage.file.read_bytes() == before
    assert stage.leftovers() == []


@pytest.mark.req("S0-snapshot-013")
async def test_nothing_of_routing_is_in_it(stage: Stage) -> None:
    stage.backend.answers = {"proj-a": (HTTPX,), "user-a": NetworkError("away")}
    async with stage.open(**BOTH) as session:
        await ask(session)

    def keys(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*map(keys, value.values()))
        return set().union(*map(keys, value)) if isinstance(value, list) else set()

    assert keys(stage.snapshot()) == {
        *("createdAt", "sessionId", "query", "rendered", "blocks", "sources", "failed", "failures"),
        *("bankId", "kind", "memoryCount", "results", "error", "id", "text", "type", "documentId", "sourceFactIds"),
        *("tags", "context", "scores", "kept", "reasons", "line", "final", "semantic", "keyword", "reranker"),
    }


async def test_what_is_shown_again_in_the_same_turn_is_written_once(stage: Stage) -> None:
    async with stage.open(**STORED) as session:
        await ask(session)
        stage.file.unlink()
        await ask(session)
        assert not stage.file.exists()
        await ask(session, "and which parser?")
        assert stage.file.exists()


@pytest.mark.parametrize("error", [StoreFullError(), ZeroDivisionError()])
async def test_a_disk_that_refuses_breaks_no_turn_and_is_told_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refused(*_args: object, **_more: object) -> bool:
        raise error

    stage.backend.answers["proj-a"] = (HTTPX,)
    async with stage.open(**STORED) as session:
        monkeypatch.setattr(LastRecall, "write", refused)
        for number in range(3):
            assert "Use httpx only" in (await ask(session, f"question {number}")).text
    assert len([line for line in stage.lines if "last recall was not stored" in line]) == 1


async def test_a_broken_file_is_put_aside_and_told_once(stage: Stage) -> None:
    stage.folder.mkdir(parents=True)
    stage.file.write_text("{broken", "utf-8")
    async with stage.open(**STORED) as session:
        await ask(session)
        await ask(session, "again?")
    (aside,) = stage.leftovers()
    assert (stage.folder / aside).read_text("utf-8") == "{broken"
    assert [line for line in stage.lines if aside in line] == [
        f"last-recall.json was broken; it was put aside as {aside}, and a new one was begun."
    ]
    assert "again?" in stage.snapshot()["query"]


@pytest.mark.parametrize("named", ["logs/recall.json", "{root}/logs/recall.json", "{outside}/recall.json"])
async def test_the_path_may_be_chosen(stage: Stage, tmp_path: Path, named: str) -> None:
    named = named.format(root=stage.root, outside=tmp_path / "outside")
    async with stage.open(**STORED, lastRecallPath=named) as session:
        await ask(session)
    path = stage.root / named
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "createdAt" in json.loads(path.read_bytes())
    assert [each.name for each in path.parent.iterdir()] == ["recall.json"]
    assert not stage.file.exists()


@pytest.mark.parametrize(
    "named",
    [
        "../recall.json",
        "logs/../../recall.json",
        "package.json",
        "link/recall.json",
        "link/deep/recall.json",
        "linked.json",
        "recall.txt",
        ".pi/hindsight/retain-receipts.json",
        ".pi/hindsight/session-meta/last-recall.json",
    ],
)
async def test_a_path_that_leads_out_or_to_another_file_is_refused_and_the_turn_goes_on(
    stage: Stage, tmp_path: Path, named: str
) -> None:
    (stage.root / "package.json").write_text('{"name": "shop"}', "utf-8")
    (tmp_path / "elsewhere").mkdir()
    (stage.root / "link").symlink_to(tmp_path / "elsewhere")
    (stage.root / "linked.json").symlink_to(tmp_path / "elsewhere" / "recall.json")
    stage.backend.answers["proj-a"] = (HTTPX,)
    async with stage.open(**STORED, lastRecallPath=named) as session:
        assert "Use httpx only" in (await ask(session)).text
    assert (stage.root / "package.json").read_text("utf-8") == '{"name": "shop"}'
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (tmp_path / "recall.json").exists()
    assert [line for line in stage.lines if "last recall was not stored" in line] != []
    assert not (stage.folder / "retain-receipts.json").exists()


async def test_a_suppressed_memory_is_not_shown_from_the_next_look_on(stage: Stage) -> None:
    stage.backend.answers["proj-a"] = (HTTPX, Fact(id="m2", text="Use pytest"))
    async with stage.open(**STORED) as session:
        assert "httpx" in (await ask(session)).text
        assert await session.recall_files.suppress("m1")
        assert not await session.recall_files.suppress("m1")
        patch = await ask(session)
        asked = await session.recall(Question(text="which http library?"), bank="proj-a")
    assert "httpx" not in patch.text
    assert "Use pytest" in patch.text
    assert [fact.id for _, fact in asked.facts] == ["m2"]
    assert [r["reasons"] for r in stage.snapshot()["blocks"][0]["results"]] == [["suppressed"], []]


async def test_a_suppressed_memory_may_be_shown_again(stage: Stage) -> None:
    stage.backend.answers["proj-a"] = (HTTPX,)
    async with stage.open() as session:
        await session.recall_files.suppress("m1")
        assert (await ask(session)).text == ""
        assert await session.recall_files.show_again("m1")
        assert not await session.recall_files.show_again("m1")
        assert "httpx" in (await ask(session)).text


async def test_a_session_tells_the_last_recall_itself(stage: Stage) -> None:
    stage.backend.answers["proj-a"] = (HTTPX,)
    async with stage.open(**STORED) as session:
        assert await session.recall_files.last() is None
        await ask(session)
        last = await session.recall_files.last()
        assert last == stage.snapshot()
        (found,) = read_recall(last).find("httpx only")
        assert (found.id, found.line) == ("m1", 1)
        stage.file.write_text("{", "utf-8")
        with pytest.raises(StoreError):
            await session.recall_files.last()


async def test_without_a_disk_the_same_is_kept_in_this_process() -> None:
    backend = Scripted()
    backend.answers["proj-a"] = (HTTPX,)
    config = MemoryConfig(project_bank="proj-a", recall=RecallConfig(store_last_recall=True))
    session = Session(
        host=InProcessHost(),
        backend=backend,
        config=config,
        project=identify(Checkout(cwd="/repo", root="/repo"), config.scope),
        identity=SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s", label="s.jsonl", origin="local"),
    )
    files = session.recall_files
    assert await files.last() is None
    assert "httpx" in (await ask(session)).text
    last = await files.last()
    assert last is not None
    assert [each.id for each in read_recall(last).candidates] == ["m1"]
    assert [await files.suppress("m1"), await files.suppress("m1")] == [True, False]
    assert (await ask(session)).text == ""
    assert [await files.show_again("m1"), await files.show_again("m1")] == [True, False]
    assert "httpx" in (await ask(session)).text


async def test_a_list_of_suppressed_memories_that_came_with_a_repository_hides_nothing(stage: Stage) -> None:
    stage.folder.mkdir(parents=True)
    rows = '"suppressed":[{"id":"m1","at":"2026-01-01T00:00:00.000Z"}]'
    (stage.folder / "suppressed.json").write_text(f'{{"version":1,"seal":"{"0" * 32}",{rows}}}\n', "utf-8")
    stage.backend.answers["proj-a"] = (HTTPX,)
    async with stage.open() as session:
        for number in range(2):
            assert "httpx" in (await ask(session, f"question {number}")).text
    assert len([line for line in stage.lines if "suppressed.json" in line]) == 1


@pytest.mark.req("S0-snapshot-017")
def test_the_page_of_settings_says_where_it_may_be_switched_on() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text("utf-8")
    (row,) = [line for line in page.splitlines() if "`recall.storeLastRecall`" in line]
    for words in ("recalled memories", "excerpts of your messages", "only where those may be seen on the local disk"):
        assert words in row
