"""A conversation in this process, a scripted model for its workers, and a silence that ends when a test says so."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hindbrain.contracts import Branch, Completion, ContextUsage, Entry, JsonValue, Message, TextPart, Tool
from hindbrain.generic import InProcessHost
from hindbrain.generic._observe import CompactionAnswer, CompactionAsk, DebugLog, Observing
from hindbrain.observe import LedgerIndex, ObserveConfig, WorkerModel
from hindbrain.observe.testing import START, Asked, ScriptedModel, ScriptedSource, calls, says

SMALL = ObserveConfig(
    observe_after_tokens=100,
    reflect_after_tokens=100_000,
    compact_after_tokens=1_000,
    idle_compaction_min_tokens=500,
    idle_compaction_ttl=1_800,
)
WINDOW = 128_000
SILENCE = 5
"""Seconds: shorter waits, for a host that comes to rest or a call that is tried again, are over at once here."""


def noting(asked: Asked) -> Completion:
    """Records one thing of the first passage, merges nothing, and drops what it is shown."""
    if len(asked.messages) > 2:
        return says()
    if asked.tool == "record_observations":
        first = asked.prompt.split("[Source entry id: ")[1].split("]")[0]
        item = {"content": f"seen {first}", "relevance": "low", "kind": "fact", "sourceEntryIds": [first]}
        return calls(asked.tool, {"observations": [item]}, cost_usd=0.01)
    shown = re.findall(r"^(?:none|partial|strong) \[([0-9a-f]{12})\]", asked.prompt, re.MULTILINE)
    if asked.tool == "record_reflections":
        item = {"content": f"a rule from {shown[-1]}", "supportingObservationIds": shown[-1:]}
        return calls(asked.tool, {"reflections": [item]}, cost_usd=0.02)
    return calls(asked.tool, {"ids": shown})


class HeldModel:
    """Answers as the script says, but not before ``go`` is set; ``held`` names the tools that wait for it."""

    def __init__(self, play: Callable[[Asked], Any]) -> None:
        self.script = ScriptedModel(play)
        self.held: set[str] = set()
        self.go = asyncio.Event()

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), max_tokens: int | None = None
    ) -> Completion:
        if tools[0].name in self.held:
            await self.go.wait()
        return await self.script.complete(messages, tools=tools, max_tokens=max_tokens)


class TalkHost(InProcessHost):
    """Compacts as pi and omp do: it asks for the summary, and summarises itself where it gets none."""

    def __init__(self) -> None:
        self.notices: list[tuple[str, str]] = []
        super().__init__(notify=lambda text, level: self.notices.append((level, text)))
        self.engine: Any = None
        self.resting = True
        self.native = 0
        self.asked = 0
        self.usage = ContextUsage(window=WINDOW)

    async def idle(self) -> bool:
        return self.resting

    async def context_usage(self) -> ContextUsage:
        return self.usage

    async def compact(self, instructions: str | None = None) -> bool:
        self.asked += 1
        kept = [entry.id for entry in (await self.branch()).path() if entry.kind == "message"][-1]
        ask = CompactionAsk(
            first_kept=kept, tokens_before=5_000, window=WINDOW, system_tokens=10, instructions=instructions
        )
        answer = await self.engine.compaction(ask)
        if answer is not None and not isinstance(answer, CompactionAnswer):
            return False
        if answer is None:
            self.native += 1
        self.store(answer, kept)
        return True

    def store(self, answer: CompactionAnswer | None, kept: str) -> None:
        """Append the compaction."""
        data = None if answer is None else json.dumps(dict(answer.details))
        summary = "the host's own words" if answer is None else answer.summary
        self.put("compaction", first_kept_id=kept, data=data, summary=summary)

    def put(self, kind: str, **fields: Any) -> str:
        """Append an entry of the host's own."""
        number = len(self._entries) + 1
        at = START + 60_000 * number
        self.add(Entry(id=f"e{number}", parent_id=self._leaf, kind=kind, at=at, **fields))
        return f"e{number}"

    def leaf(self) -> str | None:
        return self._leaf

    def go_to(self, leaf: str | None) -> None:
        """Stand elsewhere in the tree."""
        self._leaf = leaf

    def tree(self) -> Branch:
        return Branch(self._entries, self._leaf)

    def own(self) -> list[Entry]:
        """The ledger, whole."""
        return [entry for entry in self._entries.values() if entry.kind == "custom"]


class Talk:
    """One session. ``wait`` lets all tasks go on until they can go no further; nothing waits for a real clock."""

    def __init__(self, config: ObserveConfig, play: Callable[[Asked], Any], folder: Path | None) -> None:
        self.host = TalkHost()
        self.model = HeldModel(play)
        self.config = config
        self.folder = folder
        self.session: str | None = "s1"
        self.sleeping: list[tuple[float, asyncio.Event]] = []
        self.time = START
        worker = WorkerModel(model=self.model, window=WINDOW, max_tokens=8_000, name="scripted")
        self.source = ScriptedSource(worker)
        self.noting = noting
        self.engine = self.open()

    def open(self, config: ObserveConfig | None = None) -> Observing:
        """A process that opens the session, this one or the next."""
        self.config = config or self.config
        debug = None if self.folder is None else DebugLog(self.folder, self.session)
        self.engine = Observing(
            self.host, self.source, self.config, clock=lambda: self.time, debug=debug, sleep=self._sleep
        )
        self.host.engine = self.engine
        return self.engine

    def tight(self) -> ObserveConfig:
        """These settings, with a pool that one observation overfills."""
        return evolve(self.config, observations_pool_max_tokens=2, observations_pool_target_tokens=1)

    def say(self, tokens: int = 120, role: str = "user") -> str:
        """A message of so many estimated tokens."""
        text = ("word " * tokens)[: tokens * 4]
        stop = "stop" if role == "assistant" else None
        message = Message(role=role, parts=(TextPart(text),), at=self.time, stop_reason=stop)
        return self.host.put("message", message=message)

    async def turn(self, tokens: int = 120) -> None:
        """A turn, until its workers rest."""
        self.say(tokens)
        self.engine.turn_ended()
        await self.wait()

    async def remember(self, tokens: int = 120) -> None:
        """A turn, and the host's compaction is still far."""
        await self.turn(tokens)
        assert self.index().fold.active_observations

    async def rest(self) -> None:
        """The agent comes to rest."""
        self.say(10, "assistant")
        self.engine.settled()
        await self.wait()

    async def wait(self) -> None:
        for _each in range(200):
            await asyncio.sleep(0)

    async def pass_time(self) -> None:
        """All that waits for a while has waited."""
        for _seconds, event in self.sleeping:
            event.set()
        self.sleeping.clear()
        await self.wait()

    def index(self) -> LedgerIndex:
        index = LedgerIndex()
        index.follow(self.host.tree())
        return index

    def newest(self) -> str:
        """The id of the newest observation in force."""
        return list(self.index().fold.active_observations)[-1]

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Begin something that is looked at later."""
        return asyncio.get_running_loop().create_task(work)

    def tools(self) -> list[str]:
        """What the model was asked for, the first request of each worker's run only."""
        return [each.tool for each in self.model.script.asked if len(each.messages) == 2]

    async def status(self) -> str:
        told = await self.engine.status()
        return str(told.text)

    def rows(self) -> list[Mapping[str, JsonValue]]:
        """The debug log."""
        assert self.folder is not None
        files = sorted(self.folder.rglob("*.ndjson"))
        return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]

    async def _sleep(self, seconds: float) -> None:
        if seconds < SILENCE:
            return
        event = asyncio.Event()
        self.sleeping.append((seconds, event))
        try:
            await event.wait()
        finally:
            self.sleeping = [each for each in self.sleeping if each[1] is not event]


@pytest.fixture
async def talk() -> AsyncIterator[Callable[..., Talk]]:
    """Open a session: ``talk(observe_after_tokens=…)`` over small thresholds."""
    opened: list[Talk] = []

    def begin(play: Callable[[Asked], Any] = noting, folder: Path | None = None, **more: Any) -> Talk:
        opened.append(Talk(evolve(SMALL, **more), play, folder))
        return opened[-1]

    yield begin
    for each in opened:
        await each.engine.close()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers begin at the turn's end, and not a moment later."""
    monkeypatch.setattr("hindbrain.generic._observe._consolidator.BREATH", 0.0)
