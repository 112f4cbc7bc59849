from __future__ import annotations

import itertools

import pytest

from hindbrain.contracts import Fact, Message, MinScores, Scores, TextPart
from hindbrain.memory import Patience, Turn, TurnKey, Turns, judge, last_user

A, B = TurnKey(("proj-a",), ("hello",)), TurnKey(("proj-a",), ("hello!",))


@pytest.mark.req("S0-cache-001", "S0-cache-002", "S0-cache-003", "S0-cache-006", "S0-cache-009")
def test_the_same_question_is_shown_what_it_was_shown_first() -> None:
    turns: Turns[str] = Turns(60_000)
    assert turns.recall(Turn(A, 0), 0) is None
    first = turns.found(Turn(A, 0), "fact one", 0)
    assert first.at == 0
    assert turns.recall(Turn(A, 0), 59_999) is first
    assert turns.recall(Turn(A, 4), 60_000) is first
    assert turns.recall(Turn(A, 4), 60_001) is None
    assert turns.recall(Turn(B, 0), 1) is None
    assert turns.recall(Turn(TurnKey(("proj-b",), ("hello",)), 0), 1) is None


def test_a_question_that_is_asked_again_after_another_is_still_known() -> None:
    turns: Turns[str] = Turns(60_000)
    first = turns.found(Turn(A, 0), "of a", 0)
    turns.found(Turn(B, 2), "of b", 1)
    assert turns.recall(Turn(A, 2), 2) is first


def test_only_the_newest_answers_are_remembered() -> None:
    turns: Turns[int] = Turns(60_000)
    several = [Turn(TurnKey((), (n,)), n) for n in range(17)]
    for turn in several:
        turns.found(turn, turn.place, 0)
    assert [turns.recall(turn, 1) is not None for turn in several] == [False, *[True] * 16]


def test_a_turn_that_goes_on_keeps_what_it_was_shown_however_long_it_takes() -> None:
    turns: Turns[str] = Turns(60_000)
    first = turns.found(Turn(A, 0), "fact", 0)
    assert turns.recall(Turn(A, 0), 900_000, goes_on=True) is first
    assert turns.recall(Turn(A, 0), 900_000) is None
    assert turns.recall(Turn(A, 2), 900_000, goes_on=True) is None


def test_a_nudge_that_was_shown_an_older_answer_keeps_it_while_it_goes_on() -> None:
    turns: Turns[str] = Turns(60_000)
    first = turns.found(Turn(A, 0), "fact", 0)
    assert turns.recall(Turn(A, 2), 50_000) is first
    assert turns.recall(Turn(A, 2), 90_000, goes_on=True) is first


def test_an_answer_without_every_bank_is_that_of_its_own_message_only() -> None:
    turns: Turns[str] = Turns(60_000)
    first = turns.found(Turn(A, 0), "half", 0, whole=False)
    assert turns.recall(Turn(A, 0), 1) is first
    assert turns.recall(Turn(A, 2), 1) is None


def test_a_clock_that_went_back_makes_no_old_answer_young() -> None:
    turns: Turns[str] = Turns(60_000)
    turns.found(Turn(A, 0), "fact", 100_000)
    assert turns.recall(Turn(A, 0), 0) is None


def test_an_outage_is_asked_about_less_and_less_often() -> None:
    patience = Patience()
    asked = []
    for number in range(110):
        turn = Turn(TurnKey((), (number,)), number)
        if patience.may_ask(turn):
            asked.append(number)
            patience.failed(turn, outage=True)
    assert [b - a - 1 for a, b in itertools.pairwise(asked)] == [1, 2, 4, 8, 16, 32, 32]


def test_one_user_message_is_asked_for_once_however_often_the_hook_fires() -> None:
    patience = Patience()
    assert patience.may_ask(Turn(A, 1))
    patience.failed(Turn(A, 1), outage=True)
    assert [patience.may_ask(Turn(A, 1)) for _ in range(3)] == [False] * 3
    assert [patience.may_ask(Turn(B, 2)) for _ in range(3)] == [False] * 3
    assert patience.may_ask(Turn(A, 3))


def test_a_refusal_is_not_repeated_in_its_turn_and_waits_for_no_other() -> None:
    patience = Patience()
    patience.failed(Turn(A, 1), outage=True)
    patience.failed(Turn(B, 3), outage=False)
    assert not patience.may_ask(Turn(B, 3))
    assert patience.may_ask(Turn(A, 5))


def test_an_answer_ends_the_waiting() -> None:
    patience = Patience()
    patience.failed(Turn(A, 1), outage=True)
    patience.answered()
    assert patience.may_ask(Turn(A, 2))


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
