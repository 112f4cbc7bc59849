import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts._facts import Cut, cut, observation_tags, terms


def texts(content: str) -> list[str]:
    return [piece.text for piece in cut(content)]


def test_plain_text_is_cut_at_sentences_and_lines() -> None:
    assert texts("One is here. Two is there!\nThree is gone\r\n\nFour?") == [
        "One is here.",
        "Two is there!",
        "Three is gone",
        "Four?",
    ]


def test_a_number_or_a_file_name_is_not_cut_at_its_dot() -> None:
    assert texts("Use pi 1.6.0 and a.py here.") == ["Use pi 1.6.0 and a.py here."]


def test_cjk_is_cut_behind_its_full_stop() -> None:
    assert texts("灯塔在海边。钥匙在保险箱里。") == ["灯塔在海边。", "钥匙在保险箱里。"]


def test_a_piece_without_a_letter_or_digit_is_no_fact() -> None:
    assert texts("...\n---\n🙂\nok") == ["ok"]


def test_white_space_within_a_fact_is_folded() -> None:
    assert texts("one\t two   three") == ["one two three"]


def test_a_session_of_turns_is_cut_turn_by_turn_with_its_times() -> None:
    turns = [
        {"role": "user", "content": "One. Two.", "timestamp": "2026-03-01T10:00:00Z"},
        {"role": "assistant", "content": [{"type": "text", "text": "Three."}, {"type": "image"}, {"type": "text"}]},
    ]
    assert cut(json.dumps(turns)) == (
        Cut("One.", "2026-03-01T10:00:00Z"),
        Cut("Two.", "2026-03-01T10:00:00Z"),
        Cut("Three."),
    )


@pytest.mark.parametrize(
    "content",
    [
        "[not json",
        "[]",
        "[1, 2]",
        '[{"role": 1, "content": "x"}]',
        '[{"role": "user", "content": 5}]',
        '[{"role": "user"}, {"role": "user", "content": "x"}]',
        "[" * 100_000 + "x",
        "[" + "9" * 10_000 + "]",
    ],
)
def test_what_only_looks_like_turns_is_plain_text(content: str) -> None:
    assert "".join(texts(content)).replace(" ", "") in ("", content.replace(" ", ""))


@given(st.text())
def test_cutting_never_fails_and_keeps_every_letter_and_digit(content: str) -> None:
    kept = "".join(c for piece in cut(content) for c in piece.text if c.isalnum())
    assert kept == "".join(c for c in content if c.isalnum())


def test_terms_are_words_in_lower_case_and_pairs_of_cjk() -> None:
    assert terms("The Café, 灯塔在 x日") == {"the", "café", "灯塔", "塔在", "x", "日"}


@pytest.mark.parametrize(
    ("tags", "scopes", "expected"),
    [
        (("a", "b"), None, [("a", "b")]),
        (("a", "b"), "combined", [("a", "b")]),
        (("a", "b"), "per_tag", [("a",), ("b",)]),
        (("a", "b"), "shared", [()]),
        (("a", "b"), "all_combinations", [("a",), ("b",), ("a", "b")]),
        ((), "per_tag", [()]),
        (("p:x", "user:al", "user:bo"), (("p:x",), ("user:*",)), [("p:x",), ("user:al", "user:bo")]),
        (("t",), (("zz:*",),), [("t",)]),
        (("k:1", "k:2"), (("k:1", "k:2"), ("k:*", "w")), [("k:1", "k:2"), ("k:1", "k:2", "w")]),
    ],
)
def test_observation_scopes_widen_as_the_server_was_seen_to(
    tags: tuple[str, ...], scopes: str | tuple[tuple[str, ...], ...] | None, expected: list[tuple[str, ...]]
) -> None:
    assert list(observation_tags(tags, scopes)) == expected


def test_many_tags_do_not_make_thousands_of_combinations() -> None:
    tags = tuple(f"t{number}" for number in range(30))
    assert len(observation_tags(tags, "all_combinations")) == 31
