"""Recalled memory never becomes memory again, and a turn costs the same however many went before."""

from __future__ import annotations

from attrs import frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.client._bodies import recall_body, retain_body
from hindbrain.contracts import (
    WRAPPERS,
    Entry,
    Fact,
    FactType,
    Message,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    TextPart,
    is_contaminated,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import InProcessHost, Session
from hindbrain.memory import GUIDANCE, Checkout, MemoryConfig, RecallConfig, ScopeConfig, SessionIdentity, identify

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="local")
MARK = "zyzzyva"
"""A word that only what is recalled holds."""


def said(role: str, text: str, **fields: str) -> Message:
    return Message(role=role, parts=(TextPart(text),), **fields)  # type: ignore[arg-type]  # the tests name real fields


class Planted(InMemoryBackend):
    """Recalls what was planted, and keeps what it was given to retain."""

    def __init__(self, facts: list[str]) -> None:
        super().__init__()
        self._facts = tuple(
            Fact(id=str(n), text=f"{text} {MARK}{n}", type=FactType.OBSERVATION, source_fact_ids=("s",))
            for n, text in enumerate(facts)
        )
        self.retained: list[str] = []

    async def recall(self, bank: str, query: RecallQuery) -> Recall:  # noqa: ARG002  (the port's)
        return Recall(facts=self._facts, source_facts={"s": Fact(id="s", text=f"a source {MARK}")})

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.retained.append(item.content)
        return await super().retain(bank, item, operation_id=operation_id)


@frozen
class Habit:
    """What a careless host does with a block: the role, the wrapper and the space before it that it keeps it with."""

    role: str
    wrapper: str
    before: str
    custom_type: str | None

    def keep(self, text: str) -> Message:
        tagged = text.replace("hindsight-memory>", f"{self.wrapper}>")
        return said(self.role, self.before + tagged)


@frozen
class Merged:
    """A host, or a model that repeats what it reads, which keeps a block together with other words."""

    role: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    joined: bool
    custom_type: None = None

    def keep(self, text: str) -> Message:
        texts = (*self.before, text, *self.after)
        parts = ("\n".join(texts),) if self.joined else texts
        return Message(role=self.role, parts=tuple(map(TextPart, parts)))


AROUND = st.sampled_from([(), ("ship it",), ("see <hindsight-memory> there", "and here")])
HABITS = st.builds(Merged, st.sampled_from(["user", "assistant"]), AROUND, AROUND, st.booleans()) | st.builds(
    Habit,
    st.sampled_from(["user", "assistant", "custom", "developer"]),
    st.sampled_from(WRAPPERS),
    st.sampled_from(["", "\n", " \t\r\n", "\u00a0", "\n" * 5]),
    st.sampled_from([None, "hindsight-recall"]),
)
WORDS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    ["see <hindsight-memory> here", "</memory>", "1. item", "ship it"]
)
TURNS = st.lists(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "toolResult"]), WORDS), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


@given(TURNS, st.lists(WORDS, min_size=1, max_size=4), HABITS, st.sampled_from(["append", "prepend"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
async def test_what_was_injected_never_comes_back_as_memory(
    turns: list[list[tuple[str, str]]], facts: list[str], habit: Habit | Merged, position: str
) -> None:
    backend, host = Planted(facts), InProcessHost()
    recall = RecallConfig(injection_position=position, include_source_facts=True)
    config = MemoryConfig(project_bank="proj-a", recall=recall)
    session = Session(host=host, backend=backend, config=config, project=PROJECT, identity=IDENTITY)
    history: list[Message] = []
    kept = 0
    injected = False
    for turn in turns:
        history += [said(role, text) for role, text in turn] + [said("user", "and now?")]
        patch = await session.context(history)
        injected |= MARK in patch.text
        # The worst host: it takes the context for the conversation, block and all.
        history = [
            habit.keep(message.text) if patch.text and message.text == patch.text else message
            for message in patch.apply(history)
        ]
        for message in history[kept:]:
            blocks = GUIDANCE in message.text
            kind = habit.custom_type if blocks else None
            parent = f"e{kept - 1}" if kept else None
            host.add(Entry(id=f"e{kept}", parent_id=parent, kind="message", custom_type=kind, message=message))
            kept += 1
        await session.settled()
    written = "\n".join(backend.retained)
    assert injected or all(map(is_contaminated, facts))
    assert "and now?" in written
    assert MARK not in written
    assert GUIDANCE not in written


class Weighed(InMemoryBackend):
    """Counts the bytes that a server would be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = 0

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        self.sent += len(recall_body(query))
        return await super().recall(bank, query)

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.sent += len(retain_body(item, operation_id))
        return await super().retain(bank, item, operation_id=operation_id)


async def test_fifty_turns_cost_fifty_times_one_turn() -> None:
    backend, host = Weighed(), InProcessHost()
    session = Session(
        host=host, backend=backend, config=MemoryConfig(project_bank="p"), project=PROJECT, identity=IDENTITY
    )
    history: list[Message] = []
    sent: list[int] = []
    shown: list[int] = []
    for turn in range(50):
        before = backend.sent
        history.append(said("user", f"Step {turn:02}: the lock is taken, the segment rotated. " * 4))
        shown.append(len((await session.context(history)).text))
        history.append(said("assistant", f"Step {turn:02} is done and tested. " * 4))
        for place, message in enumerate(history[-2:], start=2 * turn):
            parent = f"e{place - 1}" if place else None
            host.add(Entry(id=f"e{place}", parent_id=parent, kind="message", message=message))
        await session.settled()
        sent.append(backend.sent - before)
    assert max(sent[1:]) <= 1.02 * min(sent[1:])
    assert sum(sent) <= 50 * max(sent)
    assert max(shown) <= 4 * RecallConfig().max_tokens + 1000
