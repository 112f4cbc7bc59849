"""A cursor's own bounds: heads, tail and trail."""

from __future__ import annotations

import pytest

from hindbrain.store._cursors import HEADS, TAIL, Cursor, Head, Identity
from hindbrain.store._cursors._cursor import TRAIL, UNSEEN, mark


def known(*names: str) -> list[Identity]:
    return [Identity(*name.split(":")) for name in names]


def names(cursor: Cursor) -> list[str]:
    return [f"{each.entry_id}:{each.fingerprint}" for each in cursor.tail]


def test_an_edit_stands_beside_what_is_known_of_its_entry() -> None:
    cursor = Cursor().with_tail(known("a:1", "b:1", "c:1")).with_tail(known("a:2", "a:1", "d:1"))
    assert names(cursor) == ["a:1", "a:2", "b:1", "c:1", "d:1"]


def test_what_is_known_of_an_entry_goes_together() -> None:
    cursor = Cursor().with_tail(known("a:1", "a:2", "b:1", "c:1"), length=3)
    assert names(cursor) == ["b:1", "c:1"]
    assert cursor.marks() == {mark("a")}


def test_of_a_line_each_content_stands_by_itself_and_the_newest_is_last() -> None:
    cursor = Cursor().with_tail(known("line-1:1", "line-2:1")).with_tail(known("line-1:2", "line-1:1"))
    assert names(cursor) == ["line-2:1", "line-1:2", "line-1:1"]
    assert cursor.with_tail((), length=0).trail == "", "another line may have its number"


def test_what_was_never_retained_leaves_no_mark() -> None:
    assert Cursor().with_tail(known(f"a:{UNSEEN}"), length=0) == Cursor()


def test_tail_and_trail_are_bounded() -> None:
    cursor = Cursor().with_tail(Identity(f"m{n}", "1") for n in range(TAIL + TRAIL + 5))
    assert len(cursor.tail) == TAIL
    assert len(cursor.marks()) == TRAIL
    assert mark("m5") in cursor.marks()
    assert mark("m4") not in cursor.marks()


def test_a_head_takes_the_place_of_the_one_it_goes_on_from() -> None:
    cursor = (
        Cursor().with_head(Head("a", "1", 1)).with_head(Head("b", "2", 2)).with_head(Head("c", "3", 2), after_id="a")
    )
    assert [head.last_id for head in cursor.heads] == ["b", "c"]


def test_a_move_that_stays_renews_a_head_and_makes_none() -> None:
    cursor = Cursor().with_head(Head("a", "1", 1))
    assert cursor.with_head(Head("a", "2", 1), after_id="a").heads == (Head("a", "2", 1),)
    assert cursor.with_head(Head("b", "2", 1), after_id="b") is cursor


@pytest.mark.parametrize("more", [0, 3])
def test_heads_are_bounded(more: int) -> None:
    cursor = Cursor()
    for n in range(HEADS + more):
        cursor = cursor.with_head(Head(f"h{n}", "c", 1))
    assert len(cursor.heads) == HEADS
    assert cursor.heads[0].last_id == f"h{more}"
