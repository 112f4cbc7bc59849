"""Files that gave their entries other ids: what was retained is known by its content."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from hindbrain.contracts import Branch, Entry
from hindbrain.store._cursors import Cursor, advance, new_entries
from hindbrain.store._cursors._anchor import aligned

Make = Callable[..., Branch]
Talk = Callable[..., list[Entry]]
Say = Callable[..., Entry]
Ids = Callable[..., list[str]]


def retained(branch: Branch, cursor: Cursor | None = None) -> Cursor:
    before = Cursor() if cursor is None else cursor
    return advance(before, branch, new_entries(branch, before))


def linear(entries: list[Entry]) -> list[Entry]:
    """The same messages as an old file holds them: by their line, the header being the first."""
    return [
        evolve(entry, id=f"line-{line}", parent_id=f"line-{line - 1}" if line > 2 else None)
        for line, entry in enumerate(entries, 2)
    ]


def test_a_linear_file_that_grows_offers_what_was_added(talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(linear(talk(500))))
    seen = branch(linear(talk(502)))
    assert ids(new_entries(seen, cursor)) == ["line-502", "line-503"]
    assert retained(seen, cursor).heads[-1].count == 502


def test_an_edited_line_alone_is_offered_again(say: Say, talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(linear(talk(3))))
    for place in range(3):
        edited = talk(3)
        edited[place] = say("m", None, "other")
        assert ids(new_entries(branch(linear(edited)), cursor)) == [f"line-{place + 2}"]


def test_a_compaction_that_rewrote_the_file_offers_the_summary_and_what_is_new(
    say: Say, talk: Talk, branch: Make, ids: Ids
) -> None:
    """spec/memory.md section 19, 3a: upstream retained none of five, or 25 of them in a short session."""
    for length in (300, 60):
        cursor = retained(branch(linear(talk(length))))
        rest = talk(length + 4)[length - 20 :]
        seen = branch(linear([say("s", None, "a summary"), *rest]))
        assert ids(new_entries(seen, cursor)) == ["line-2", "line-23", "line-24", "line-25", "line-26"]
        after = retained(seen, cursor)
        assert new_entries(seen, after) == ()
        grown = branch(linear([say("s", None, "a summary"), *rest, say("n", None, "new")]))
        assert ids(new_entries(grown, after)) == ["line-27"]


def test_a_part_of_what_was_found_again_moves_the_cursor_by_that_part(
    say: Say, talk: Talk, branch: Make, ids: Ids
) -> None:
    cursor = retained(branch(linear(talk(300))))
    seen = branch(linear([say("s", None, "a summary"), *talk(304)[280:]]))
    cursor = advance(cursor, seen, new_entries(seen, cursor)[:2])
    assert ids(new_entries(seen, cursor)) == ["line-24", "line-25", "line-26"]


def test_old_lines_that_got_ids_are_not_offered_again(talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(linear(talk(500))))
    assert ids(new_entries(branch(talk(502)), cursor)) == ["m501", "m502"]
    after = retained(branch(talk(502)), cursor)
    assert ids(new_entries(branch(talk(10), talk(1, prefix="f", after="m10")), after)) == ["f1"]


def test_the_chain_knows_a_long_history_whose_tail_was_given_up(talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = evolve(retained(branch(linear(talk(500)))), tail=())
    assert ids(new_entries(branch(talk(502)), cursor)) == ["m501", "m502"]
    assert len(new_entries(branch(talk(499)), cursor)) == 499, "a chain that does not fit says nothing"


def test_a_history_with_an_edit_far_back_is_still_in_line(say: Say, talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(linear(talk(500))))
    again = talk(501)
    again[349] = say("m350", "m349", "other")
    assert ids(new_entries(branch(again), cursor)) == ["m350", "m501"]


def test_another_session_has_nothing_in_line(talk: Talk, branch: Make) -> None:
    cursor = retained(branch(talk(5)))
    assert len(new_entries(branch(talk(4, prefix="x")), cursor)) == 4


def test_ids_decide_where_there_are_any(talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(talk(5)))
    seen = branch(talk(5), talk(3, prefix="x", same="m"))
    assert ids(new_entries(seen, cursor)) == ["x1", "x2", "x3"]


def test_the_tail_is_laid_along_in_one_order_and_each_once() -> None:
    assert aligned(list("abc"), list("xabcy"), full=False) == {1, 2, 3}
    assert aligned(list("abc"), list("xabcy"), full=True) == {0, 1, 2, 3}
    assert aligned(list("abc"), list("xbcy"), full=True) == {1, 2}
    assert aligned(list("ok"), list("okok"), full=False) in ({0, 1}, {2, 3})
    assert aligned([], list("ab"), full=True) == set()
    assert aligned(list("ab"), [], full=True) == set()
