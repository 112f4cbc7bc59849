"""The quality pass between the backend's answer and the block."""

from __future__ import annotations

from typing import Any

import pytest

from hindbrain.contracts import Deleted, Fact, Message, Recall, RecallQuery, Retained, RetainItem, Scores, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import ContextPatch, InProcessHost, Layer, MemoryStatus, Session, memory_config, merge
from hindbrain.memory import Checkout, ScopeConfig, SessionIdentity, identify

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="local")


class Answering(InMemoryBackend):
    """Answers each bank with the facts it was given, and notes every call."""

    def __init__(self, **facts: tuple[Fact, ...]) -> None:
        super().__init__()
        self.facts = facts
        self.calls: list[str] = []

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        assert query.min_scores is None
        self.calls.append("recall")
        return Recall(facts=self.facts[bank])

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.calls.append("retain")
        return await super().retain(bank, item, operation_id=operation_id)

    async def delete(self, bank: str, document_id: str) -> Deleted:
        self.calls.append("delete")
        return await super().delete(bank, document_id)


def facts(*texts: str) -> tuple[Fact, ...]:
    return tuple(Fact(id=f"f{n}", text=text) for n, text in enumerate(texts))


async def recalled(backend: Answering, **values: Any) -> tuple[ContextPatch, Session]:
    banks = [{"id": bank} if bank == "p" else {"id": bank, "role": "life"} for bank in backend.facts]
    settings = merge([Layer(origin="test", values={"banks": banks, **values})])
    session = Session(
        host=InProcessHost(), backend=backend, config=memory_config(settings), project=PROJECT, identity=IDENTITY
    )
    return await session.context([Message(role="user", parts=(TextPart("what?"),))]), session


def shown(patch: ContextPatch) -> list[str]:
    return [line for line in patch.text.splitlines() if line[:1].isdigit()]


@pytest.mark.req("S0-quality-001")
async def test_what_the_backend_found_is_judged_before_it_is_shown() -> None:
    patch, _ = await recalled(Answering(p=facts("", "keep me")))
    assert shown(patch) == ["1. keep me"]


@pytest.mark.req("S0-quality-002")
async def test_a_fact_that_is_dropped_is_dropped_here_only() -> None:
    backend = Answering(p=facts("A", "a", " ", "<memory>"))
    patch, session = await recalled(backend)
    assert shown(patch) == ["1. A"]
    await session.settled()
    await session.close()
    assert backend.calls == ["recall"]


@pytest.mark.req("S0-quality-005")
async def test_a_fact_of_two_banks_is_shown_once() -> None:
    patch, _ = await recalled(Answering(p=facts("Use uv", "Tabs"), u=facts("use  uv", "Likes tea")))
    assert shown(patch) == ["1. Use uv", "2. Tabs", "3. Likes tea"]


@pytest.mark.req("S0-quality-011")
async def test_where_all_is_dropped_nothing_is_injected() -> None:
    messages = [Message(role="user", parts=(TextPart("what?"),))]
    patch, session = await recalled(Answering(p=facts(" ", "\t")))
    assert patch.text == ""
    assert session.status is MemoryStatus.EMPTY
    assert patch.apply(messages) == tuple(messages)
    assert [verdict.reasons for verdict in patch.outcome.verdicts] == [("blank-memory",)] * 2


@pytest.mark.req("S0-floors-001")
async def test_floors_and_the_most_facts_of_a_bank_come_from_the_settings() -> None:
    low, high, more = (Fact(id=str(n), text=f"fact {n}", scores=Scores(reranker=n / 10)) for n in (1, 3, 4))
    patch, _ = await recalled(Answering(p=(low, high, more)), recall={"minScores": {"reranker": 0.2}, "topK": 1})
    assert shown(patch) == ["1. fact 3"]
    assert [v.reasons for v in patch.outcome.verdicts] == [("below-score-floor",), (), ("over-top-k",)]
