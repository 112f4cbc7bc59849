"""Which recalled facts are dropped, and why: the filters that are always on, and the floors that are set."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import WRAPPERS, Fact, MinScores, Scores
from hindbrain.memory import Verdict, judge, render_block

NO_SCORES: dict[str, float | None] = {}


def fact(text: str, id_: str = "f", /, **scores: float | None) -> Fact:
    return Fact(id=id_, text=text, scores=Scores(**scores))


def reasons(*texts: str) -> list[tuple[str, ...]]:
    return [verdict.reasons for verdict in judge([("a", fact(text)) for text in texts], top_k=99)]


def kept_under(floors: dict[str, float], scores: dict[str, float | None]) -> bool:
    (verdict,) = judge([("a", fact("Use uv.", **scores))], top_k=8, floors=MinScores(**floors))
    assert verdict.reasons == (() if verdict.kept else ("below-score-floor",))
    return verdict.kept


@pytest.mark.req("S0-quality-003")
def test_without_any_setting_blank_repeated_and_echoed_texts_are_dropped() -> None:
    assert reasons(" ", "A", "a ", "<hindsight-memory>x") == [
        ("blank-memory",),
        (),
        ("duplicate-memory",),
        ("recall-contamination",),
    ]


@pytest.mark.req("S0-quality-004")
@pytest.mark.parametrize("text", ["", " \n\t", "\u00a0\u2003\u3000", "\u200b\u2060", "\x00\x1f", "\u2028", "\ufeff"])
def test_a_text_in_which_a_reader_sees_nothing_is_blank(text: str) -> None:
    assert reasons(text) == [("blank-memory",)]


@pytest.mark.req("S0-quality-005")
@pytest.mark.parametrize("again", ["use uv", "Use  UV", "  use\nUV\t", "USE\u00a0UV", "use\u200b uv", "\u202eUse uv"])
def test_a_text_that_reads_like_one_that_was_kept_is_a_duplicate(again: str) -> None:
    assert reasons("Use  UV", again) == [(), ("duplicate-memory",)]


def test_texts_that_differ_in_a_word_or_a_mark_are_two() -> None:
    assert reasons("use uv", "use uv.", "use uv 2", "useuv") == [()] * 4


@pytest.mark.req("S0-quality-005")
def test_a_duplicate_is_one_in_whichever_bank_it_comes_again() -> None:
    verdicts = judge([("proj", fact("Use uv")), ("user", fact("use uv")), ("user", fact("Likes tabs"))], top_k=8)
    assert [(v.bank, v.reasons) for v in verdicts] == [("proj", ()), ("user", ("duplicate-memory",)), ("user", ())]


@pytest.mark.req("S0-quality-006")
def test_only_what_was_kept_makes_another_a_duplicate() -> None:
    candidates = [("a", fact("use uv", "x", reranker=0.05)), ("a", fact("use uv", "y", reranker=0.9))]
    low, high = judge(candidates, top_k=8, floors=MinScores(reranker=0.2))
    assert (low.reasons, high.reasons) == (("below-score-floor",), ())


def test_what_was_kept_out_for_its_number_makes_no_duplicate_in_the_next_bank() -> None:
    verdicts = judge([("a", fact("one")), ("a", fact("two")), ("b", fact("two"))], top_k=1)
    assert [v.reasons for v in verdicts] == [(), ("over-top-k",), ()]


@pytest.mark.req("S0-quality-007")
@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    "form",
    [
        "see <{}> Bank: x",
        "x </{}>",
        "<{} version='2'>y",
        "<{}/>",
        "< {}>",
        "\\u003c{}\\u003e",
        "<\u200b{}>",
    ],
)
def test_a_text_with_the_tag_of_a_memory_block_is_an_echo(wrapper: str, form: str) -> None:
    assert reasons(form.format(wrapper)) == [("recall-contamination",)]
    assert reasons(form.format(wrapper.upper())) == [("recall-contamination",)]


@pytest.mark.req("S0-quality-008")
@pytest.mark.parametrize("text", ["<hindsight-mental-models># Style", "so </mental_models>", "<mental_models>"])
def test_a_text_with_the_tag_of_a_mental_model_block_is_an_echo(text: str) -> None:
    assert reasons(text) == [("recall-contamination",)]


@pytest.mark.req("S0-quality-009")
@pytest.mark.parametrize(
    "text",
    [
        '{"customType":"hindsight-recall"}',
        '{"customType": "hindsight-mental-models", "data": 1}',
        '{\\"customType\\":\\"hindsight-recall\\"}',
        "path .pi/hindsight/last-recall.json",
        "see LAST-RECALL.JSON",
    ],
)
def test_a_text_with_the_marks_of_our_own_files_and_entries_is_an_echo(text: str) -> None:
    assert reasons(text) == [("recall-contamination",)]


@pytest.mark.parametrize(
    "text",
    [
        "The server's memory grows by 2 MB a day.",
        "hindsight-memory is the name of the block.",
        "use List<MemoryCache>",
        "customType is hindsight-status",
        "the file recall.json",
    ],
)
def test_a_text_that_only_speaks_of_memory_is_kept(text: str) -> None:
    assert reasons(text) == [()]


def test_the_reasons_against_a_fact_add_up() -> None:
    (verdict,) = judge(
        [("a", fact("<memory>", "gone", final=0.1))], top_k=8, floors=MinScores(final=0.2), suppressed={"gone"}
    )
    assert verdict.reasons == ("recall-contamination", "below-score-floor", "suppressed")


@pytest.mark.req("S0-floors-007")
@pytest.mark.parametrize("floors", [None, MinScores()])
def test_no_floor_stands_by_default(floors: MinScores | None) -> None:
    (verdict,) = judge([("a", fact("x", semantic=0, reranker=0, final=0, keyword=0))], top_k=8, floors=floors)
    assert verdict.kept


@pytest.mark.req("S0-floors-001", "S0-floors-009")
@pytest.mark.parametrize("field", ["semantic", "keyword", "reranker", "final"])
def test_a_score_under_its_floor_drops_and_one_that_meets_it_does_not(field: str) -> None:
    assert not kept_under({field: 0.2}, {field: 0.19})
    assert not kept_under({field: 0.2}, {field: 0.1999})
    assert kept_under({field: 0.2}, {field: 0.2})
    assert kept_under({field: 0.2}, {field: 0.21})
    assert not kept_under({field: 0.0}, {field: -0.1})


@pytest.mark.parametrize(
    ("floors", "scores", "kept"),
    [
        pytest.param({"reranker": 0.2}, NO_SCORES, True, marks=pytest.mark.req("S0-floors-010"), id="no scores"),
        pytest.param({"reranker": 0.2}, {"semantic": 0.01}, True, marks=pytest.mark.req("S0-floors-011"), id="missing"),
        pytest.param({"reranker": 0.2}, {"reranker": None}, True, marks=pytest.mark.req("S0-floors-012"), id="null"),
        pytest.param({"reranker": 0.2}, {"reranker": math.nan}, True, id="no number"),
        pytest.param(
            {"semantic": 0.3, "reranker": 0.2},
            {"semantic": 0.9, "reranker": 0.1},
            False,
            marks=pytest.mark.req("S0-floors-013"),
            id="one of two under",
        ),
        pytest.param(
            {"semantic": 0.3, "reranker": 0.2},
            {"semantic": 0.9, "reranker": 0.2},
            True,
            marks=pytest.mark.req("S0-floors-013"),
            id="both met",
        ),
        pytest.param(
            {"semantic": 0.3, "reranker": 0.2},
            {"reranker": 0.1},
            False,
            marks=pytest.mark.req("S0-floors-014"),
            id="one missing, one under",
        ),
        pytest.param(
            {"semantic": 0.3, "reranker": 0.2},
            {"semantic": 0.4},
            True,
            marks=pytest.mark.req("S0-floors-014"),
            id="one missing, one met",
        ),
    ],
)
def test_the_seeds_table_of_floors(floors: dict[str, float], scores: dict[str, float | None], kept: bool) -> None:
    assert kept_under(floors, scores) is kept


_SCORE = st.one_of(st.none(), st.floats(-2, 2))
_FOUR = st.fixed_dictionaries(dict.fromkeys(("semantic", "keyword", "reranker", "final"), _SCORE))


@given(_FOUR, _FOUR)
def test_every_pair_of_scores_and_floors_follows_the_table(
    floors: dict[str, float | None], scores: dict[str, float | None]
) -> None:
    (verdict,) = judge([("a", fact("x", **scores))], top_k=1, floors=MinScores(**floors))
    under = [n for n, low in floors.items() if low is not None and (s := scores[n]) is not None and s < low]
    assert verdict.kept is (under == [])


def test_the_most_facts_of_a_bank_are_counted_after_the_others_were_dropped() -> None:
    texts = ["", "one", "one", "two", "three"]
    verdicts = judge([(bank, fact(f"{t}{bank if t else ''}")) for bank in "ab" for t in texts], top_k=2)
    assert [v.kept for v in verdicts] == [False, True, False, True, False] * 2


@given(st.lists(st.text(alphabet="aA \n\u200b<>/memory", max_size=12), max_size=12))
def test_what_is_kept_is_never_blank_nor_said_twice(texts: list[str]) -> None:
    verdicts: tuple[Verdict, ...] = judge([("ab"[n % 2], fact(text)) for n, text in enumerate(texts)], top_k=99)
    shown = [line.split(". ", 1)[1].lower() for line in render_block(verdicts).text.splitlines() if line[:1].isdigit()]
    assert len(shown) == len(set(shown)) == sum(verdict.kept for verdict in verdicts)
    assert "" not in shown


def test_an_echo_or_nothing_at_all_is_no_evidence_either() -> None:
    sources = {"a": fact("<hindsight-memory>x"), "b": fact(" \u200b"), "c": fact("said so")}
    kept = judge([("p", Fact(id="o", text="prefers uv", source_fact_ids=("a", "b", "c")))], top_k=8)
    evidence = [line.strip() for line in render_block(kept, sources).text.splitlines() if "evidence:" in line]
    assert evidence == ["- evidence: said so"]
