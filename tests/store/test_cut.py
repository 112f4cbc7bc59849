"""Facts are cut the same way every time, in the speaker's own words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.store._cut import LONGEST, Piece, cut, split

AT = "2026-03-01T10:00:00Z"


def plain(text: str) -> str:
    return text


def cut_turns(*turns: dict[str, Any]) -> list[Piece]:
    return cut(json.dumps(turns, indent=2), AT, plain)


@given(text=st.text(st.sampled_from("ab. \n\t。!黒"), max_size=3000))
def test_pieces_are_verbatim_in_order_and_short_and_lose_no_letter(text: str) -> None:
    pieces = split(text)
    at = 0
    for piece in pieces:
        assert 0 < len(piece) <= LONGEST
        assert piece == piece.strip()
        at = text.index(piece, at) + len(piece)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_paragraphs_stay_whole_where_they_fit() -> None:
    first, second, third = ("x" * 300, "y" * 290, "z" * 300)
    assert split(f"{first}\n\n{second}\n\n{third}") == [f"{first}\n\n{second}", third]


def test_a_long_line_is_cut_between_sentences() -> None:
    text = " ".join(f"Sentence number {n} says little." for n in range(60))
    assert all(piece.endswith(".") for piece in split(text))


def test_plain_text_has_no_speaker() -> None:
    assert cut("The tide turns.", AT, plain) == [Piece(text="The tide turns.", at=AT)]


def test_turns_keep_speaker_time_tool_and_entry() -> None:
    turns = cut_turns(
        {"role": "user", "id": "e1", "timestamp": "2026-01-02T03:04:05Z", "content": "Fix the lamp."},
        {"role": "toolResult", "toolName": "bash", "isError": True, "content": [{"type": "text", "text": "no lamp"}]},
    )
    assert turns == [
        Piece(text="Fix the lamp.", turn=0, role="user", at="2026-01-02T03:04:05+00:00", entry="e1"),
        Piece(text="no lamp", turn=1, role="toolResult", at=AT, tool="bash", is_error=True),
    ]


def test_a_call_is_its_tool_and_what_it_was_given() -> None:
    part = {"type": "toolCall", "name": "edit", "arguments": {"path": "a.py", "edits": [{"old": "x", "n": 3}]}}
    assert cut_turns({"role": "assistant", "content": [{"type": "text", "text": "Now."}, part]}) == [
        Piece(text="Now.", role="assistant", at=AT),
        Piece(text="edit a.py\nx", role="toolCall", at=AT, tool="edit"),
    ]


def test_arrays_that_an_append_joined_are_read_one_after_the_other() -> None:
    one, two = ([{"role": "user", "content": word}] for word in ("first", "second"))
    pieces = cut(f"{json.dumps(one, indent=2)}\n{json.dumps(two)}\n", AT, plain)
    assert [(piece.text, piece.turn) for piece in pieces] == [("first", 0), ("second", 1)]


@pytest.mark.parametrize(
    "content",
    ["[1, 2]", "[]", "[half", '[{"role": "user"}]', '[{"role": "user", "content": "x"}] and more', "[" * 100_000],
)
def test_what_only_looks_like_turns_is_text(content: str) -> None:
    pieces = cut(content, AT, plain)
    assert "".join(piece.text for piece in pieces).replace(" ", "") == content.replace(" ", "")
    assert all(piece.role is None for piece in pieces)


@pytest.mark.parametrize("odd", [None, 7, True, {"type": "text"}, [None, 3, {"type": "image"}, {"text": 5}]])
def test_odd_parts_of_a_turn_give_nothing(odd: object) -> None:
    assert cut_turns({"role": "user", "content": odd}, {"role": "user", "content": "kept"})[0].text == "kept"


def test_a_time_that_cannot_be_read_is_the_items() -> None:
    for odd in ("yesterday", 1767323045000, None):
        assert cut_turns({"role": "user", "timestamp": odd, "content": "x"})[0].at == AT


def test_a_time_without_a_zone_is_utc() -> None:
    assert (
        cut_turns({"role": "user", "timestamp": "2026-01-02T03:04", "content": "x"})[0].at
        == "2026-01-02T03:04:00+00:00"
    )


def test_text_is_cleaned_before_it_is_cut() -> None:
    secret = "S" * 50
    text = "word " * 118 + secret + " end"
    pieces = cut(text, AT, lambda whole: whole.replace(secret, "[gone]"))
    assert not any("S" in piece.text for piece in pieces)
