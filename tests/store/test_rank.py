"""The order of facts, as pure functions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.store._rank import Spot, fused, neighbourhood, own_score, settled, touching
from hindbrain.store._terms import Terms, rarity


def terms(**weights: float) -> Terms:
    return Terms(weights=weights, order=tuple(weights), first=tuple(weights), rest=(), crowded=False)


def spot(number: int, words: str = "", *, role: str | None = "user", turn: int | None = None, moment: int = 0) -> Spot:
    place = (1, number)
    return Spot(number, place, number if turn is None else turn, role, moment, words.split())


ASKED = terms(tide=3.0, moon=1.0)
PAIRS = touching(ASKED.order)


def score(words: str, role: str | None = "user") -> float:
    return own_score(spot(1, words, role=role), ASKED, PAIRS, 4.0)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("tide x x x", "moon x x x"),
        ("tide moon x x", "tide x x x"),
        ("tide tide x x", "tide x x x"),
        ("tide x", "tide x x x x x"),
        ("tide moon x", "tide x moon"),
    ],
)
def test_rare_many_repeated_dense_and_touching_words_score_higher(better: str, worse: str) -> None:
    assert score(better) > score(worse) > 0


def test_a_fact_without_an_asked_word_scores_nothing() -> None:
    assert score("x y z") == 0


def test_what_a_tool_said_scores_less_than_what_a_person_said() -> None:
    assert score("tide x", "toolResult") < score("tide x")


def test_speaker_and_day_count_a_little() -> None:
    about = Spot(1, (1, 1), 1, "user", 0, ["x"], ["tide"])
    assert 0 < own_score(about, ASKED, PAIRS, 4.0) < score("tide")


def test_neighbours_share_and_only_known_places_join_in() -> None:
    shared = neighbourhood({(1, 5): 1.0, (1, 6): 0.0}, {(1, 5), (1, 6), (1, 7), (2, 5)})
    assert shared == {(1, 5): 1.0, (1, 6): 0.4, (1, 7): 0.2}


def test_settling_prefers_the_newer_of_equals_and_other_turns_first() -> None:
    spots = [spot(1, moment=0), spot(2, moment=9), spot(3, turn=2, moment=9)]
    order = [found.id for found, _ in settled(spots, {1: 1.0, 2: 1.0, 3: 1.0})]
    assert order == [3, 1, 2]


def test_settling_leaves_out_what_scored_nothing() -> None:
    assert settled([spot(1)], {}) == []


def test_fusing_puts_first_what_leads_everywhere() -> None:
    total = fused([[1, 2, 3], [1, 3, 2], []])
    assert total[1] == 1.0
    assert total[1] > total[2] == pytest.approx(total[3])


@given(facts=st.integers(0, 1000), more=st.integers(1, 1000), total=st.integers(0, 3000))
def test_a_rarer_word_is_worth_more_and_none_is_worth_less_than_nothing(facts: int, more: int, total: int) -> None:
    total = max(total, facts + more)
    assert rarity(facts, total) > rarity(facts + more, total) > 0
