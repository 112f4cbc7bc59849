import json
from typing import Any

import pytest

from hindbrain.client import TooLargeError, UnsendableError
from hindbrain.client._bodies import MAX_REQUEST, group_json, recall_body, retain_body
from hindbrain.contracts import (
    BackendRequestError,
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
    UpdateMode,
)
from hindbrain.contracts.testing import planted_secrets

OPERATION = "2de40b13-52e9-41d7-877e-8d3fc4a21637"


@pytest.mark.req("S2-tests-002", "S2-retain-006")
def test_a_retain_sends_one_item_asynchronously_under_the_callers_id() -> None:
    item = RetainItem(
        content="Use uv.",
        document_id="psc-1",
        context="pi-smart-compact confirmed project memory (decision)",
        tags=("psc-project:p", "psc-kind:decision"),
        metadata={"source": "pi-smart-compact", "revision": "r1"},
    )

    body = retain_body(item, OPERATION)

    assert list(json.loads(body).items()) == [
        (
            "items",
            [
                {
                    "content": "Use uv.",
                    "document_id": "psc-1",
                    "context": "pi-smart-compact confirmed project memory (decision)",
                    "tags": ["psc-project:p", "psc-kind:decision"],
                    "metadata": {"source": "pi-smart-compact", "revision": "r1"},
                    "update_mode": "replace",
                }
            ],
        ),
        ("async", True),
        ("operation_id", OPERATION),
    ]


def test_a_bare_item_sends_only_what_is_set() -> None:
    body = json.loads(retain_body(RetainItem(content="é", document_id="d"), OPERATION))

    assert body["items"] == [{"content": "é", "document_id": "d", "update_mode": "replace"}]


@pytest.mark.req("S0-retain-006")
def test_time_scopes_strategy_and_append_are_passed_on() -> None:
    item = RetainItem(
        content="x",
        document_id="d",
        update_mode=UpdateMode.APPEND,
        timestamp="2026-03-01T10:00:00Z",
        observation_scopes=(("a", "b"), ("c",)),
        strategy="s1",
    )
    worded = RetainItem(content="x", document_id="d", observation_scopes="combined")

    sent = json.loads(retain_body(item, OPERATION))["items"][0]
    assert sent["update_mode"] == "append"
    assert sent["timestamp"] == "2026-03-01T10:00:00Z"
    assert sent["observation_scopes"] == [["a", "b"], ["c"]]
    assert sent["strategy"] == "s1"
    assert json.loads(retain_body(worded, OPERATION))["items"][0]["observation_scopes"] == "combined"


@pytest.mark.req("S2-tests-002")
def test_a_recall_of_confirmed_facts_asks_for_nothing_beyond_them() -> None:
    query = RecallQuery(
        text="lint", tags=("psc-project:p",), tags_match=TagsMatch.ALL_STRICT, budget=Budget.LOW, max_tokens=2048
    )

    assert json.loads(recall_body(query)) == {
        "query": "lint",
        "types": ["observation"],
        "budget": "low",
        "max_tokens": 2048,
        "tags": ["psc-project:p"],
        "tags_match": "all_strict",
        "include": {"entities": None},
    }


def test_a_recall_without_filter_sends_no_match_mode() -> None:
    body = json.loads(recall_body(RecallQuery(text="lint", types=None)))

    assert body == {"query": "lint", "budget": "mid", "max_tokens": 4096, "include": {"entities": None}}


def test_everything_that_is_set_is_sent() -> None:
    query = RecallQuery(
        text="lint",
        types=(FactType.WORLD, FactType.EXPERIENCE),
        source_fact_tokens=500,
        prefer_observations=False,
        timestamp="2026-03-01T10:00:00Z",
        min_scores=MinScores(semantic=0.3, final=0),
        tag_groups=(TagLeaf(("a",)),),
    )

    body = json.loads(recall_body(query))

    assert body["types"] == ["world", "experience"]
    assert body["include"] == {"entities": None, "source_facts": {"max_tokens": 500}}
    assert body["prefer_observations"] is False
    assert body["query_timestamp"] == "2026-03-01T10:00:00Z"
    assert body["min_scores"] == {"semantic": 0.3, "final": 0}
    assert body["tag_groups"] == [{"tags": ["a"], "match": "any_strict"}]
    assert "tags" not in body
    assert "tags_match" not in body


@pytest.mark.req("S2-tests-004")
@pytest.mark.parametrize("match", [m for m in TagsMatch if m is not TagsMatch.EXACT])
def test_an_empty_tag_list_is_refused_before_a_body_exists(match: TagsMatch) -> None:
    with pytest.raises(BackendRequestError):
        RecallQuery(text="lint", tags=(), tags_match=match)


def test_untagged_only_is_asked_for_without_an_empty_list() -> None:
    body = json.loads(recall_body(RecallQuery(text="lint", tags=(), tags_match=TagsMatch.EXACT)))

    assert body["tags_match"] == "exact"
    assert "tags" not in body


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (TagLeaf(("a", "b"), TagsMatch.ALL_STRICT), {"tags": ["a", "b"], "match": "all_strict"}),
        (TagAnd((TagLeaf(("a",)), TagLeaf(("b",)))), {"and": [{"tags": ["a"], "match": "any_strict"}] * 1}),
        (TagOr((TagLeaf(("a",)),)), {"or": [{"tags": ["a"], "match": "any_strict"}]}),
        (TagNot(TagLeaf(("a",), TagsMatch.ANY)), {"not": {"tags": ["a"], "match": "any"}}),
    ],
)
def test_a_tag_group_becomes_the_servers_json(group: TagGroup, expected: dict[str, Any]) -> None:
    found = group_json(group)

    if isinstance(group, TagAnd):
        expected = {"and": [*expected["and"], {"tags": ["b"], "match": "any_strict"}]}
    assert found == expected
    assert "resolve" not in json.dumps(found)


def test_half_a_surrogate_pair_is_refused_without_a_trace_of_the_text() -> None:
    item = RetainItem(content="private words", document_id="d", strategy="\ud800")

    with pytest.raises(UnsendableError) as caught:
        retain_body(item, OPERATION)
    assert caught.value.__context__ is None
    assert "private" not in str(caught.value)


def test_a_request_over_the_bound_is_refused() -> None:
    with pytest.raises(TooLargeError, match=str(MAX_REQUEST)):
        retain_body(RetainItem(content="x" * MAX_REQUEST, document_id="d"), OPERATION)


def test_no_planted_secret_stands_in_a_body() -> None:
    planted = planted_secrets()
    text = "\n".join(secret.text for secret in planted)
    item = RetainItem(content=text, document_id="d", context=text, metadata={"note": text})
    sent = retain_body(item, OPERATION) + recall_body(RecallQuery(text=text))
    assert b"worked" in sent
    assert [s.family for s in planted if s.core.encode() in sent] == []


def test_texts_that_were_scrubbed_before_can_go_as_they_are() -> None:
    secret = planted_secrets()[0]
    item = RetainItem(content=secret.text, document_id="d")
    assert secret.core.encode() in retain_body(item, OPERATION, clean=str)
