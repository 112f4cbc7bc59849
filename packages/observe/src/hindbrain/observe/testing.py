"""For tests of observational memory: a branch written line by line, observers and models that do as they are told."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field, frozen

from hindbrain.contracts import Completion, Entry, Message, Part, TextPart, Tool, ToolCallPart
from hindbrain.observe._chunk import Chunk, moment_of
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._consolidate import consolidate
from hindbrain.observe._encode import Append, append_of, folded_details
from hindbrain.observe._errors import BranchMovedError
from hindbrain.observe._events import Event, Folded
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._ports import WorkerModel
from hindbrain.observe._records import Kind, Observation, Relevance, make_observation
from hindbrain.observe._run import ConsolidationRun, Stage
from hindbrain.observe._tokens import compact_json

__all__ = [
    "Asked",
    "BranchScript",
    "ScriptLedger",
    "ScriptedModel",
    "ScriptedSource",
    "Workshop",
    "calls",
    "planted",
    "planted_observer",
    "says",
]

START = 1_767_344_400_000
"""2026-01-02 09:00 UTC; each entry comes a minute after the one before it."""
_PLANTED = re.compile(r"FACT (low|medium|high|critical) (user|decision|fact|progress): ([^\n]+)")


@define
class BranchScript:
    """Entries of a branch, root first.

    Each method adds an entry and returns its id: ``raw-1``, ``raw-2``, … for sources, ``led-1``, … for others.
    """

    entries: list[Entry] = field(factory=list)
    sources: int = 0
    others: int = 0

    def say(self, role: str, *parts: Part | str, at: int | None = None, **message: Any) -> str:
        """A message of any role."""
        when = self._now() if at is None else at
        read = tuple(TextPart(part) if isinstance(part, str) else part for part in parts)
        return self._source("message", message=Message(role=role, parts=read, at=when, **message), at=when)

    def user(self, text: str, at: int | None = None) -> str:
        """What a user said."""
        return self.say("user", text, at=at)

    def assistant(self, text: str) -> str:
        """What the model answered."""
        return self.say("assistant", text)

    def weighing(self, tokens: int) -> str:
        """A user's message of so many estimated tokens."""
        return self.user("word " * (tokens * 4 // 5) + "x" * (tokens * 4 % 5))

    def custom(self, custom_type: str, data: Any) -> str:
        """Any custom entry."""
        return self._other("custom", custom_type=custom_type, data=compact_json(data))

    def append(self, event: Event) -> str:
        """A ledger entry.

        Raises:
            ValueError: the event is one that nobody writes.
        """
        made = append_of(event)
        if made is None:
            raise ValueError
        return self.custom(made.custom_type, made.data)

    def compaction(self, first_kept: str | None, details: Folded | None = None, summary: str = "A summary.") -> str:
        """A compaction, made from memory where there are details."""
        data = None if details is None else compact_json(folded_details(details))
        return self._other("compaction", first_kept_id=first_kept, data=data, summary=summary)

    def index(self) -> LedgerIndex:
        """The branch as it stands, read."""
        return LedgerIndex(self.entries)

    def _source(self, kind: str, **fields: Any) -> str:
        self.sources += 1
        return self._add(Entry(id=f"raw-{self.sources}", parent_id=self._tip(), kind=kind, **fields))

    def _other(self, kind: str, **fields: Any) -> str:
        self.others += 1
        return self._add(Entry(id=f"led-{self.others}", parent_id=self._tip(), kind=kind, at=self._now(), **fields))

    def _add(self, entry: Entry) -> str:
        self.entries.append(entry)
        return entry.id

    def _tip(self) -> str | None:
        return self.entries[-1].id if self.entries else None

    def _now(self) -> int:
        return START + 60_000 * len(self.entries)


def planted(text: str, relevance: Relevance = Relevance.MEDIUM, kind: Kind = Kind.FACT) -> str:
    """A line that :func:`planted_observer` finds in any source."""
    return f"FACT {relevance.value} {kind.value}: {text}"


def planted_observer(index: LedgerIndex, chunk: Chunk) -> tuple[Observation, ...]:
    """Records what :func:`planted` put into the sources of a chunk, and nothing else."""
    found: dict[str, Observation] = {}
    for source in chunk.source_ids:
        place = index.place(source)
        message = index.entries[place].message if place is not None else None
        for relevance, kind, text in _PLANTED.findall(message.text if message is not None else ""):
            at = moment_of(index, [source], last_at=chunk.last_at, now=0)
            record = make_observation(text, at=at, sources=[source], relevance=Relevance(relevance), kind=Kind(kind))
            found[record.id] = record
    return tuple(found.values())


@define
class ScriptLedger:
    """A ledger over a script's branch. ``moved`` makes it refuse, as one does whose conversation went elsewhere."""

    script: BranchScript
    moved: bool = False
    appended: list[Append] = field(factory=list)

    async def index(self) -> LedgerIndex:
        """The branch as it stands."""
        return self.script.index()

    async def append(self, append: Append, *, expect_ancestor: str) -> None:
        """Append an entry.

        Raises:
            BranchMovedError: the ledger was told to refuse, or the ancestor is not on the branch.
        """
        if self.moved or expect_ancestor not in {each.id for each in self.script.entries}:
            raise BranchMovedError
        self.appended.append(append)
        self.script.custom(append.custom_type, append.data)

    def data(self, custom_type: str) -> list[dict[str, Any]]:
        """What was appended of a type."""
        return [each.data for each in self.appended if each.custom_type == custom_type]


@frozen
class Asked:
    """A request that a scripted model was sent."""

    instructions: str
    prompt: str
    tool: str
    max_tokens: int | None
    messages: tuple[Message, ...]


Answer = Completion | Exception
Play = Callable[[Asked], Answer]


@define
class ScriptedModel:
    """A model that answers as ``play`` says, and keeps what it was asked."""

    play: Play
    asked: list[Asked] = field(factory=list)

    async def complete(
        self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), max_tokens: int | None = None
    ) -> Completion:
        """Answer once, or raise what the script gives."""
        asked = Asked(
            instructions=messages[0].text,
            prompt=messages[1].text,
            tool=tools[0].name,
            max_tokens=max_tokens,
            messages=tuple(messages),
        )
        self.asked.append(asked)
        answer = self.play(asked)
        if isinstance(answer, Exception):
            raise answer
        return answer


@define
class ScriptedSource:
    """A source of one model, or of none."""

    found: WorkerModel | None

    async def resolve(self) -> WorkerModel | None:
        """The model."""
        return self.found


def says(text: str = "Nothing is worth a record.", *, stop: str = "stop", **told: Any) -> Completion:
    """An answer in words; ``told`` are fields of :class:`~hindbrain.contracts.Completion`."""
    return Completion(message=Message(role="assistant", parts=(TextPart(text),), stop_reason=stop), **told)


def calls(tool: str, *arguments: dict[str, Any], stop: str = "toolUse", **told: Any) -> Completion:
    """An answer that calls a tool, once for each of the arguments."""
    parts = tuple(ToolCallPart(f"call-{n}", tool, each) for n, each in enumerate(arguments))
    return Completion(message=Message(role="assistant", parts=parts, stop_reason=stop), **told)


@define
class Workshop:
    """Runs the workers over a script's branch, with a model that plays what it is told, and a clock that stands."""

    script: BranchScript
    play: Play
    config: ObserveConfig = field(factory=ObserveConfig)
    window: int | None = None
    max_tokens: int | None = None
    ledger: ScriptLedger = field(init=False)
    model: ScriptedModel = field(init=False)
    waits: list[float] = field(init=False, factory=list)
    stages: list[Stage | None] = field(init=False, factory=list)
    events: list[str] = field(init=False, factory=list)

    def __attrs_post_init__(self) -> None:
        self.ledger = ScriptLedger(self.script)
        self.model = ScriptedModel(self.play)

    async def run(self, **more: Any) -> ConsolidationRun:
        """One run; ``more`` are arguments of :func:`~hindbrain.observe.consolidate`."""
        worker = WorkerModel(model=self.model, window=self.window, max_tokens=self.max_tokens, name="scripted")
        return await consolidate(
            self.ledger,
            ScriptedSource(worker),
            self.config,
            clock=lambda: START,
            run_id="run-1",
            on_stage=self.stages.append,
            log=lambda event, _data: self.events.append(event),
            sleep=self._wait,
            **more,
        )

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)
