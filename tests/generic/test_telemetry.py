"""Events tell ids, counts and times of recall and retain, never text, and cost a turn nothing."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hindbrain.contracts import (
    CHANNEL,
    BackendError,
    Entry,
    Host,
    Message,
    Outcome,
    Recall,
    RecallQuery,
    TelemetryEvent,
    TextPart,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import InProcessHost, Layer, Session, SessionPlace, live_session, merge
from hindbrain.generic._cli import main
from hindbrain.generic._telemetry import Listener
from hindbrain.memory import Checkout, MemoryConfig, Question, RecallConfig, ScopeConfig, SessionIdentity, identify

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="local")
QUESTION = [Message(role="user", parts=(TextPart("when are deploys?"),))]
TOLD = Entry(
    id="a", parent_id=None, kind="message", message=Message(role="user", parts=(TextPart("Deploys: Friday."),))
)


class Away(InMemoryBackend):
    code = "timeout"

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        if bank != "user-a":
            return await super().recall(bank, query)
        error = BackendError("away")
        error.outcome = Outcome.UNKNOWN
        error.code = self.code  # type: ignore[misc]  # stands for a subclass
        raise error


class Ticking:
    """A clock that moves on by ten milliseconds whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        self.now += 10
        return self.now


def session(
    host: Host, backend: InMemoryBackend, *, listener: Listener | None = None, recall: RecallConfig | None = None
) -> Session:
    config = MemoryConfig(project_bank="proj-a", user_bank="user-a", recall=recall or RecallConfig())
    return Session(
        host=host,
        backend=backend,
        config=config,
        project=PROJECT,
        identity=IDENTITY,
        clock=Ticking(),
        on_event=listener,
    )


async def a_turn(backend: InMemoryBackend, *, calls: int = 1) -> list[TelemetryEvent]:
    host = InProcessHost()
    host.add(TOLD)
    one = session(host, backend)
    await one.settled()
    for _ in range(calls):
        await one.context(QUESTION)
    await one.close()
    return list(host.events)


@pytest.mark.req("S0-telemetry-022")
async def test_a_plain_turn_is_told_in_three_phases_of_one_shape() -> None:
    events = [event.payload() for event in await a_turn(InMemoryBackend())]
    assert CHANNEL == "hindsight:retrieval"
    assert [event["phase"] for event in events] == ["retain", "retrieval", "retrieval", "injection"]
    common = {"version", "phase", "mode", "status", "cache", "startedAt", "endedAt", "durationMs", "sessionId"}
    for event in events:
        assert common <= set(event)
        assert (event["version"], event["mode"]) == (1, "automatic")
        assert event["endedAt"] - event["startedAt"] == event["durationMs"] >= 0
        assert json.loads(json.dumps(event)) == event
    assert len({event["contextId"] for event in events[1:]}) == 1


async def test_each_bank_that_is_asked_has_an_event_of_its_own_and_the_injection_names_them() -> None:
    events = await a_turn(InMemoryBackend())
    project, user, injection = (event.payload() for event in events[1:])
    assert (project["bankId"], project["kind"], project["status"], project["cache"]) == (
        *("proj-a", "project"),
        *("success", "miss"),
    )
    assert (user["bankId"], user["kind"], user["status"]) == ("user-a", "user", "empty")
    assert (project["budget"], project["maxTokens"], project["timeoutMs"]) == ("mid", 800, 5000)
    assert user["maxTokens"] == 400
    assert project["rawIds"] == project["keptIds"] == injection["injectedIds"]
    assert (project["rawCount"], project["keptCount"], project["injectedCount"]) == (1, 1, 1)
    assert injection["retrievalIds"] == [project["retrievalId"], user["retrievalId"]]
    assert (injection["injected"], injection["injectedCount"], injection["status"]) == (True, 1, "success")


async def test_the_block_is_told_by_its_hash_and_length() -> None:
    host = InProcessHost()
    host.add(TOLD)
    one = session(host, InMemoryBackend())
    await one.settled()
    text = (await one.context(QUESTION)).text
    await one.close()
    shown = host.events[-1].payload()
    assert shown["renderedHash"] == hashlib.sha256(text.encode()).hexdigest()
    assert shown["renderedLength"] == len(text)


async def test_a_hit_names_the_request_that_found_the_answer() -> None:
    events = [event.payload() for event in await a_turn(InMemoryBackend(), calls=2)]
    first, _, _, again, _, injection = events[1:]
    assert (first["cache"], again["cache"], injection["cache"]) == ("miss", "hit", "hit")
    assert again["cacheOriginId"] == first["retrievalId"] != again["retrievalId"]
    assert "cacheOriginId" not in first


async def test_what_somebody_asked_for_is_told_as_such() -> None:
    host = InProcessHost()
    host.add(TOLD)
    one = session(host, Away())
    await one.settled()
    await one.recall(Question(text="when are deploys?"))
    await one.close()
    project, user = (event.payload() for event in list(host.events)[1:])
    assert (project["mode"], project["bankId"], project["status"], project["rawCount"]) == (
        *("explicit", "proj-a"),
        *("success", 1),
    )
    assert (user["mode"], user["bankId"], user["status"], user["reason"]) == (
        *("explicit", "user-a"),
        *("timeout", "timeout"),
    )
    assert "deploy" not in json.dumps([project, user]).lower()


@pytest.mark.parametrize(("code", "status"), [("timeout", "timeout"), ("network", "error")])
async def test_a_bank_that_gave_no_answer_is_told_by_its_code(code: str, status: str) -> None:
    backend = Away()
    backend.code = code
    events = [event.payload() for event in await a_turn(backend)]
    assert [(e.get("bankId"), e["status"], e.get("reason")) for e in events[1:3]] == [
        ("proj-a", "success", None),
        ("user-a", status, code),
    ]
    assert (events[3]["status"], events[3]["failedScopes"]) == ("success", 1)


@pytest.mark.parametrize(
    ("messages", "recall", "reason"),
    [
        ([], RecallConfig(), "append-requires-user"),
        (QUESTION, RecallConfig(enabled=False), "disabled"),
    ],
)
async def test_what_was_skipped_is_told_with_its_reason(
    messages: list[Message], recall: RecallConfig, reason: str
) -> None:
    host = InProcessHost()
    one = session(host, InMemoryBackend(), recall=recall)
    await one.context(messages)
    await one.close()
    (event,) = host.events
    assert (event.phase, event.status, event.reason) == ("injection", "skipped", reason)


async def test_a_turn_without_anything_new_is_told_as_skipped() -> None:
    host = InProcessHost()
    one = session(host, InMemoryBackend())
    await one.settled()
    await one.close()
    (event,) = host.events
    assert (event.phase, event.status, event.reason) == ("retain", "skipped", "nothing-new")


async def test_a_settled_turn_is_told_by_document_and_operation() -> None:
    event = (await a_turn(InMemoryBackend()))[0].payload()
    assert (event["status"], event["jobCount"], event["sentCount"]) == ("success", 1, 1)
    assert event["documentIds"] == [IDENTITY.document_id]
    assert len(event["operationIds"]) == 1


async def test_no_event_holds_a_word_of_what_was_said() -> None:
    said = json.dumps([event.payload() for event in await a_turn(Away(), calls=2)]).lower()
    assert not [word for word in ("deploy", "friday", "when", "away") if word in said]


class Deaf(InProcessHost):
    async def emit(self, event: TelemetryEvent) -> None:  # noqa: ARG002  (the port's)
        raise RuntimeError


class Slow(InProcessHost):
    cancelled = 0

    async def emit(self, event: TelemetryEvent) -> None:  # noqa: ARG002  (the port's)
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


def refuses(_event: TelemetryEvent) -> None:
    raise RuntimeError


@pytest.mark.req("S0-telemetry-017")
@pytest.mark.parametrize(("kind", "listener"), [(InProcessHost, None), (Deaf, None), (Deaf, refuses), (Slow, None)])
async def test_a_turn_is_the_same_whoever_listens(
    kind: type[InProcessHost], listener: Listener | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindbrain.generic._telemetry._LAST_WORDS", 0.0)
    lines: list[str] = []
    host = kind(notify=lambda text, _level: lines.append(text))
    host.add(TOLD)
    one = session(host, InMemoryBackend(), listener=listener)
    assert len((await one.settled()).jobs) == 1
    assert "Friday" in (await one.context(QUESTION)).text
    await one.close()
    assert lines == []
    assert not isinstance(host, Slow) or host.cancelled == 2


async def test_a_turn_goes_on_before_anybody_hears_of_it() -> None:
    heard: list[TelemetryEvent] = []
    host = InProcessHost()
    one = session(host, InMemoryBackend(), listener=heard.append)
    await one.context(QUESTION)
    assert heard == list(host.events) == []
    await one.close()
    assert heard == list(host.events) != []


async def test_a_listener_hears_what_the_host_hears() -> None:
    heard: list[TelemetryEvent] = []
    host = InProcessHost()
    host.add(TOLD)
    one = session(host, InMemoryBackend(), listener=heard.append)
    await one.settled()
    await one.context(QUESTION)
    await one.close()
    assert heard == list(host.events) != []


async def test_whoever_opens_a_session_can_listen(tmp_path: Path) -> None:
    (tmp_path / "project/.git").mkdir(parents=True)
    settings = merge([Layer(origin="test", values={"dataDir": str(tmp_path / "data")})])
    place = SessionPlace(host="pi", cwd=str(tmp_path / "project"))
    heard: list[TelemetryEvent] = []
    opened = await Session.open(InProcessHost(), InMemoryBackend(), settings, place, on_event=heard.append)
    await opened.context(QUESTION)
    await opened.close()
    async with live_session(InProcessHost(), settings, place, on_event=heard.append) as live:
        await live.context(QUESTION)
    assert [event.phase for event in heard] == ["retrieval", "injection"] * 2


async def test_a_host_in_this_process_keeps_the_newest_events_only() -> None:
    host = InProcessHost()
    for number in range(1001):
        await host.emit(TelemetryEvent(phase="retain", status="success", started_at=number))
    assert (len(host.events), host.events[0].started_at) == (1000, 1)


@pytest.mark.req("S0-telemetry-018")
async def test_no_event_is_written_to_a_file(tmp_path: Path) -> None:
    (tmp_path / "project/.git").mkdir(parents=True)
    settings = merge([Layer(origin="test", values={"dataDir": str(tmp_path / "data")})])
    host = InProcessHost()
    host.add(TOLD)
    place = SessionPlace(host="pi", cwd=str(tmp_path / "project"))
    async with live_session(host, settings, place) as one:
        await one.settled()
        await one.context(QUESTION)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"Friday" in written
    events = [event.payload() for event in host.events]
    ids = [event[name] for event in events for name in ("retrievalId", "contextId") if name in event]
    assert len(ids) >= 3
    assert not [each for each in (*ids, '"phase"', "durationMs") if each.encode() in written]


@pytest.mark.req("S0-telemetry-020")
def test_the_doctor_leaves_everything_as_it_is_and_tells_no_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "project/.hindbrain"
    (tmp_path / "project/.git").mkdir(parents=True)
    state.mkdir(mode=0o700)
    (state / "last-recall.json").write_text("{broken", encoding="utf-8")
    (state / "retain-receipts.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    told: list[object] = []
    monkeypatch.setattr("hindbrain.generic._telemetry.Telemetry.tell", lambda *events: told.append(events))
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()}
    done = CliRunner().invoke(main, ["doctor", "--json", "--data-dir", str(tmp_path / "data")])
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()}
    assert json.loads(done.output)["command"] == "doctor"
    assert before == after
    assert "broken" not in done.output
    assert told == []
