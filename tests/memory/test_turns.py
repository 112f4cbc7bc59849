from __future__ import annotations

import itertools

import pytest

from hindbrain.contracts import Fact, Message, MinScores, Scores, TextPart
from hindbrain.memory import judge
from hindbrain.memory._turns import TurnKey, Turns, last_user

A, B = TurnKey(("proj-a",), ("hello",)), TurnKey(("proj-a",), ("hello!",))


def test_the_same_question_is_shown_what_it_was_shown_first() -> None:
    turns: Turns[str] = Turns(60_000)
    assert turns.recall(A, 0) is None
    first = turns.found(A, "fact one", 0)
    assert turns.recall(A, 59_999) is first
    assert turns.recall(A, 60_000) is first
    assert turns.recall(A, 60_001) is None
    assert turns.recall(B, 1) is None
    assert turns.recall(TurnKey(("proj-b",), ("hello",)), 1) is None


def test_a_clock_that_went_back_makes_no_old_answer_young() -> None:
    turns: Turns[str] = Turns(60_000)
    turns.found(A, "fact", 100_000)
    assert turns.recall(A, 0) is None


def test_an_outage_is_asked_about_less_and_less_often() -> None:
    turns: Turns[str] = Turns(60_000)
    asked = []
    for turn in range(110):
        key = TurnKey((), (turn,))
        if turns.may_ask(key, turn):
            asked.append(turn)
            turns.failed(key, turn)
    assert [b - a - 1 for a, b in itertools.pairwise(asked)] == [1, 2, 4, 8, 16, 32, 32]


def test_one_user_message_is_asked_for_once_however_often_the_hook_fires() -> None:
    turns: Turns[str] = Turns(60_000)
    assert turns.may_ask(A, 1)
    turns.failed(A, 1)
    assert [turns.may_ask(A, 1) for _ in range(3)] == [False] * 3
    assert [turns.may_ask(B, 2) for _ in range(3)] == [False] * 3
    assert turns.may_ask(A, 3)


def test_an_answer_ends_the_waiting() -> None:
    turns: Turns[str] = Turns(60_000)
    turns.failed(A, 1)
    turns.found(B, "fact", 0)
    assert turns.may_ask(A, 2)


def test_the_last_message_of_the_user_is_found_behind_tool_results() -> None:
    roles = ["user", "assistant", "user", "assistant", "toolResult"]
    assert last_user([Message(role=role, parts=(TextPart("x"),)) for role in roles]) == 2
    assert last_user([Message(role="assistant")]) is None


@pytest.mark.parametrize(
    ("floors", "scores", "kept"),
    [
        (MinScores(reranker=0.2), Scores(reranker=0.1999), False),
        (MinScores(reranker=0.2), Scores(reranker=0.2), True),
        (MinScores(reranker=0.2), Scores(), True),
        (MinScores(reranker=0.2), Scores(semantic=0.01), True),
        (MinScores(semantic=0.3, reranker=0.2), Scores(semantic=0.9, reranker=0.1), False),
        (MinScores(semantic=0.3, reranker=0.2), Scores(semantic=0.9, reranker=0.2), True),
        (MinScores(semantic=0.3, reranker=0.2), Scores(reranker=0.1), False),
        (MinScores(semantic=0.3, reranker=0.2), Scores(semantic=0.4), True),
        (MinScores(final=0.5, keyword=0.5), Scores(final=0.4, keyword=0.9), False),
        (MinScores(), Scores(semantic=0, reranker=0, final=0, keyword=0), True),
        (MinScores(final=0.5), Scores(final=float("nan")), True),
    ],
)
def test_floors_drop_what_is_there_and_too_low_and_nothing_else(floors: MinScores, scores: Scores, kept: bool) -> None:
    (verdict,) = judge([("b", Fact(id="f", text="x", scores=scores))], top_k=8, floors=floors)
    assert verdict.kept is kept
    assert verdict.reasons == (() if kept else ("below-score-floor",))


def test_only_kept_texts_count_as_seen() -> None:
    low, high = (
        Fact(id="x", text="use uv", scores=Scores(reranker=0.05)),
        Fact(id="y", text="use uv", scores=Scores(reranker=0.9)),
    )
    verdicts = judge([("b", low), ("b", high)], top_k=8, floors=MinScores(reranker=0.2))
    assert [v.kept for v in verdicts] == [False, True]


def test_a_fact_the_user_suppressed_is_not_shown() -> None:
    (verdict,) = judge([("b", Fact(id="f", text="x"))], top_k=8, suppressed={"f"})
    assert verdict.reasons == ("suppressed",)
