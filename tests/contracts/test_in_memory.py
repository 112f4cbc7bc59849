from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from hindbrain.contracts import (
    Backend,
    BackendRequestError,
    FactType,
    MinScores,
    OperationStatus,
    Recall,
    RecallQuery,
    RetainItem,
)
from hindbrain.contracts.in_memory import InMemoryBackend

RAW = (FactType.WORLD,)


def operation_id(number: int) -> str:
    return str(UUID(int=number))


class Memory:
    """A backend with shorter words: each retain under a new operation id, in one bank."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.count = 0

    async def retain(self, content: str, document_id: str = "doc", **fields: Any) -> None:
        self.count += 1
        item = RetainItem(content=content, document_id=document_id, **fields)
        await self.backend.retain("bank", item, operation_id=operation_id(self.count))

    async def recall(self, text: str, **fields: Any) -> Recall:
        return await self.backend.recall("bank", RecallQuery(text=text, **fields))

    async def texts(self, text: str, **fields: Any) -> list[str]:
        return [fact.text for fact in (await self.recall(text, **fields)).facts]


@pytest.fixture
def memory() -> Memory:
    return Memory(InMemoryBackend())


async def test_a_retain_is_completed_when_it_returns_and_counts_its_facts(memory: Memory) -> None:
    await memory.retain("One is here. Two is there.")
    operation = await memory.backend.status("bank", operation_id(1))
    assert (operation.status, operation.facts) == (OperationStatus.COMPLETED, 2)


async def test_one_observation_stands_for_all_facts_of_the_same_text_and_tags(memory: Memory) -> None:
    for number in range(3):
        await memory.retain("The build uses uv.", f"doc-{number}", tags=["a"])
    await memory.retain("The build uses uv.", "doc-3", tags=["b"])
    facts = (await memory.recall("build")).facts
    assert sorted((fact.tags, len(fact.source_fact_ids)) for fact in facts) == [(("a",), 3), (("b",), 1)]


async def test_an_observation_with_another_source_outlives_the_delete_of_one(memory: Memory) -> None:
    await memory.retain("The build uses uv.", "one")
    await memory.retain("The build uses uv.", "two")
    assert (await memory.backend.delete("bank", "one")).facts == 1
    [fact] = (await memory.recall("build")).facts
    assert len(fact.source_fact_ids) == 1


async def test_scopes_decide_the_tags_of_observations_and_not_of_facts(memory: Memory) -> None:
    await memory.retain("The build uses uv.", tags=["a", "b"], observation_scopes="per_tag")
    assert [fact.tags for fact in (await memory.recall("build")).facts] == [("a",), ("b",)]
    assert [fact.tags for fact in (await memory.recall("build", types=RAW)).facts] == [("a", "b")]


async def test_without_a_clock_a_text_without_a_time_has_none(memory: Memory) -> None:
    await memory.retain("The build uses uv.")
    assert (await memory.recall("build")).facts[0].mentioned_at is None


async def test_a_clock_gives_a_time_to_a_text_that_brings_none() -> None:
    memory = Memory(InMemoryBackend(now=lambda: datetime(2026, 3, 1, 10, tzinfo=UTC)))
    await memory.retain("The build uses uv.")
    await memory.retain("The build uses ruff.", "two", timestamp="2025-01-01T00:00:00Z")
    times = {fact.text: fact.mentioned_at for fact in (await memory.recall("build")).facts}
    assert times == {
        "The build uses uv.": "2026-03-01T10:00:00+00:00",
        "The build uses ruff.": "2025-01-01T00:00:00Z",
    }


async def test_the_score_is_the_share_of_the_questions_words(memory: Memory) -> None:
    await memory.retain("The build uses uv. The tests use pytest.")
    facts = (await memory.recall("build uv")).facts
    assert [(fact.text, fact.scores.final) for fact in facts] == [("The build uses uv.", 1.0)]
    assert (await memory.recall("build speed")).facts[0].scores.keyword == 0.5


@pytest.mark.parametrize("floor", [MinScores(final=0.6), MinScores(keyword=0.6)])
async def test_a_floor_keeps_out_what_scores_less(memory: Memory, floor: MinScores) -> None:
    await memory.retain("The build uses uv.")
    assert await memory.texts("build speed", min_scores=MinScores()) == ["The build uses uv."]
    assert await memory.texts("build speed", min_scores=floor) == []


async def test_with_observations_preferred_their_facts_are_left_out(memory: Memory) -> None:
    await memory.retain("The build uses uv.")
    assert len((await memory.recall("build", types=None)).facts) == 2
    facts = (await memory.recall("build", types=None, prefer_observations=True)).facts
    assert [fact.type for fact in facts] == [FactType.OBSERVATION]


async def test_a_bound_cuts_at_four_characters_a_token_but_never_to_nothing(memory: Memory) -> None:
    await memory.retain("Build one is it.\nBuild two is it.\nBuild six is it.")
    assert len(await memory.texts("build", max_tokens=8)) == 2
    assert len(await memory.texts("build", max_tokens=1)) == 1


async def test_source_facts_are_bounded_and_come_once(memory: Memory) -> None:
    await memory.retain("Build one is it.\nBuild two is it.", tags=["a", "b"], observation_scopes="per_tag")
    assert len((await memory.recall("build", source_fact_tokens=4096)).source_facts) == 2
    assert len((await memory.recall("build", source_fact_tokens=1)).source_facts) == 1


async def test_the_same_text_keeps_its_fact_ids(memory: Memory) -> None:
    await memory.retain("The build uses uv.")
    before = [fact.id for fact in (await memory.recall("build", types=None)).facts]
    await memory.retain("The build uses uv.")
    assert [fact.id for fact in (await memory.recall("build", types=None)).facts] == before


async def test_an_unknown_bank_is_not_made_by_asking(memory: Memory) -> None:
    assert await memory.recall("build") == Recall()
    assert (await memory.backend.status("bank", operation_id(1))).status is OperationStatus.NOT_FOUND
    assert not (await memory.backend.delete("bank", "doc")).found


async def test_a_refused_id_changes_nothing(memory: Memory) -> None:
    with pytest.raises(BackendRequestError, match="operation id"):
        await memory.backend.retain("bank", RetainItem(content="x", document_id="d"), operation_id="nope")
    assert await memory.recall("x", types=None) == Recall()
