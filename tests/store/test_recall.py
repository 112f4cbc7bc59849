"""What a recall finds: filters that are complete, bounds that hold, questions of any kind."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
import uuid
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.contracts import (
    Budget,
    FactType,
    MinScores,
    RecallQuery,
    RetainItem,
    TagAnd,
    TagGroup,
    TagLeaf,
    TagNot,
    TagOr,
    TagsMatch,
    groups_match,
)
from hindbrain.store import EmbeddedBackend, EmbeddedConfig
from hindbrain.store._schema import migrate
from hindbrain.store._terms import choose, similar
from hindbrain.store._write import _add_terms

if TYPE_CHECKING:
    from store.conftest import Ask, Keep


def turns(*said: str) -> str:
    return json.dumps([{"role": ("user", "assistant")[n % 2], "id": f"e{n}", "content": t} for n, t in enumerate(said)])


async def test_a_default_recall_tells_who_said_it_and_where(keep: Keep, ask: Ask) -> None:
    await keep(turns("Should the lamp stay lit?", "Yes, until dawn."), metadata={"host": "pi"})
    fact = (await ask("lamp lit")).facts[0]
    assert fact.type is FactType.OBSERVATION
    assert fact.text == "Should the lamp stay lit?"
    assert fact.metadata == {"host": "pi", "role": "user", "entry": "e0"}


async def test_the_answer_beside_a_question_is_found_with_it(keep: Keep, ask: Ask) -> None:
    await keep(turns("Which port does the proxy use?", "8443.", "Thanks.", "The end of it.", "Now sleep."))
    found = [fact.text for fact in (await ask("proxy port")).facts]
    assert found[:2] == ["Which port does the proxy use?", "8443."]
    assert "Now sleep." not in found


async def test_one_observation_stands_for_facts_that_say_the_same_under_the_same_tags(keep: Keep, ask: Ask) -> None:
    for document, tag in (("a", "t:1"), ("b", "t:1"), ("c", "t:2")):
        await keep("The ferry is green.", document_id=document, tags=(tag,))
    recall = await ask("ferry", source_fact_tokens=1000)
    assert sorted((fact.tags, len(fact.source_fact_ids)) for fact in recall.facts) == [(("t:1",), 2), (("t:2",), 1)]
    assert {fact.document_id for fact in recall.source_facts.values()} == {"a", "b", "c"}


async def test_an_observation_stays_while_another_document_says_the_same(
    backend: EmbeddedBackend, keep: Keep, ask: Ask
) -> None:
    await keep("The ferry is green.", document_id="a")
    await keep("The ferry is green.", document_id="b")
    await backend.delete("bank", "a")
    assert len((await ask("ferry")).facts[0].source_fact_ids) == 1
    await backend.delete("bank", "b")
    assert not (await ask("ferry")).facts


async def test_preferring_observations_leaves_out_the_facts_they_rest_on(keep: Keep, ask: Ask) -> None:
    await keep("The ferry is green.")
    assert len((await ask("ferry", types=None)).facts) == 2
    kinds = [fact.type for fact in (await ask("ferry", types=None, prefer_observations=True)).facts]
    assert kinds == [FactType.OBSERVATION]


async def test_source_facts_stay_within_their_bound(keep: Keep, ask: Ask) -> None:
    for n in range(6):
        await keep(f"The ferry carries crate number {n} to the far harbour.", document_id=f"d{n}")
    recall = await ask("ferry crate", source_fact_tokens=25)
    assert 0 < len(recall.source_facts) < len(recall.facts)


async def test_score_floors_hold(keep: Keep, ask: Ask) -> None:
    await keep("The ferry is green.", document_id="a")
    await keep("The ferry leaves the harbour at dawn.", document_id="b")
    best = (await ask("ferry harbour dawn")).facts[0].scores
    assert best.final is not None
    for floors in (MinScores(final=best.final), MinScores(keyword=best.keyword)):
        assert len((await ask("ferry harbour dawn", min_scores=floors)).facts) == 1


@pytest.mark.parametrize("crowd", [30, 900])
async def test_a_strict_filter_finds_the_few_among_many(root: Path, crowd: int) -> None:
    """The asked words are common in the bank and cut by the postings budget; the few that pass still come."""
    backend = EmbeddedBackend(root, config=EmbeddedConfig(postings=10))
    await _retain(backend, "crowd", [f"The harbour keeps ledger rare{n}." for n in range(crowd)], ("project:big",))
    await _retain(backend, "few", ["Our harbour ledger is red."], ("project:small",))
    query = RecallQuery(text="harbour ledger rare3", tags=("project:small",))
    assert [fact.text for fact in (await backend.recall("bank", query)).facts] == ["Our harbour ledger is red."]
    await backend.close()


async def test_a_wide_filter_finds_by_the_words_the_budget_left_out(root: Path) -> None:
    backend = EmbeddedBackend(root, config=EmbeddedConfig(postings=10))
    await _retain(backend, "crowd", [f"The harbour keeps ledger {'rareword' if n < 5 else n}." for n in range(700)], ())
    await _retain(backend, "wide", [f"Our harbour ledger {n}." for n in range(600)], ("project:wide",))
    query = RecallQuery(text="harbour ledger rareword", tags=("project:wide",))
    assert (await backend.recall("bank", query)).facts
    await backend.close()


async def test_one_word_that_everything_holds_brings_the_newest(root: Path) -> None:
    backend = EmbeddedBackend(root, config=EmbeddedConfig(postings=10))
    await _retain(backend, "all", [f"The harbour, day {n}." for n in range(300)], ())
    query = RecallQuery(text="harbour", budget=Budget.LOW, max_tokens=50)
    found = [int(fact.text[17:-1]) for fact in (await backend.recall("bank", query)).facts]
    assert found
    assert all(day >= 200 for day in found)
    await backend.close()


async def _retain(backend: EmbeddedBackend, document: str, texts: list[str], tags: tuple[str, ...]) -> None:
    item = RetainItem(content=turns(*texts), document_id=document, tags=tags)
    await backend.retain("bank", item, operation_id=str(uuid.uuid4()))


async def test_an_untagged_fact_passes_the_modes_that_let_it(keep: Keep, ask: Ask) -> None:
    await keep("The harbour is open.")
    for mode, found in ((TagsMatch.ANY, 1), (TagsMatch.ANY_STRICT, 0)):
        assert len((await ask("harbour", tags=("a",), tags_match=mode)).facts) == found


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("Set minimumContrastRatio to 1.", "contrastRatio"),
        ("TruncatedText stops early.", "TruncatedTxt"),
        ("see packages/tui/test/markdown.test.ts", "markdown test"),
        ("灯塔在海边。", "海边"),
        ("ラーメンが好き", "ラーメン"),
        ("Überraschung am Fluß", "uberraschung"),
        ("to be or not to be", "to be or not to be"),
        ("𞤀𞤁𞤂 word", "𞤀𞤁𞤂"),
    ],
)
async def test_identifiers_typos_and_scripts_are_found(keep: Keep, ask: Ask, said: str, question: str) -> None:
    await keep(said)
    await keep("Something else entirely.", document_id="other")
    assert (await ask(question)).facts[0].text == said


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(codec=None), max_size=200))
def test_any_question_is_answered(tmp_path: Path, text: str) -> None:
    async def ask() -> None:
        backend = EmbeddedBackend(tmp_path / "banks")
        assert len((await backend.recall("bank", RecallQuery(text=text))).facts) <= 1  # the folder is kept over texts
        await _retain(backend, "doc", ["The tide turns."], ())
        found = await backend.recall("bank", RecallQuery(text=text))
        assert {fact.text for fact in found.facts} <= {"The tide turns."}
        await backend.close()

    asyncio.run(ask())


@pytest.mark.parametrize("odd", ["\x00", "\ud800", "a\x00b\udfff", "\U0010ffff", "﷽" * 400])
async def test_odd_characters_are_stored_and_asked_safely(keep: Keep, ask: Ask, odd: str) -> None:
    await keep(f"The tide {odd} turns.", context=odd, metadata={"k": odd})
    assert (await ask(f"tide {odd}")).facts


async def test_a_long_automatic_query_is_cut_to_its_rarest_words(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "x", isolation_level=None)
    migrate(connection)
    _add_terms(connection, Counter({f"w{n}": n for n in range(1, 400)}))
    chosen = choose(connection, " ".join(f"w{n}" for n in range(1, 400)), total=1000, postings=100)
    assert chosen.first == tuple(f"w{n}" for n in range(1, 14))
    assert sum(range(1, 14)) <= 100
    assert len(chosen.rest) == 399 - 13
    connection.close()


async def test_words_of_similar_shape_share_letters(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "x", isolation_level=None)
    migrate(connection)
    _add_terms(connection, Counter({"truncatedtext": 1, "mdlinkurl": 1, "banana": 1}))
    assert similar(connection, "truncatedtxt") == ["truncatedtext"]
    assert similar(connection, "linkurl") == ["mdlinkurl"]
    assert similar(connection, "xylophone") == []
    connection.close()


async def test_a_text_without_a_time_was_said_now(root: Path) -> None:
    now = datetime(2026, 3, 1, 10, tzinfo=UTC)
    backend = EmbeddedBackend(root, clock=lambda: now)
    await _retain(backend, "doc", ["The tide turns."], ())
    assert (await backend.recall("bank", RecallQuery(text="tide"))).facts[0].mentioned_at == now.isoformat()
    assert (await backend.recall("bank", RecallQuery(text="sunday in march"))).facts, "the day can be asked for"
    await backend.close()


TAGS = st.lists(st.sampled_from("abc"), max_size=3, unique=True).map(tuple)
LEAVES = st.builds(TagLeaf, st.lists(st.sampled_from("abc"), min_size=1, max_size=3), st.sampled_from(TagsMatch))
GROUPS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(TagAnd, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(TagOr, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(TagNot, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tags=st.lists(TAGS, min_size=1, max_size=6), groups=st.lists(GROUPS, min_size=1, max_size=2).map(tuple))
def test_a_filter_lets_through_exactly_what_the_evaluator_does(
    tags: list[tuple[str, ...]], groups: tuple[TagGroup, ...]
) -> None:
    async def found(folder: Path, types: tuple[FactType, ...]) -> set[int]:
        backend = EmbeddedBackend(folder)
        for n, own in enumerate(tags):
            await _retain(backend, f"d{n}", [f"Harbour number {n}."], own)
        recall = await backend.recall("bank", RecallQuery(text="harbour", tag_groups=groups, types=types))
        await backend.close()
        return {int(fact.text[15:-1]) for fact in recall.facts}

    expected = {n for n, own in enumerate(tags) if groups_match(groups, own)}
    for types in ((FactType.OBSERVATION,), (FactType.WORLD,), (FactType.WORLD, FactType.OBSERVATION)):
        with tempfile.TemporaryDirectory() as folder:
            assert asyncio.run(found(Path(folder) / "banks", types)) == expected
