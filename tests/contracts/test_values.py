from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import (
    BackendRequestError,
    Budget,
    FactType,
    MinScores,
    OperationStatus,
    RecallQuery,
    RetainItem,
    TagLeaf,
    TagsMatch,
    UpdateMode,
)


def item(**fields: Any) -> RetainItem:
    return RetainItem(**{"content": "The build uses uv.", "document_id": "doc", **fields})


def query(**fields: Any) -> RecallQuery:
    return RecallQuery(**{"text": "which build tool", **fields})


def test_an_item_replaces_and_says_nothing_more_unless_asked() -> None:
    plain = item()
    assert plain.update_mode is UpdateMode.REPLACE
    assert (plain.tags, dict(plain.metadata), plain.context, plain.timestamp) == ((), {}, None, None)
    assert (plain.observation_scopes, plain.strategy) == (None, None)


def test_a_query_asks_for_observations_of_every_tag_with_the_seed_bounds() -> None:
    plain = query()
    assert plain.types == (FactType.OBSERVATION,)
    assert (plain.tags, plain.tags_match, plain.filter) == (None, TagsMatch.ANY_STRICT, ())
    assert (plain.budget, plain.max_tokens, plain.source_fact_tokens) == (Budget.MID, 4096, None)


@pytest.mark.parametrize("status", list(OperationStatus))
def test_only_completed_failed_and_cancelled_are_terminal(status: OperationStatus) -> None:
    assert status.terminal == (status.value in {"completed", "failed", "cancelled"})


@pytest.mark.parametrize("content", ["", " ", "\n\t", "\u3000"])
def test_a_blank_content_is_refused(content: str) -> None:
    with pytest.raises(BackendRequestError, match="blank"):
        item(content=content)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", None),
        ("content", b"bytes"),
        ("document_id", ".."),
        ("context", 5),
        ("metadata", {"n": 1}),
        ("metadata", {1: "n"}),
        ("metadata", {"n": True}),
        ("metadata", None),
        ("metadata", [("a", "b")]),
        ("tags", "project:acme"),
        ("tags", [""]),
        ("tags", ["a\nb"]),
        ("tags", [7]),
        ("tags", None),
        ("update_mode", "merge"),
        ("update_mode", None),
        ("timestamp", "yesterday"),
        ("timestamp", ""),
        ("timestamp", "2026-03-01T10:00:00"),
        ("timestamp", "0001-01-01T00:00:00Z"),
        ("timestamp", "9999-12-31T00:00:00Z"),
        ("timestamp", 1_772_000_000),
        ("observation_scopes", "everything"),
        ("observation_scopes", ""),
        ("observation_scopes", []),
        ("observation_scopes", [[]]),
        ("observation_scopes", [["a"], []]),
        ("observation_scopes", ["a"]),
        ("strategy", " "),
        ("strategy", 5),
    ],
)
def test_a_field_of_an_item_without_its_form_is_refused(field: str, value: Any) -> None:
    with pytest.raises(BackendRequestError, match="refused"):
        item(**{field: value})


@pytest.mark.parametrize("timestamp", ["2026-03-01T10:00:00Z", "2026-03-01T10:00:00.25+02:00", "20260301T100000+0000"])
def test_a_time_is_iso_8601_with_a_zone_and_stays_as_it_was_written(timestamp: str) -> None:
    assert item(timestamp=timestamp).timestamp == timestamp
    assert query(timestamp=timestamp).timestamp == timestamp


@pytest.mark.parametrize("scopes", ["per_tag", "combined", "all_combinations", "shared"])
def test_the_words_of_the_server_are_scopes(scopes: str) -> None:
    assert item(observation_scopes=scopes).observation_scopes == scopes


def test_rows_of_tags_are_scopes_and_are_kept_as_tuples() -> None:
    assert item(observation_scopes=[["a", "a"], ["user:*"]]).observation_scopes == (("a",), ("user:*",))


def test_repeated_tags_of_an_item_are_kept_once() -> None:
    assert item(tags=["b", "a", "b"]).tags == ("b", "a")


def test_an_item_does_not_follow_later_changes_of_the_callers_metadata() -> None:
    metadata = {"a": "1"}
    kept = item(metadata=metadata)
    metadata["a"] = "2"
    assert dict(kept.metadata) == {"a": "1"}


def test_neither_content_nor_question_is_shown_by_repr() -> None:
    assert "hunter2" not in repr(item(content="hunter2", context="hunter2", metadata={"hunter2": "hunter2"}))
    assert "hunter2" not in repr(query(text="hunter2"))


@given(st.text(st.characters(codec=None, categories=["L", "Cs", "Nd", "So"]), min_size=1))
def test_whatever_text_is_given_can_be_written_as_utf_8(text: str) -> None:
    kept = item(content=f"x{text}", context=text, metadata={text: text})
    for written in (kept.content, kept.context, *kept.metadata, query(text=text).text):
        assert written is not None
        written.encode()


def test_a_lone_surrogate_becomes_a_replacement_and_a_pair_becomes_its_character() -> None:
    assert item(content="a\ud83db").content == "a\ufffdb"
    assert item(content="a\ud83d").content == "a\ufffd"
    assert item(content="\ud83d\ude00").content == "\U0001f600"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", None),
        ("tags", "project:acme"),
        ("tags", [None]),
        ("tags", []),
        ("tags_match", "some"),
        ("tag_groups", ["a"]),
        ("types", "observation"),
        ("types", ["opinion"]),
        ("types", []),
        ("budget", "huge"),
        ("max_tokens", 0),
        ("max_tokens", -1),
        ("max_tokens", True),
        ("max_tokens", 4096.0),
        ("max_tokens", "4096"),
        ("max_tokens", None),
        ("source_fact_tokens", 0),
        ("source_fact_tokens", False),
        ("source_fact_tokens", float("nan")),
        ("timestamp", "soon"),
    ],
)
def test_a_field_of_a_query_without_its_form_is_refused(field: str, value: Any) -> None:
    with pytest.raises(BackendRequestError, match="refused"):
        query(**{field: value})


@pytest.mark.parametrize("stage", ["semantic", "keyword", "reranker", "final"])
@pytest.mark.parametrize("floor", [float("nan"), float("inf"), True, "0.5"])
def test_a_floor_that_is_no_finite_number_is_refused(stage: str, floor: Any) -> None:
    with pytest.raises(BackendRequestError, match=f"min_scores.{stage} is refused"):
        MinScores(**{stage: floor})


def test_floors_may_be_whole_or_broken_numbers_or_none() -> None:
    floors = MinScores(semantic=1, keyword=0.5)
    assert (floors.semantic, floors.keyword, floors.final) == (1, 0.5, None)


def test_types_are_read_from_their_words_and_none_means_all() -> None:
    assert query(types=["world", FactType.WORLD, "experience"]).types == (FactType.WORLD, FactType.EXPERIENCE)
    assert query(types=None).types is None


def test_tags_and_groups_together_are_refused() -> None:
    with pytest.raises(BackendRequestError, match="together"):
        query(tags=["a"], tag_groups=[TagLeaf(["b"])])


def test_a_filter_is_one_form_for_tags_and_for_groups() -> None:
    assert query(tags=["a"], tags_match="all").filter == (TagLeaf(["a"], TagsMatch.ALL),)
    assert query(tag_groups=[TagLeaf(["a"])]).filter == (TagLeaf(["a"]),)
    assert query(tags=[], tags_match="exact").filter == (TagLeaf([], TagsMatch.EXACT),)


@pytest.mark.parametrize(("text", "askable"), [("a", True), ("日", True), ("?!…", False), ("", False), ("🦩", False)])
def test_a_query_can_be_asked_only_with_a_letter_or_digit(text: str, askable: bool) -> None:
    assert query(text=text).askable is askable


@given(st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - hypothesis wants naive bounds
def test_every_time_python_writes_with_a_zone_is_taken(at: datetime) -> None:
    assert item(timestamp=at.isoformat()).timestamp == at.isoformat()
