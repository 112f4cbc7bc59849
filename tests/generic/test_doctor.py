"""The doctor says why memory is or is not working, changes nothing, and shows neither content nor secrets."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
from click.testing import CliRunner

from hindbrain.contracts import (
    BackendError,
    Fact,
    FactType,
    Operation,
    OperationStatus,
    Outcome,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    RetainJob,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import EmbeddingError, Layer, Places, Settings, load_settings, merge, open_backend
from hindbrain.generic._cli import main
from hindbrain.generic._config import read
from hindbrain.generic._doctor import Finding, examine
from hindbrain.store import FlushPolicy, HostState

MARKER = "MARKER-42"
SECRET = "sk-ant-abcdefghijklmnopqrstuv"
SID = "29e67821bedc391a"
SERVER = {"backend": "hindsight", "hindsight": {"baseUrl": "https://h.example.com"}}


class Refusing(InMemoryBackend):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        del bank, item, operation_id
        error = BackendError("it was refused")
        error.outcome = Outcome.REFUSED
        raise error


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "project/.git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


@pytest.fixture
def folder(home: Path) -> Path:
    return home / "project/.hindbrain"


def job(number: int, at: str = "2026-01-02T03:04:05.000Z") -> RetainJob:
    id_ = f"{number:08d}-0000-4000-8000-000000000000"
    item = RetainItem(content=f"{MARKER} says {number}", document_id=f"doc-{number}")
    return RetainJob(id=id_, bank="bank-a", item=item, operation_id=id_, created_at=at)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[HostState]:
    state = await HostState.open(folder, seal_file=folder.parents[1] / "data/hindbrain/seal.key")
    yield state
    await state.close()


def settings_of(*values: dict[str, Any]) -> Settings:
    return merge([Layer(origin="file", values=each) for each in values])


async def found(*values: dict[str, Any], **how: Any) -> dict[str, list[Finding]]:
    """What is found, by check, with the promise that no content or secret is in it."""
    findings = await examine(settings_of(*values), online=how.pop("online", False), **how)
    said = json.dumps([attrs.asdict(each, recurse=False) for each in findings])
    assert MARKER not in said
    assert SECRET not in said
    assert all(each.advice for each in findings if each.level == "problem")
    rows: dict[str, list[Finding]] = {}
    for each in findings:
        rows.setdefault(each.check, []).append(each)
    return rows


def levels(rows: dict[str, list[Finding]]) -> set[str]:
    return {each.level for row in rows.values() for each in row}


def everything(root: Path) -> dict[str, tuple[int, int, bytes | None]]:
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in root.rglob("*")
    }


async def test_a_project_that_never_ran_is_well_and_stays_as_it_is(home: Path) -> None:
    before = everything(home)
    rows = await found(places=Places(home=home, config_dir=home / "config", project_dir=home / "project/.hindbrain"))
    assert levels(rows) == {"ok"}
    assert {"settings", "files", "trust", "project", "profile", "banks", "scopes", "tags", "observations"} <= set(rows)
    assert {"state", "sqlite", "store"} <= set(rows)
    assert everything(home) == before


@pytest.mark.usefixtures("home")
async def test_the_identity_the_banks_and_the_filters_are_those_of_a_session() -> None:
    values = {"banks": {"user": {"bankId": "me"}}, "scope": {"projectId": "acme"}, "recall": {"topK": 3}}
    rows = await found(values, host="pi")
    (project,), (scope, person) = rows["project"], rows["scopes"]
    assert (project.data["id"], project.data["how"], project.data["host"]) == ("acme", "pin", "pi")
    assert "pinned by scope.projectId" in project.text
    assert rows["profile"][0].data["profile"] == "project and user"
    assert ["given by the project's identity" in each.text for each in rows["banks"]] == [True, False]
    assert "named by file" in rows["banks"][1].text
    assert scope.data["tag_groups"] == [
        {"tags": ["project:acme", f"repo:{project.data['repo_key']}"], "match": "any_strict"}
    ]
    assert "harness:pi" in person.data["tag_groups"][0]["tags"]
    assert rows["tags"][0].data["tags"][:3] == ["source:pi", "harness:pi", "project:acme"]
    custom = rows["settings"][0].data["custom"]
    assert custom["recall.topK"] == {"origin": "file", "tone": "custom", "value": 3}
    assert "value" not in custom["banks.user.bankId"]


@pytest.mark.usefixtures("home")
async def test_a_filter_is_shown_as_it_will_be_sent() -> None:
    unscoped = {"banks": {"project": {"bankId": "a"}}, "scope": {"unscopedRecallBanks": ["a"]}}
    assert "no tag filter" in (await found(unscoped))["scopes"][0].text
    shared = (await found({"scope": {"includeSharedObservations": True}}))["scopes"][0].data["tag_groups"]
    assert shared[0]["or"][1] == {"tags": [], "match": "exact"}


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("values", "check", "said"),
    [
        ({"enabled": False}, "settings", "switched off"),
        ({"recall": {"enabled": False}}, "settings", "switched off"),
        ({"retain": {"enabled": False}}, "settings", "switched off"),
        ({"recall": {"topK": SECRET}}, "settings", "recall.topK"),
        ({"embedder": {"model": "m"}}, "settings", "together"),
        ({"banks": {"project": {"enabled": False}}}, "profile", "No bank"),
        ({"banks": {"project": {"enabled": False}}}, "scopes", "nothing is recalled"),
        ({"banks": {"project": {"retain": {"mode": "explicit-only"}}}}, "banks", "No bank takes every turn"),
    ],
)
async def test_what_keeps_memory_from_working_by_choice_is_a_warning(
    values: dict[str, Any], check: str, said: str
) -> None:
    rows = await found(values)
    assert [said in each.text for each in rows[check] if each.level == "warning"].count(True) == 1
    assert "problem" not in levels(rows)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"hindsight": {"baseUrl": f"https://u:{SECRET}@h"}}, "hindsight.baseUrl"),
        ({"hindsight": {"apiKeyRef": SECRET}}, "hindsight.apiKeyRef"),
        ({"banks": {"project": {"bankId": "../x"}}}, "banks.project.bankId"),
        ({"retain": {"beforeEnqueue": SECRET}}, "retain.beforeEnqueue"),
    ],
)
async def test_a_setting_that_closes_memory_is_a_problem_that_does_not_repeat_it(
    values: dict[str, Any], said: str
) -> None:
    problems = [each for each in (await found(values))["settings"] if each.level == "problem"]
    assert [said in each.text for each in problems] == [True]


async def test_whose_word_counts_is_told(home: Path, folder: Path) -> None:
    places = Places(home=home, config_dir=home / "config", project_dir=folder)
    folder.mkdir(0o700)
    theirs = folder / "hindbrain.json"
    theirs.write_text(json.dumps({"dataDir": str(home / "elsewhere"), "recall": {"topK": 3}}), "utf-8")

    async def trust() -> Finding:
        rows = await examine(load_settings(places, {}), online=False, places=places)
        return next(each for each in rows if each.check == "trust")

    assert (await trust()).data["trust"] == "never"
    places.trust.trust(read(theirs))
    assert (await trust()).data["trust"] == "trusted"
    theirs.write_text("{}", "utf-8")
    changed = await trust()
    assert (changed.level, changed.data["trust"]) == ("warning", "changed")
    assert "hindbrain trust" in changed.advice


async def test_a_directory_that_is_no_project_is_a_problem_and_the_rest_is_looked_at(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    rows = await found()
    assert [each.level for each in rows["project"]] == ["problem"]
    assert rows["sqlite"]
    assert "banks" not in rows
    assert "state" not in rows
    assert "state" in await found(state_dir=home / "named")


async def filled(folder: Path) -> None:
    async with opened(folder) as state:
        await state.ask(lambda queue: queue.append(job(1)))
        await state.flusher(Refusing(), FlushPolicy(max_attempts=1)).flush()
        await state.ask(lambda queue: queue.append(job(2)))
        await state.flusher(InMemoryBackend()).flush()
        await state.ask(lambda queue: queue.append_many([job(3), job(4)]))
        await state.run(lambda: state.records.set_mode(SID, "read-only"))


async def test_what_lies_in_the_state_folder_is_counted_and_left_as_it_is(home: Path, folder: Path) -> None:
    await filled(folder)
    with (folder / "retain-queue.jsonl").open("ab") as queue:
        queue.write(b'{"broken": "%b\n' % MARKER.encode())
        line = (folder / "retain-queue.jsonl").read_bytes().splitlines()[-2]
        queue.write(b'{"id"' + line.partition(b'"id"')[2] + b"\n")
    (folder / "session-meta" / "0123456789abcdef.json").write_text("{}")
    (folder / "import-manifest.json").write_text("{}")
    (folder / "import-manifest.json").chmod(0o600)
    before = everything(home)
    rows = await found()
    assert everything(home) == before
    summary, *troubles = rows["queue"]
    assert (summary.data["waiting"], summary.data["dead"]) == (2, 1)
    assert (summary.data["malformed"], summary.data["unsealed"]) == (1, 1)
    assert summary.data["oldest"] == "2026-01-02T03:04:05+00:00"
    assert [each.level for each in troubles] == ["warning"] * 4
    for trouble, advice in zip(troubles, ("flush", "dead list", "malformed.jsonl", "adopt"), strict=True):
        assert advice in trouble.advice
    assert "backend x1" in troubles[1].text
    assert rows["receipts"][0].data["receipts"] == 1
    sessions = [(each.level, each.data.get("read_only")) for each in rows["sessions"]]
    assert sessions == [("ok", 1), ("warning", None)]
    assert rows["seal"][0].data["state"] == rows["cursors"][0].data["state"] == "sound"
    assert "import-manifest" in rows["import"][0].text
    assert "problem" not in levels(rows)


async def test_what_waits_since_a_moment_ago_is_no_trouble(folder: Path) -> None:
    async with opened(folder) as state:
        await state.ask(lambda queue: queue.append(job(1, "2999-01-01T00:00:00.000Z")))
    assert [each.level for each in (await found())["queue"]] == ["ok"]


async def test_what_a_repository_wrote_in_place_of_a_time_is_not_shown(folder: Path) -> None:
    async with opened(folder) as state:
        await state.ask(lambda queue: queue.append(job(1)))
    (folder / "retain-receipts.json").write_bytes(
        b'{"version": 1, "receipts": [{"createdAt": "%b", "bankId": "a", "documentId": "d", "queueJobId": "j",'
        b' "updateMode": "append", "source": "queue", "tags": []}]}' % MARKER.encode()
    )
    log = folder / "retain-queue.jsonl"
    log.write_bytes(log.read_bytes().replace(job(1).created_at.encode(), MARKER.encode()))
    rows = await found()
    assert rows["queue"][0].data["oldest"] is None
    assert rows["receipts"][0].data["receipts"] == 1


async def test_a_key_that_cannot_be_used_is_a_problem(home: Path, folder: Path) -> None:
    await filled(folder)
    (home / "data/hindbrain/seal.key").write_bytes(b"short")
    rows = await found()
    assert [(each.level, each.data["state"]) for each in rows["seal"]] == [("problem", "broken")]
    (home / "data/hindbrain/seal.key").unlink()
    rows = await found()
    assert [(each.level, each.data["state"]) for each in rows["seal"]] == [("ok", "none")]
    assert "adopt" in rows["queue"][-1].advice


@pytest.mark.parametrize(
    ("content", "level", "state"),
    [('{"version": 3}', "ok", "older"), ("{", "warning", "distrusted"), (None, "ok", "none")],
)
async def test_cursors_and_receipts_that_cannot_be_read_are_told(
    folder: Path, content: str | None, level: str, state: str
) -> None:
    folder.mkdir(0o700)
    for name in ("retain-cursors.json", "retain-receipts.json"):
        if content is not None:
            (folder / name).write_text(content)
            (folder / name).chmod(0o600)
    rows = await found()
    assert [(each.level, each.data["state"]) for each in rows["cursors"]] == [(level, state)]
    assert [each.level for each in rows["receipts"]] == ["ok"] + ["warning"] * (content is not None)


async def test_a_folder_that_others_may_read_is_told_and_a_projects_own_settings_are_not(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o700)
    (folder / "hindbrain.json").write_text("{}")
    (folder / "hindbrain.json").chmod(0o644)
    assert (await found())["state"][0].level == "ok"
    (folder / "retain-queue.jsonl").touch()
    (folder / "retain-queue.jsonl").chmod(0o644)
    (told,) = (await found())["state"]
    assert (told.level, told.data["names"]) == ("warning", ["retain-queue.jsonl"])
    assert "chmod" in told.advice


async def test_a_link_for_the_state_folder_is_a_problem_and_the_rest_is_looked_at(home: Path, folder: Path) -> None:
    (home / "elsewhere").mkdir()
    folder.symlink_to(home / "elsewhere")
    rows = await found()
    assert [each.level for each in rows["state"]] == ["problem"]
    assert rows["sqlite"]


@pytest.mark.usefixtures("home")
async def test_a_check_that_fails_otherwise_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_case: object) -> Any:
        raise RuntimeError(MARKER)

    monkeypatch.setattr("hindbrain.generic._doctor._examine.identity", broken)
    rows = await found()
    assert [(each.level, "RuntimeError" in each.text) for each in rows["project"]] == [("problem", True)]
    assert rows["state"]


async def test_the_banks_on_this_machine_are_read_without_making_files(home: Path) -> None:
    async with open_backend(settings_of({})) as backend:
        await backend.retain("a", RetainItem(content=MARKER, document_id="d"), operation_id=job(1).id)
    before = everything(home)
    rows = await found()
    assert everything(home) == before
    assert rows["store"][0].data["databases"] == 2
    assert levels(rows) == {"ok"}


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("ref", "level", "said"),
    [
        (None, "ok", "no key is sent"),
        ("env:NOT_SET_ANYWHERE", "problem", "not set"),
        ("env:IS_SET", "ok", "EnvToken"),
        ("file:/nowhere/at/all", "problem", ""),
        ("keyring:hindsight/me", "ok", "keyring"),
    ],
)
async def test_whether_the_key_can_be_had_is_told_without_it(
    monkeypatch: pytest.MonkeyPatch, ref: str | None, level: str, said: str
) -> None:
    monkeypatch.setenv("IS_SET", SECRET)
    rows = await found(SERVER, {"hindsight": {"apiKeyRef": ref}})
    assert rows["server"][0].text == "https://h.example.com"
    assert [each.level for each in rows["token"]] == [level]
    assert said in rows["token"][0].text


class Asked(InMemoryBackend):
    """Has so many facts of each kind, or fails; remembers what it was asked."""

    def __init__(self, counts: dict[FactType, int], *, status: str = "", recall: str = "") -> None:
        super().__init__()
        self.counts, self.fails = counts, {"status": status, "recall": recall}
        self.calls: list[str] = []
        self.queries: list[tuple[str, RecallQuery]] = []

    def _say(self, verb: str) -> None:
        self.calls.append(verb)
        if self.fails[verb]:
            error = BackendError(f"the {verb} failed", next_step="Mend it.")
            error.code = self.fails[verb]  # type: ignore[misc]  # one class a code elsewhere
            raise error

    async def status(self, bank: str, operation_id: str) -> Operation:
        del bank
        self._say("status")
        return Operation(operation_id=operation_id, status=OperationStatus.NOT_FOUND)

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        self._say("recall")
        self.queries.append((bank, query))
        kinds = [kind for kind in query.types or () for _ in range(self.counts.get(kind, 0))]
        return Recall(facts=tuple(Fact(id=f"f{n}", text=MARKER, type=kind) for n, kind in enumerate(kinds)))


@pytest.fixture
def ask(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    del home

    async def ask_(backend: Asked, *values: dict[str, Any], online: bool = True) -> dict[str, list[Finding]]:
        @asynccontextmanager
        async def given(_settings: Settings) -> AsyncIterator[Asked]:
            yield backend

        monkeypatch.setattr("hindbrain.generic._doctor._online.open_backend", given)
        return await found(SERVER, *values, online=online)

    return ask_


RAW, MADE = {FactType.WORLD: 2, FactType.EXPERIENCE: 1}, {FactType.OBSERVATION: 2}


@pytest.mark.parametrize(
    ("counts", "level", "said"),
    [
        (RAW, "warning", "raw facts but no observations"),
        (RAW | MADE, "ok", "has observations"),
        (MADE, "ok", "has observations"),
        ({}, "ok", "nothing"),
    ],
)
async def test_raw_facts_without_observations_are_found_by_two_recalls(
    ask: Callable[..., Any], counts: dict[FactType, int], level: str, said: str
) -> None:
    backend = Asked(counts)
    rows = await ask(backend)
    assert backend.calls == ["status", "recall", "recall"]
    (one, raw), (two, made) = backend.queries
    assert one == two == rows["memories"][0].data["bank"]
    assert (raw.types, made.types) == ((FactType.WORLD, FactType.EXPERIENCE), (FactType.OBSERVATION,))
    assert attrs.evolve(raw, types=made.types) == made
    assert raw.tag_groups
    assert [(each.level, said in each.text) for each in rows["memories"]] == [(level, True)]
    assert "recall.types" in rows["memories"][0].advice or level == "ok"
    assert [each.level for each in rows["reach"]] == ["ok"]


async def test_each_bank_that_is_read_is_asked(ask: Callable[..., Any]) -> None:
    backend = Asked({})
    rows = await ask(backend, {"banks": {"user": {"bankId": "me"}}})
    assert [each.data["bank"] == "me" for each in rows["memories"]] == [False, True]


@pytest.mark.parametrize("code", ["network", "unauthorized", "wrong-endpoint"])
async def test_a_server_that_does_not_let_us_in_is_not_asked_further(ask: Callable[..., Any], code: str) -> None:
    backend = Asked(RAW, status=code)
    rows = await ask(backend)
    assert [(each.level, each.data["code"], each.advice) for each in rows["reach"]] == [("problem", code, "Mend it.")]
    assert backend.calls == ["status"]


async def test_a_bank_that_cannot_be_asked_is_a_problem(ask: Callable[..., Any]) -> None:
    rows = await ask(Asked(RAW, recall="timeout"))
    assert [(each.level, each.data["code"]) for each in rows["memories"]] == [("problem", "timeout")]


@pytest.mark.parametrize(
    ("online", "values"),
    [
        (False, {}),
        (True, {"hindsight": {"apiKeyRef": "env:NOT_SET_ANYWHERE"}}),
        (True, {"hindsight": {"baseUrl": "http://evil.example.com"}}),
    ],
)
async def test_nothing_is_sent_unasked_or_to_a_doubtful_place(
    ask: Callable[..., Any], online: bool, values: dict[str, Any]
) -> None:
    backend = Asked(RAW)
    await ask(backend, values, online=online)
    assert backend.calls == []


@pytest.mark.usefixtures("home")
async def test_the_banks_on_this_machine_need_no_server_and_an_embedder_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "nothing to reach" in (await found(online=True))["reach"][0].text
    values = {"embedder": {"baseUrl": "http://127.0.0.1:1/v1", "model": "m"}}

    async def embed(_self: object, texts: list[str]) -> list[list[float]]:
        del texts
        raise EmbeddingError("it could not be reached")

    monkeypatch.setattr("hindbrain.generic.OpenAIEmbedder.embed", embed)
    assert [each.level for each in (await found(values, online=True))["reach"]] == ["problem"]


@pytest.mark.parametrize(("host", "below"), [("generic", ".hindbrain"), ("pi", ".pi/hindsight")])
def test_the_command_ends_with_a_count_and_fails_for_a_problem_alone(home: Path, host: str, below: str) -> None:
    run = CliRunner()
    done = run.invoke(main, ["doctor", "--host", host, "--json"])
    told = json.loads(done.output)
    assert (done.exit_code, told["ok"], told["data"]["problems"]) == (0, True, 0)
    (state,) = (each for each in told["data"]["findings"] if each["check"] == "state")
    assert state["data"]["path"] == str(home / "project" / below)
    done = run.invoke(main, ["doctor"], env={"HINDBRAIN_ENABLED": "false"})
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "problems: 0, warnings: 1")
    (home / "link").symlink_to(home)
    done = run.invoke(main, ["doctor", "--state-dir", str(home / "link")])
    assert (done.exit_code, done.output.splitlines()[-1]) == (1, "problems: 1, warnings: 0")
