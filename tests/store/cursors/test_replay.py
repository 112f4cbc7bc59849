"""The durable job is the cursor's move."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import evolve

from hindbrain.contracts import Branch, Coverage, Entry
from hindbrain.store._cursors import Cursor, move, new_entries, replay

Make = Callable[..., Branch]
Talk = Callable[..., list[Entry]]
Say = Callable[..., Entry]


def turns(branches: Iterable[Branch], cursor: Cursor | None = None) -> tuple[Cursor, list[Coverage]]:
    """Everything of each branch retained in turn: the cursor, and what the jobs carried."""
    at = Cursor() if cursor is None else cursor
    covers = []
    for branch in branches:
        moved = move(at, branch, new_entries(branch, at))
        assert moved is not None
        covers.append(moved.coverage("line", "bank"))
        at = moved.cursor
    return at, covers


def test_the_log_alone_gives_the_same_cursor(talk: Talk, branch: Make) -> None:
    cursor, covers = turns(branch(talk(count)) for count in (3, 50, 230, 300))
    assert replay(Cursor(), covers) == cursor


def test_replaying_again_changes_nothing(talk: Talk, branch: Make) -> None:
    cursor, covers = turns(branch(talk(count)) for count in (3, 50, 250, 400, 700))
    assert replay(cursor, covers) == cursor
    assert all(replay(cursor, covers[:count]) == cursor for count in range(5))


def test_a_job_that_outlived_its_cursor_moves_it(talk: Talk, branch: Make) -> None:
    before, first = turns([branch(talk(5))])
    after, second = turns([branch(talk(9))], before)
    assert replay(before, first + second) == after


def test_an_edit_that_outlived_its_cursor_is_not_offered_again(say: Say, talk: Talk, branch: Make) -> None:
    before, first = turns([branch(talk(3))])
    edited = branch([talk(1)[0], say("m2", "m1", "other"), talk(3)[2]])
    after, second = turns([edited], before)
    found = replay(before, first + second)
    assert found == after
    assert new_entries(edited, found) == ()


def test_a_job_of_a_process_that_died_counts_though_others_went_on(talk: Talk, branch: Make) -> None:
    main = talk(10)
    one, other = talk(3, prefix="a", after="m10"), talk(3, prefix="b", after="m10")
    shared, first = turns([branch(main)])
    _, died = turns([branch(main, one)], shared)
    lived, later = turns([branch(main, other)], shared)
    found = replay(lived, first + died + later)
    assert new_entries(branch(main, one), found) == ()
    assert new_entries(branch(main, other), found) == ()
    assert replay(found, first + died + later) == found


def test_a_job_without_a_tail_still_moves_the_head(talk: Talk, branch: Make) -> None:
    _, covers = turns([branch(talk(5)), branch(talk(9))])
    bare = [evolve(each, tail=()) for each in covers]
    found = replay(Cursor(), bare)
    assert [head.last_id for head in found.heads] == ["m9"]
    assert replay(found, bare) == found
    assert new_entries(branch(talk(9)), found) == ()
