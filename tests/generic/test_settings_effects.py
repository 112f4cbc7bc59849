"""Every setting changes something that can be seen, or says that it has no effect yet. A new one has to join the table.

A row says which value the setting is flipped to, over which other settings, and where the difference shows: in what a
turn sends and shows, in the bounds of a flush, or in what a backend is opened with.
"""

from __future__ import annotations

import asyncio
import json
import selectors
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen

from hindbrain.contracts import (
    BackendError,
    Entry,
    Fact,
    FactType,
    Message,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    Scores,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import (
    DiskOutbox,
    EndpointModel,
    InProcessHost,
    Layer,
    Session,
    SessionPlace,
    Settings,
    live_session,
    memory_config,
    merge,
    open_model,
)
from hindbrain.generic._config import ALIASES, BY_PATH, KEYS, observe_config
from hindbrain.generic._open import name_session, open_backend, origin_of
from hindbrain.generic._recall_files import DiskRecallFiles
from hindbrain.generic.sidecar._footer import RECALLING, Footer, Notices, Word
from hindbrain.memory import Checkout, identify
from hindbrain.store import HostState

CHECKOUT = Checkout(cwd="/repo", root="/repo", remote="git@github.com:acme/my_widget.git")
NOW = 1_767_323_045_000
ADDRESS = {"observe.endpoint.baseUrl": "http://localhost:2/v1"}
USER_BANK = {"banks.user.bankId": "user-a"}


def part(role: str, *parts: Any, **more: Any) -> Message:
    return Message(role=role, parts=parts, at=NOW, **more)


SAID = [
    part("user", TextPart("Which port does the widget listen on?")),
    part(
        "assistant",
        ThinkingPart("I had better look."),
        TextPart("Let me look."),
        ToolCallPart("1", "bash", {"command": "ss -ltn", "timeout": 5}),
        model="some-model",
    ),
    part("toolResult", TextPart("no such command"), tool_call_id="1", tool_name="bash", is_error=True),
    part("toolResult", TextPart("port 8080"), tool_call_id="2", tool_name="http"),
    part("toolResult", TextPart("cannot be read"), tool_call_id="3", tool_name="read", is_error=True),
    part("user", TextPart("And where is that written down?")),
]
FLOORS = {"semantic": 0.5, "keyword": 0.5, "reranker": 0.5, "final": 0.5}


def fact(number: int, **scores: float) -> Fact:
    return Fact(
        id=f"f{number}",
        text=f"The widget has fact {number}.",
        type=FactType.OBSERVATION,
        source_fact_ids=("s1",),
        scores=Scores(**{**dict.fromkeys(FLOORS, 0.9), **scores}),
    )


FACTS = (*(fact(n, **{name: 0.1}) for n, name in enumerate(FLOORS)), *(fact(n) for n in range(10, 20)))
SOURCE = Fact(id="s1", text="Somebody said so.", type=FactType.WORLD)


class Watched(InMemoryBackend):
    """Says the same to every question, and remembers what it was asked and given."""

    def __init__(self, *, hangs: bool = False) -> None:
        super().__init__()
        self.hangs = hangs
        self.is_away = False
        self.asked: list[tuple[str, RecallQuery]] = []
        self.given: list[tuple[str, RetainItem, str]] = []

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        self.asked.append((bank, query))
        if self.hangs:
            await asyncio.Event().wait()
        if self.is_away:
            raise BackendError("away")
        return Recall(facts=FACTS, source_facts={"s1": SOURCE} if query.source_fact_tokens else {})

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.given.append((bank, item, operation_id))
        return await super().retain(bank, item, operation_id=operation_id)


def opened(settings: Settings, backend: Watched, host: InProcessHost, clock: Callable[[], int], **more: Any) -> Session:
    config = memory_config(settings)
    place = SessionPlace(host="pi", cwd="/repo", file="/sessions/s.jsonl", session_id="s1")
    return Session(
        host=host,
        backend=backend,
        config=config,
        project=identify(CHECKOUT, config.scope),
        identity=name_session(place, origin_of(settings)),
        clock=clock,
        **more,
    )


async def turn(settings: Settings) -> object:
    """All that a turn asks, shows, sends and tells; and the same question once more, two minutes later."""
    told: list[str] = []
    host, backend, moment = InProcessHost(notify=lambda text, _level: told.append(text)), Watched(), [NOW]
    for number, message in enumerate(SAID):
        before = f"e{number - 1}" if number else None
        host.add(Entry(id=f"e{number}", parent_id=before, kind="message", at=NOW, message=message))
    session = opened(settings, backend, host, lambda: moment[0])
    shown = await session.context(SAID)
    moment[0] += 120_000
    again = await session.context(SAID)
    settled = await session.settled()
    await session.close()
    patches = [(patch.text, patch.position, patch.skipped) for patch in (shown, again)]
    return backend.asked, patches, backend.given, settled.skipped, told


class Leaping(asyncio.SelectorEventLoop):
    """A loop whose time leaps to the next moment that anything waits for."""

    def __init__(self) -> None:
        self.now = 0.0
        loop = self

        class Selector(selectors.DefaultSelector):
            def select(self, timeout: float | None = None) -> Any:
                found = super().select(0 if timeout is not None else None)
                if not found and timeout:
                    loop.now += timeout
                return found

        super().__init__(Selector())

    def time(self) -> float:
        return self.now


async def patience(settings: Settings) -> object:
    """How long a turn waits for a memory that never answers, in seconds of the loop."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    await opened(settings, Watched(hangs=True), InProcessHost(), lambda: NOW).context(SAID)
    return round(loop.time() - start, 3)


async def leavings(settings: Settings) -> object:
    """What lies in the project after a recall, and after one that no bank answered: file and number of failures."""
    backend, left = Watched(), []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repo"
        root.mkdir()
        state = await HostState.open(root / ".pi/hindsight", seal_file=Path(folder) / "seal.key", within=root)
        files = DiskRecallFiles(state, memory_config(settings).recall, root)
        session = opened(settings, backend, InProcessHost(), lambda: NOW, recall_files=files)
        for backend.is_away in (False, True):
            await session.context([*SAID, part("user", TextPart(f"Is it away? {backend.is_away}"))])
            left.append([(each, json.loads(each.read_bytes())["failed"]) for each in root.rglob("*recall.json")])
        await state.close()
        return [[(each.relative_to(root), failed) for each, failed in row] for row in left]


class FlusherSpy:
    """In place of a queue's flusher: keeps what it was made with and asked for."""

    def __init__(self) -> None:
        self.seen: list[object] = []

    def flusher(self, _backend: object, policy: object, **_gate: object) -> FlusherSpy:
        self.seen.append(policy)
        return self

    async def flush(self, **bounds: object) -> Any:
        self.seen.append(bounds)
        raise NotImplementedError


async def flushes(settings: Settings) -> object:
    """The bounds and the manner of the flushes of a session."""
    spy = FlusherSpy()
    outbox = DiskOutbox(spy, Watched(), settings)  # type: ignore[arg-type]  # only what is asked of the flusher is seen
    for flush in (outbox.flush, outbox.tick, outbox.last_flush):
        with pytest.raises(NotImplementedError):
            await flush()
    return [repr(each) for each in spy.seen]


async def idling(settings: Settings) -> object:
    """How often a live session that stands idle is asked to send, in seconds."""
    seen: list[float] = []

    @asynccontextmanager
    async def every(seconds: float, _work: object) -> AsyncIterator[None]:
        seen.append(seconds)
        yield

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("hindbrain.generic._live.every", every)
        patch.setenv("XDG_DATA_HOME", f"{folder}/data")
        (Path(folder) / "repo/.git").mkdir(parents=True)
        async with live_session(InProcessHost(), settings, SessionPlace(host="pi", cwd=f"{folder}/repo")):
            pass
    return seen


class Parts:
    """In place of a part that is opened: keeps what it was opened with."""

    def __init__(self, seen: list[str]) -> None:
        self.seen = seen

    def __call__(self, *args: object, **kwargs: object) -> Parts:
        self.seen.append(f"{args} {kwargs}")
        return self

    async def close(self) -> None:
        """As the part would."""


async def destination(settings: Settings) -> object:
    """What the backend of the settings is opened with, and what operation ids are bound to."""
    seen: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", "/nowhere")
        for name in ("client.HindsightClient", "generic._open.OpenAIEmbedder"):
            patch.setattr(f"hindbrain.{name}", Parts(seen))
        patch.setattr("hindbrain.store.EmbeddedBackend", lambda folder, embedder: Parts(seen)(folder, bool(embedder)))
        async with open_backend(settings):
            pass
    return seen, origin_of(settings)


async def engine(settings: Settings) -> object:
    """Whether a session is observed, and what its engine is built with."""
    return settings["observe.enabled"], repr(observe_config(settings))


async def endpoint(settings: Settings) -> object:
    """The model that the workers would ask, and with which key."""
    async with open_model(settings) as source:
        worker = await source.resolve()
        if worker is None:
            return None
        assert isinstance(worker.model, EndpointModel)
        return worker.model.name, worker.window, repr(worker.model._poster._token)


async def shown(settings: Settings) -> object:
    """What the footer shows of each state, and what is told beside it."""
    footer, words = Footer.of(settings), (Word(state="recalled", number=2), Word(state="retained and more than that"))
    return [footer.line(word, "widget") for word in (RECALLING, *words)], repr(Notices.of(settings))


Probe = Callable[[Settings], Awaitable[object]]


@frozen
class Effect:
    """A setting's other value, what is set besides, and where the difference is looked for."""

    value: Any
    over: Mapping[str, Any] = field(factory=dict)
    probe: Probe = turn


WAITS = Effect("waits")
"""For a setting that nothing reads yet: whoever sets it has to be told."""
SERVER = {"backend": "hindsight"}
EMBEDDER = {"embedder.baseUrl": "http://127.0.0.1:1/v1", "embedder.model": "m"}
REFUSES = {"command": [sys.executable, "-c", "raise SystemExit(1)"]}
EVERY_TURN = {
    "banks": [{"id": "mine", "role": "coding"}, {"id": "user-a", "role": "user", "retain": {"mode": "always"}}]
}

EFFECTS: dict[str, Effect] = {
    "enabled": Effect(value=False),
    "backend": Effect("hindsight", {}, destination),
    "dataDir": Effect("/elsewhere", {}, destination),
    "hindsight.baseUrl": Effect("https://h.example.com", SERVER, destination),
    "hindsight.apiKeyRef": Effect("env:SOME_KEY", SERVER, destination),
    "hindsight.timeoutMs": Effect(3000, SERVER, destination),
    "embedder.baseUrl": Effect("http://127.0.0.1:1/v1", {"embedder.model": "m"}, destination),
    "embedder.model": Effect("m", {"embedder.baseUrl": "http://127.0.0.1:1/v1"}, destination),
    "embedder.apiKeyRef": Effect("env:SOME_KEY", EMBEDDER, destination),
    "facts.bankId": WAITS,
    "facts.recallMaxTokens": WAITS,
    "banks": Effect([{"id": "mine"}]),
    "banks.project.bankId": Effect("mine"),
    "banks.project.enabled": Effect(value=False),
    "banks.project.retain.mode": Effect("explicit-only"),
    "banks.user.bankId": Effect("user-a"),
    "banks.user.enabled": Effect(value=False, over=USER_BANK),
    "banks.user.retain.mode": Effect("always", USER_BANK),
    "globalRetain.mode": Effect("explicit-only", EVERY_TURN),
    "userRetain.mode": Effect("explicit-only", EVERY_TURN),
    "scope.projectId": Effect("pinned"),
    "scope.projectIdStrategy": Effect("basename"),
    "scope.userScopeTags": Effect(["harness:pi"], USER_BANK),
    "scope.legacyTags": Effect(value=True),
    "scope.shareHosts": Effect(value=False, over=USER_BANK),
    "scope.unscopedRecallBanks": Effect(["mine"], {"banks.project.bankId": "mine"}),
    "scope.includeSharedObservations": Effect(value=True),
    "observations.enabled": Effect(value=False),
    "observations.scopes": Effect([["team:x"]]),
    "recall.enabled": Effect(value=False),
    "recall.types": Effect(["world"]),
    "recall.budget": Effect("high"),
    "recall.maxTokens": Effect(300),
    "recall.userMaxTokens": Effect(300, USER_BANK),
    "recall.preferObservations": Effect(value=False),
    "recall.includeSourceFacts": Effect(value=True),
    "recall.maxSourceFactsTokens": Effect(300, {"recall.includeSourceFacts": True}),
    "recall.contextTurns": Effect(1),
    "recall.roles": Effect(["assistant"]),
    "recall.maxQueryChars": Effect(30),
    "recall.queryPreamble": Effect("Mind the ports."),
    "recall.includeDateInQuery": Effect(value=True),
    "recall.includeRepoHintsInQuery": Effect(value=False),
    "recall.queryTimestamp": Effect("2026-01-01T00:00:00+00:00"),
    "recall.topK": Effect(2),
    "recall.deadlineMs": Effect(700, {}, patience),
    "recall.cacheTtlMs": Effect(600_000),
    "recall.injectionPosition": Effect("prepend"),
    **{f"recall.minScores.{name}": Effect(0.5) for name in FLOORS},
    "recall.storeLastRecall": Effect(value=True, probe=leavings),
    "recall.storeLastRecallFailures": Effect(value=True, over={"recall.storeLastRecall": True}, probe=leavings),
    "recall.lastRecallPath": Effect("logs/recall.json", {"recall.storeLastRecall": True}, leavings),
    "retain.enabled": Effect(value=False),
    "retain.delivery": Effect("coalesced", {}, flushes),
    "retain.beforeEnqueue": Effect(REFUSES),
    "retain.flushIntervalMs": Effect(1500, {}, idling),
    "retain.periodicFlushMaxJobs": Effect(7, {}, flushes),
    "retain.periodicFlushTimeoutMs": Effect(700, {}, flushes),
    "retain.shutdownFlushMaxJobs": Effect(7, {}, flushes),
    "retain.shutdownFlushTimeoutMs": Effect(700, {}, flushes),
    "retain.content.user": Effect([]),
    "retain.content.assistant": Effect(["text", "toolCall", "thinking"]),
    "retain.content.toolResult": Effect(["content"]),
    "retain.toolFilter.toolCall.include": Effect(["http"]),
    "retain.toolFilter.toolCall.exclude": Effect(["bash"]),
    "retain.toolFilter.toolResult.include": Effect(["http"]),
    "retain.toolFilter.toolResult.exclude": Effect([]),
    "retain.compactToolCalls": Effect(value=False),
    "retain.strip.message": Effect(["model"]),
    "retain.strip.topLevel": Effect([]),
    "observe.enabled": Effect(value=False, probe=engine),
    "observe.observeAfterTokens": Effect(5000, {}, engine),
    "observe.observerChunkMaxTokens": Effect(5000, {}, engine),
    "observe.reflectAfterTokens": Effect(5000, {}, engine),
    "observe.compactAfterTokens": Effect(50_000, {}, engine),
    "observe.compactAfterTokensMode": Effect("ratio", {}, engine),
    "observe.compactAfterTokensRatio": Effect(0.5, {}, engine),
    "observe.observationsPoolMaxTokens": Effect(5000, {}, engine),
    "observe.observationsPoolTargetTokens": Effect(5000, {}, engine),
    "observe.memoryMaxTokens": Effect(5000, {}, engine),
    "observe.agentMaxTurns": Effect(5, {}, engine),
    "observe.agentMaxTokens": Effect(5000, {}, engine),
    "observe.model.provider": Effect("p", {"observe.model.id": "m"}, engine),
    "observe.model.id": Effect("m", {"observe.model.provider": "p"}, engine),
    "observe.model.thinking": Effect("high", {"observe.model.provider": "p", "observe.model.id": "m"}, engine),
    "observe.observer": Effect("extractive", {}, engine),
    "observe.showWorkerNotifications": Effect(value=False, probe=engine),
    "observe.passive": Effect(value=True, probe=engine),
    "observe.debugLog": Effect(value=True, probe=engine),
    "observe.subagents": Effect(value=True, probe=engine),
    "observe.idleCompactionTtl": Effect("30s", {}, engine),
    "observe.idleCompactionMinTokens": Effect(5000, {}, engine),
    "status.style": Effect("emoji", {}, shown),
    "status.detail": Effect("verbose", {}, shown),
    "status.maxLength": Effect(9, {}, shown),
    "status.showActivity": Effect(value=False, probe=shown),
    "notifications.startup": Effect(value=False, probe=shown),
    "notifications.recall": Effect(value=True, probe=shown),
    "notifications.retain": Effect(value=True, probe=shown),
    "observe.endpoint.baseUrl": Effect("http://localhost:1/v1", {"observe.endpoint.model": "m"}, endpoint),
    "observe.endpoint.model": Effect("m2", ADDRESS, endpoint),
    "observe.endpoint.apiKeyRef": Effect("env:A_KEY", {**ADDRESS, "observe.endpoint.model": "m"}, endpoint),
    "observe.endpoint.window": Effect(32_000, {**ADDRESS, "observe.endpoint.model": "m"}, endpoint),
}


def nested(path: str, value: object) -> dict[str, Any]:
    name, _, rest = path.partition(".")
    return {name: nested(rest, value) if rest else value}


def settings_of(*layers: tuple[str, Any]) -> Settings:
    return merge([Layer(origin="test", values=nested(path, value)) for path, value in layers])


def look(effect: Effect, settings: Settings) -> object:
    with asyncio.Runner(loop_factory=Leaping if effect.probe is patience else None) as runner:
        return runner.run(_awaited(effect.probe(settings)))


async def _awaited(call: Awaitable[object]) -> object:
    return await call


def test_every_setting_has_a_row_and_every_row_a_setting() -> None:
    known = {key.path for key in (*KEYS, *ALIASES)}
    assert known - set(EFFECTS) == set(), "say in EFFECTS what setting it changes: one that changes nothing is a fault"
    assert set(EFFECTS) - known == set()


@pytest.mark.parametrize("path", [path for path, effect in EFFECTS.items() if effect is not WAITS])
def test_another_value_changes_what_can_be_seen(path: str) -> None:
    effect, key = EFFECTS[path], BY_PATH[path]
    before = settings_of(*effect.over.items())
    after = settings_of(*effect.over.items(), (path, effect.value))
    assert not key.waits, "it has an effect: take waits from the key"
    assert [*before.warnings, *after.warnings] == []
    assert key.alias_of or before.values[path].origin == "default"
    assert look(effect, before) == look(effect, before), "what is looked at has to stay the same by itself"
    assert look(effect, after) != look(effect, before)


@pytest.mark.parametrize("path", [path for path, effect in EFFECTS.items() if effect is WAITS])
def test_a_setting_that_nothing_reads_yet_says_so(path: str) -> None:
    key = BY_PATH[path]
    assert key.waits, "something reads it now: give it a row that shows what it changes"
    other = next(value for value in (True, 3000, "x.json") if value != key.default and accepts(path, value))
    (warning,) = settings_of((path, other)).warnings
    assert path in warning
    assert "no effect" in warning
    assert settings_of((path, key.default)).warnings == ()


def accepts(path: str, value: object) -> bool:
    return BY_PATH[path].target not in settings_of((path, value)).refused


def test_banks_lie_where_the_settings_say(tmp_path: Path) -> None:
    async def retained() -> None:
        async with open_backend(settings_of(("dataDir", str(tmp_path / "mine")))) as backend:
            item = RetainItem(content="We use tabs.", document_id="d")
            await backend.retain("a", item, operation_id="93e33487-6c92-5880-9b29-dc86689d9c26")

    asyncio.run(retained())
    assert (tmp_path / "mine/banks/a.sqlite").exists()
