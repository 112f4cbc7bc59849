"""Which messages of a branch are new, and where the cursor stands after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
from attrs import evolve

from hindbrain.contracts import Branch, Entry
from hindbrain.store._cursors import HEADS, TAIL, Cursor, advance, fingerprint, fold, move, new_entries

Make = Callable[..., Branch]
Talk = Callable[..., list[Entry]]
Say = Callable[..., Entry]
Ids = Callable[..., list[str]]


def retained(branch: Branch, cursor: Cursor | None = None) -> Cursor:
    """The cursor once everything of the branch is retained."""
    before = Cursor() if cursor is None else cursor
    return advance(before, branch, new_entries(branch, before))


@pytest.mark.req("S0-cursor-003", "S0-cursor-006")
def test_a_transcript_that_grows_offers_what_was_added(talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(talk(2)))
    grown = branch(talk(4))
    assert ids(new_entries(grown, cursor)) == ["m3", "m4"]
    cursor = retained(grown, cursor)
    assert [head.last_id for head in cursor.heads] == ["m4"]
    assert new_entries(grown, cursor) == ()


def test_an_empty_branch_has_nothing_new_and_moves_nothing(branch: Make) -> None:
    assert new_entries(branch(), Cursor()) == ()
    assert advance(Cursor(), branch(), ()) == Cursor()


@pytest.mark.req("S0-cursor-006")
def test_a_host_that_delivers_one_run_at_a_time_loses_and_repeats_nothing(talk: Talk, branch: Make, ids: Ids) -> None:
    """Upstream's cursor by position retained none of these two short runs."""
    first = talk(205)
    cursor = retained(branch(first))
    for begin in (206, 210):
        run = branch(talk(4, first=begin, after=f"m{begin - 1}"))
        assert ids(new_entries(run, cursor)) == [f"m{number}" for number in range(begin, begin + 4)]
        cursor = retained(run, cursor)
    assert len(cursor.heads) == 1
    assert cursor.heads[0].count == 213
    assert cursor.heads[0].chain == fold(fingerprint(entry) for entry in talk(213))


def test_a_run_that_overlaps_the_last_one_offers_what_it_adds(talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(talk(5)))
    assert ids(new_entries(branch(talk(5, first=3, after="m2")), cursor)) == ["m6", "m7"]


def test_a_run_whose_beginning_is_unknown_is_new_whatever_its_words(talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(talk(5)))
    run = branch(talk(5, prefix="x", after="gone", same="m"))
    assert ids(new_entries(run, cursor)) == ["x1", "x2", "x3", "x4", "x5"]
    after = retained(run, cursor)
    assert [(head.last_id, head.count) for head in after.heads] == [("m5", 5), ("x5", 0)]
    later = retained(branch(talk(1, prefix="x", first=6, after="x5")), after)
    assert [(head.last_id, head.count) for head in later.heads] == [("m5", 5), ("x6", 0)]


@pytest.mark.req("S0-cursor-004")
def test_an_edited_message_alone_is_offered_again(say: Say, talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(talk(3)))
    first, _, third = talk(3)
    edited = branch([first, say("m2", "m1", "other words"), third])
    assert ids(new_entries(edited, cursor)) == ["m2"]
    after = retained(edited, cursor)
    assert new_entries(edited, after) == ()
    assert [head.last_id for head in after.heads] == ["m3"]
    assert after.heads[0].chain != cursor.heads[0].chain
    assert new_entries(branch(talk(3)), after) == (), "the former words were retained too"


def test_an_edit_is_offered_before_what_is_new_and_is_retained_with_it(say: Say, talk: Talk, branch: Make) -> None:
    cursor = retained(branch(talk(3)))
    edited = branch([say("m1", None, "other"), *talk(4)[1:]])
    moved = move(cursor, edited, new_entries(edited, cursor))
    assert moved is not None
    covers = moved.coverage("line", "bank")
    assert (covers.first_id, covers.last_id, covers.after_id, covers.count) == ("m1", "m4", "m3", 4)
    assert [entry_id for entry_id, _ in covers.tail] == ["m1", "m4"]
    assert covers.chain == fold(fingerprint(entry) for entry in edited.path())


def test_an_edit_alone_says_that_the_cursor_stays_where_it_is(say: Say, talk: Talk, branch: Make) -> None:
    edited = branch([say("m1", None, "other"), *talk(3)[1:]])
    moved = move(retained(branch(talk(3))), edited, edited.path())
    assert moved is not None
    assert (moved.first_id, moved.head.last_id, moved.after_id) == ("m1", "m3", "m3")


def test_an_edit_retained_from_further_back_makes_no_end_of_a_branch(say: Say, talk: Talk, branch: Make) -> None:
    cursor = retained(branch(talk(9)))
    edited = branch([say("m1", None, "other"), *talk(9)[1:]], leaf="m3")
    after = retained(edited, cursor)
    assert after.heads == cursor.heads
    assert new_entries(edited, after) == ()


@pytest.mark.req("S0-cursor-006")
def test_a_branch_below_the_tail_is_offered_whole_and_nothing_else(talk: Talk, branch: Make, ids: Ids) -> None:
    """spec/faults.md row 10: the rule by position retained none of the thirty."""
    main = talk(300)
    cursor = retained(branch(main))
    aside = talk(30, prefix="b", after="m50")
    assert ids(new_entries(branch(main, aside), cursor)) == ids(aside)
    cursor = retained(branch(main, aside), cursor)
    assert cursor.heads[-1].count == 80
    assert new_entries(branch(main, aside), cursor) == ()
    assert new_entries(branch(main, aside, leaf="m300"), cursor) == ()
    assert new_entries(branch(main, aside, leaf="m7"), cursor) == ()


def test_two_branches_in_turn_repeat_nothing_and_lose_nothing(talk: Talk, branch: Make, ids: Ids) -> None:
    entries, cursor, offered = talk(10), Cursor(), list[str]()
    ends = {"a": "m10", "b": "m4"}
    for turn in range(60):
        side = "ab"[turn % 2]
        entries = [*entries, *talk(9, prefix=f"{side}{turn}-", after=ends[side])]
        ends[side] = entries[-1].id
        seen = branch(entries)
        offered += ids(new_entries(seen, cursor))
        cursor = retained(seen, cursor)
    assert sorted(offered) == sorted(ids(entries))
    assert [head.last_id for head in cursor.heads] == [ends["a"], ends["b"]]


def test_a_new_root_is_a_new_branch(talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(talk(5)))
    assert ids(new_entries(branch(talk(5), talk(2, prefix="r", same="m")), cursor)) == ["r1", "r2"]


def test_a_fork_from_before_the_tail_in_a_file_of_its_own_offers_what_it_adds(
    talk: Talk, branch: Make, ids: Ids
) -> None:
    cursor = retained(branch(talk(300)))
    fork = branch(talk(40), talk(3, prefix="f", after="m40"))
    assert ids(new_entries(fork, cursor)) == ["f1", "f2", "f3"]
    both = retained(fork, cursor)
    assert ids(new_entries(branch(talk(301)), both)) == ["m301"]


def test_entries_without_a_message_are_never_offered_and_hide_nothing(talk: Talk, branch: Make, ids: Ids) -> None:
    entries = talk(2)
    compaction = Entry(id="c", parent_id="m2", kind="compaction", summary="what was said", first_kept_id="m2")
    record = Entry(id="r", parent_id="c", kind="custom", custom_type="om.observation", data="{}")
    seen = branch(entries, [compaction, record], talk(1, first=3, after="r"))
    assert ids(new_entries(seen, Cursor())) == ["m1", "m2", "m3"]
    cursor = retained(branch(entries, [compaction, record]))
    assert ids(new_entries(seen, cursor)) == ["m3"]
    assert [each.entry_id for each in retained(seen, cursor).tail] == ["m1", "m2", "m3"]


@pytest.mark.req("S0-cursor-005")
def test_the_tail_names_the_newest_two_hundred(talk: Talk, branch: Make) -> None:
    cursor = retained(branch(talk(1000)))
    assert [each.entry_id for each in cursor.tail] == [f"m{number}" for number in range(801, 1001)]
    assert len(cursor.tail) == TAIL


@pytest.mark.req("S0-cursor-010")
def test_an_overlap_that_begins_before_the_tail_is_known(talk: Talk, branch: Make, ids: Ids) -> None:
    cursor = retained(branch(talk(500)))
    assert ids(new_entries(branch(talk(502)), cursor)) == ["m501", "m502"]


def test_the_cursor_never_passes_a_message_that_was_not_retained(talk: Talk, branch: Make, ids: Ids) -> None:
    """spec/faults.md row 40."""
    seen = branch(talk(3))
    first, _, third = talk(3)
    cursor = advance(Cursor(), seen, [first, third])
    assert ids(new_entries(seen, cursor)) == ["m2", "m3"]
    assert advance(Cursor(), seen, [third]) == Cursor()


def test_a_message_counts_as_what_was_retained_even_if_it_was_edited_meanwhile(
    say: Say, branch: Make, ids: Ids
) -> None:
    before, later = (branch([say("a", None, words)]) for words in ("one", "two"))
    cursor = advance(Cursor(), later, new_entries(before, Cursor()))
    assert new_entries(before, cursor) == ()
    assert ids(new_entries(later, cursor)) == ["a"]


def test_the_ends_of_branches_are_bounded_and_the_oldest_goes(talk: Talk, branch: Make) -> None:
    entries, cursor = talk(1), Cursor()
    for number in range(HEADS + 2):
        entries = [*entries, *talk(1, prefix=f"b{number}-", after="m1")]
        cursor = retained(branch(entries), cursor)
    assert len(cursor.heads) == HEADS
    assert cursor.heads[0].last_id == "b2-1"
    assert new_entries(branch(entries, leaf="b0-1"), cursor) == (), "the tail still knows it"


def test_a_cycle_and_a_missing_leaf_are_no_wall(say: Say, branch: Make, ids: Ids) -> None:
    assert ids(new_entries(branch([say("a", "b"), say("b", "a")]), Cursor())) == ["a", "b"]
    assert new_entries(branch([say("a", None)], leaf="gone"), Cursor()) == ()


class Counting(dict[str, Entry]):
    """Entries that count how often one is looked up."""

    seen = 0

    def get(self, key: str, default: Entry | None = None) -> Entry | None:  # type: ignore[override]  # one form of it
        self.seen += 1
        return super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("the whole history was walked")

    def values(self) -> Mapping[str, Entry]:  # type: ignore[override]  # never to be called
        raise AssertionError("the whole history was walked")


@pytest.mark.parametrize("history", [1_000, 20_000])
def test_a_turn_costs_its_new_entries_and_the_tail_not_the_history(talk: Talk, branch: Make, history: int) -> None:
    entries = talk(history + 10)
    cursor = retained(branch(entries[:history]))
    counted = Counting({entry.id: entry for entry in entries})
    seen = Branch(counted, entries[-1].id)
    fresh = new_entries(seen, cursor)
    assert len(fresh) == 10
    advance(cursor, seen, fresh)
    assert counted.seen <= 2 * (10 + TAIL + 2)


def test_a_message_that_only_changed_its_place_is_no_edit(talk: Talk, branch: Make) -> None:
    cursor = retained(branch(talk(3)))
    moved = [evolve(entry, line=entry.line + 5, at=9) for entry in talk(3)]
    assert new_entries(branch(moved), cursor) == ()
