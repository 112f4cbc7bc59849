from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import cells, cut_to_cells


@pytest.mark.parametrize(
    ("text", "wide"),
    [
        ("harbour", 7),
        ("港湾", 4),
        ("\uff48", 2),
        ("e\u0301", 1),
        ("a\u200db", 2),
        ("🧠", 2),
        ("❤\ufe0f", 2),
        ("▓▶", 2),
        ("", 0),
    ],
)
def test_a_sign_takes_the_cells_that_a_terminal_gives_it(text: str, wide: int) -> None:
    assert cells(text) == wide


def test_a_cut_keeps_a_wide_sign_whole_and_its_accents_with_a_letter() -> None:
    assert cut_to_cells("a港湾", 4) == "a港"
    assert cut_to_cells("a港湾", 4, mark="…") == "a港…"
    assert cut_to_cells("e\u0301e\u0301e", 2) == "e\u0301e\u0301"
    assert cut_to_cells("short", 5, mark="…") == "short"
    assert cut_to_cells("short", 0, mark="…") == ""


def test_control_characters_are_left_out() -> None:
    assert cut_to_cells("a\x1b[31mb\nc", 80) == "a[31mbc"


@given(st.text(), st.integers(0, 40), st.sampled_from(["", "…"]))
def test_what_was_cut_fits_and_begins_as_before(text: str, width: int, mark: str) -> None:
    cut = cut_to_cells(text, width, mark=mark)
    assert cells(cut) <= width
    assert cells(cut.removesuffix(mark)) <= cells(text)
