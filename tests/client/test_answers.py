import json
from typing import Any

import pytest

from hindbrain.client._answers import (
    is_own_refusal,
    read_deleted,
    read_operation,
    read_recall,
    read_retained,
)
from hindbrain.contracts import (
    Deleted,
    Fact,
    FactType,
    Operation,
    OperationStatus,
    RecallQuery,
    Retained,
    Scores,
    TagsMatch,
)

OPERATION = "2de40b13-52e9-41d7-877e-8d3fc4a21637"
ANY = RecallQuery(text="lint")


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_an_acknowledgement_is_read() -> None:
    body = {"success": True, "async": True, "operation_id": "op-1", "operation_ids": ["op-1"], "items_count": 1}

    assert read_retained(encoded({**body, "usage": {"total_tokens": 9}, "newer": 1})) == Retained(
        operation_id="op-1", operation_ids=("op-1",), items=1, tokens=9, status=OperationStatus.PENDING
    )


def test_the_first_of_several_operations_stands_where_none_is_named() -> None:
    body = {"async": True, "operation_id": None, "operation_ids": [7, "op-2", "op-3"]}

    assert read_retained(encoded(body)).operation_id == "op-2"


@pytest.mark.req("S2-retain-006")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"async": True},
        {"async": False, "operation_id": "op-1"},
        {"async": 1, "operation_id": "op-1"},
        {"async": "true", "operation_id": "op-1"},
        {"operation_id": "op-1"},
        {"async": True, "operation_id": 7},
        {"async": True, "operation_id": ""},
        {"async": True, "operation_id": "op\n1"},
        {"async": True, "operation_id": "x" * 201},
        {"async": True, "operation_id": "op-1", "success": False},
        {"async": True, "operation_id": "op-1", "success": None},
        {"async": True, "operation_ids": "op-1"},
    ],
)
def test_an_answer_without_an_accepted_operation_is_no_acknowledgement(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (it has no text on purpose)
        read_retained(encoded(body))


@pytest.mark.parametrize("status", list(OperationStatus))
def test_each_status_is_read(status: OperationStatus) -> None:
    body = {"status": status.value, "operation_id": "another", "result_metadata": {"unit_ids_count": 2}}

    assert read_operation(encoded(body), OPERATION) == Operation(operation_id=OPERATION, status=status, facts=2)


@pytest.mark.parametrize("metadata", [None, [], {}, {"unit_ids_count": True}, {"unit_ids_count": -1}])
def test_facts_that_are_not_told_are_none(metadata: Any) -> None:
    assert read_operation(encoded({"status": "completed", "result_metadata": metadata}), OPERATION).facts is None


@pytest.mark.parametrize("status", [None, "", "done", "COMPLETED", 1, ["completed"]])
def test_an_unknown_status_is_no_answer(status: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (it has no text on purpose)
        read_operation(encoded({"status": status}), OPERATION)


def test_a_fact_is_read_whole() -> None:
    raw = {
        "id": "f1",
        "text": "Atlas lint runs ruff.",
        "type": "observation",
        "document_id": "d",
        "context": "",
        "tags": ["a"],
        "metadata": {"k": "v"},
        "mentioned_at": "2026-11-30T21:18:37Z",
        "occurred_start": "2026-11-30T21:18:37Z",
        "occurred_end": "2026-11-30T21:18:38Z",
        "chunk_id": "c",
        "source_fact_ids": ["f0"],
        "scores": {"final": 1.1, "reranker": None, "semantic": 0.3, "keyword": 0},
        "attachments": None,
    }

    found = read_recall(encoded({"results": [raw], "source_facts": {"f0": {"id": "f0", "text": "s"}, "x": 1}}), ANY)

    assert found.facts == (
        Fact(
            id="f1",
            text="Atlas lint runs ruff.",
            type=FactType.OBSERVATION,
            document_id="d",
            context="",
            tags=("a",),
            metadata={"k": "v"},
            mentioned_at="2026-11-30T21:18:37Z",
            occurred_start="2026-11-30T21:18:37Z",
            occurred_end="2026-11-30T21:18:38Z",
            chunk_id="c",
            source_fact_ids=("f0",),
            scores=Scores(final=1.1, semantic=0.3, keyword=0.0),
        ),
    )
    assert found.source_facts == {"f0": Fact(id="f0", text="s")}


def test_fields_of_a_wrong_type_are_as_if_absent() -> None:
    raw = {
        "id": "f1",
        "text": "t",
        "type": "opinion",
        "document_id": 7,
        "context": [],
        "tags": ["a", 1, None],
        "metadata": {"k": "v", "n": 1},
        "mentioned_at": True,
        "source_fact_ids": "f0",
        "scores": [1],
    }

    assert read_recall(encoded({"results": [raw]}), ANY).facts == (
        Fact(id="f1", text="t", tags=("a",), metadata={"k": "v"}),
    )


@pytest.mark.parametrize("raw", [None, 7, "f", [], {}, {"id": "f"}, {"id": 1, "text": "t"}, {"id": "f", "text": " \n"}])
def test_a_malformed_result_drops_only_itself(raw: Any) -> None:
    found = read_recall(encoded({"results": [raw, {"id": "f1", "text": "t"}]}), ANY)

    assert [fact.id for fact in found.facts] == ["f1"]


@pytest.mark.req("S2-tests-004")
def test_results_and_sources_outside_the_filter_are_dropped() -> None:
    query = RecallQuery(text="lint", tags=("p", "q"), tags_match=TagsMatch.ALL_STRICT)
    inside = {"id": "in", "text": "t", "tags": ["q", "p", "r"]}
    strays = [{"id": f"s{i}", "text": "t", "tags": tags} for i, tags in enumerate((["p"], ["P", "q"], [], None, "p q"))]

    found = read_recall(encoded({"results": [*strays, inside], "source_facts": {"a": strays[0], "b": inside}}), query)

    assert [fact.id for fact in found.facts] == ["in"]
    assert list(found.source_facts) == ["b"]


@pytest.mark.parametrize("results", [None, {}, "x", 7, True])
def test_results_that_are_no_list_are_no_answer(results: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (it has no text on purpose)
        read_recall(encoded({"results": results}), ANY)


@pytest.mark.parametrize(
    ("body", "facts"),
    [
        (b"", 0),
        (b" \r\n", 0),
        (b"{}", 0),
        (b'{"memory_units_deleted": 3}', 3),
        (b'{"memory_units_deleted": true}', 0),
        (b'{"memory_units_deleted": "3"}', 0),
        (b'{"memory_units_deleted": 1e999}', 0),
        (b'{"memory_units_deleted": -1}', 0),
    ],
)
def test_a_delete_counts_what_is_a_count(body: bytes, facts: int) -> None:
    assert read_deleted(body) == Deleted(found=True, facts=facts)


@pytest.mark.parametrize("body", [b"[]", b"<html>", b'{"success": false}', b'{"memory_units_deleted": NaN}'])
def test_a_delete_that_is_not_the_apis_answer_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (its text is never used)
        read_deleted(body)


@pytest.mark.parametrize(
    ("body", "own"),
    [
        (b'{"detail": "Document not found"}', True),
        (b'{"detail": "Bank \'x\' not found"}', True),
        (b'{"detail": "Not Found"}', False),
        (b'{"detail": ["x"]}', False),
        (b'{"error": "x"}', False),
        (b"<html>not found</html>", False),
        (b"", False),
        (b"[1]", False),
    ],
)
def test_a_404_is_the_apis_own_only_if_it_names_a_record(body: bytes, own: bool) -> None:
    assert is_own_refusal(body) is own
