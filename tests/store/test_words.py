"""From text to index words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.store._stem import stem
from hindbrain.store._words import STOP_WORDS, asked, coded, words


@pytest.mark.parametrize(
    "forms",
    [
        "unsubscribe unsubscribing unsubscribed unsubscribes",
        "listener listeners listen",
        "study studies studied studying",
        "hop hopped hopping",
        "hope hoped hoping",
        "go went gone goes going",
        "write wrote written writing",
        "child children",
        "happy happily happiness",
        "color colour colors colours",
        "agree agreed",
        "caress caresses",
        "relate relational",
        "identical identically",
    ],
)
def test_forms_of_one_word_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(("left", "right"), [("hop", "hope"), ("new", "news2"), ("bus", "busy"), ("desert", "dessert")])
def test_other_words_have_other_stems(left: str, right: str) -> None:
    assert stem(left) != stem(right)


@pytest.mark.parametrize("word", ["is", "a1b2", "naïve", "ed", "ing", "s", ""])
def test_short_and_foreign_words_stay_or_shrink_to_something(word: str) -> None:
    assert stem(word) or not word


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mdLinkUrl", "mdlinkurl md link url"),
        ("queue_mode2", "queuemode2 queue mode 2"),
        ("HTTPServer", "httpserver http server"),
        ("interactive-mode.ts", "interact mode ts"),
        ("Caroline's don't", "carolin dont"),
        ("黒猫が", "黒 猫 が 黒猫 猫が"),
        ("café CAFÉ \uff46\uff55\uff4c\uff4c", "cafe cafe full"),
        ("a黒b", "a 黒 b"),
    ],
)
def test_text_becomes_words_parts_and_pairs(text: str, found: str) -> None:
    assert words(text) == found.split()


def test_a_question_asks_for_what_it_means() -> None:
    assert asked("what did the user say about mdLink?") == ["user", "sai", "mdlink", "md", "link"]


def test_a_question_of_stop_words_asks_for_them() -> None:
    assert asked("who are you?") == ["who", "be", "you"]


def test_of_a_run_without_spaces_a_question_asks_for_pairs_or_the_one_character() -> None:
    assert asked("黒猫が 犬") == ["黒猫", "猫が", "犬"]


def test_stop_words_are_plain_words() -> None:
    assert all(word.isalpha() and word.islower() for word in STOP_WORDS)


@given(text=st.text(st.characters(codec=None), max_size=300))
def test_any_text_gives_words_without_spaces_that_the_index_can_hold(text: str) -> None:
    found = words(text)
    assert all(word and not word.isspace() and " " not in word for word in found)
    line = coded(" ".join(found))
    assert line.isascii()
    assert len(line.split()) == len(found)
    assert set(asked(text)) <= set(found)


@given(left=st.text(max_size=20), right=st.text(max_size=20))
def test_the_index_form_keeps_words_apart(left: str, right: str) -> None:
    a, b = " ".join(words(left)), " ".join(words(right))
    assert (coded(a) == coded(b)) == (a == b)
