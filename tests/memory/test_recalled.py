"""A stored recall read back: what is there is found, what is broken is left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Fact, FactType, Scores
from hindbrain.memory import RecallOutcome, RecallScope, judge, read_recall, recall_snapshot, render_block

SCOPE = RecallScope(kind="project", bank="proj-a", filter=())
FACTS = (
    Fact(id="m1", text="Use httpx only", type=FactType.OBSERVATION, source_fact_ids=("s1",), scores=Scores(final=0.5)),
    Fact(id="m2", text="Use pytest for tests", document_id="doc-2"),
    Fact(id="m3", text="use PYTEST  for tests"),
    Fact(id="1", text="The answer is 42"),
)
SOURCES = {"s1": Fact(id="s1", text="We said httpx", document_id="doc-1")}


def body(**more: Any) -> dict[str, Any]:
    verdicts = judge((("proj-a", fact) for fact in FACTS), top_k=8)
    outcome = RecallOutcome(block=render_block(verdicts), verdicts=verdicts, sources=SOURCES, queries={"proj-a": "q"})
    made = recall_snapshot(outcome, [SCOPE], at=1_767_323_045_000, session="s", failures=False)
    assert made is not None
    written: dict[str, Any] = json.loads(json.dumps({**made, **more}))
    return written


def test_what_was_stored_is_read_back() -> None:
    stored = read_recall(body())
    first = stored.candidates[0]
    assert (stored.at, stored.session, stored.failed) == ("2026-01-02T03:04:05.000Z", "s", 0)
    assert (first.id, first.bank, first.type, first.source_ids) == ("m1", "proj-a", "observation", ("s1",))
    assert (first.line, first.scores, first.reasons) == (1, {"final": 0.5}, ())
    assert [each.line for each in stored.candidates] == [1, 2, None, 3]
    assert stored.sources["s1"].document_id == "doc-1"


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ("m1", ["m1"]),
        (" m1 ", ["m1"]),
        ("2", ["m2"]),
        ("2.", ["m2"]),
        ("1", ["1"]),  # an id goes before a number
        ("3", ["1"]),
        ("Use httpx only", ["m1"]),
        ("1. use  HTTPX only", ["m1"]),
        ("   - evidence: We said httpx", ["s1"]),
        ("httpx", ["m1"]),  # a line that was shown goes before its source
        ("Use pytest for tests", ["m2"]),  # and before its twin that was dropped
        ("m3", ["m3"]),
        ("use ", []),
        ("Use", []),
        ("s1", ["s1"]),
        ("9", []),
        ("", []),
        ("  ", []),
        ("no such words", []),
    ],
)
def test_a_memory_is_meant_by_id_number_line_or_part_of_it(wanted: str, ids: list[str]) -> None:
    assert [each.id for each in read_recall(body()).find(wanted)] == ids


def test_words_that_fit_several_give_all_of_them() -> None:
    facts = [{"id": id_, "text": f"Use {id_} always", "line": number} for number, id_ in enumerate(("a", "b"), start=1)]
    stored = read_recall({"blocks": [{"bankId": "x", "results": facts}]})
    assert [each.id for each in stored.find("always")] == ["a", "b"]


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["createdAt", "query", "blocks", "sources", "failures", "failed", "sessionId"])
RESULT = st.sampled_from(["id", "text", "scores", "reasons", "line", "sourceFactIds", "documentId", "type"])


@given(st.dictionaries(NAMES, JUNK), st.dictionaries(RESULT, JUNK))
def test_no_file_is_too_broken_to_be_looked_at(outer: dict[str, Any], result: dict[str, Any]) -> None:
    read_recall(outer).find("something")
    read_recall({**outer, "blocks": [{"results": [result]}, result], "sources": [result]}).find("something")
