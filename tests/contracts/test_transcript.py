from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Branch, Entry, ImagePart, Message, TextPart, ThinkingPart, ToolCallPart


def entry(entry_id: str, parent_id: str | None = None) -> Entry:
    return Entry(id=entry_id, parent_id=parent_id, kind="message")


def test_the_text_of_a_message_is_its_text_parts_and_nothing_else() -> None:
    message = Message(
        role="assistant",
        parts=(TextPart("one"), ThinkingPart("hm"), ToolCallPart("1", "ls"), ImagePart("image/png"), TextPart("two")),
    )
    assert message.text == "one\ntwo"
    assert Message(role="user").text == ""


def test_the_words_of_parts_are_not_shown_by_repr() -> None:
    message = Message(
        role="user", parts=(TextPart("hunter2"), ThinkingPart("hunter2"), ToolCallPart("1", "ls", {"a": "hunter2"}))
    )
    assert "hunter2" not in repr(message)


def test_a_path_goes_from_the_root_to_the_leaf() -> None:
    branch = Branch.of([entry("a"), entry("b", "a"), entry("c", "a"), entry("d", "b")], "d")
    assert [e.id for e in branch.path()] == ["a", "b", "d"]
    assert [e.id for e in branch.path("c")] == ["a", "c"]


def test_without_a_leaf_the_last_entry_of_the_file_is_the_leaf() -> None:
    assert Branch.of([entry("a"), entry("b", "a"), entry("c", "a")]).leaf_id == "c"


def test_of_two_entries_with_one_id_the_later_counts_and_can_be_the_leaf() -> None:
    branch = Branch.of([entry("a"), entry("b", "a"), entry("a", "b")])
    assert branch.leaf_id == "a"
    assert branch.entries["a"].parent_id == "b"


def test_a_branch_of_nothing_has_no_leaf_and_an_empty_path() -> None:
    branch = Branch.of([])
    assert branch.leaf_id is None
    assert branch.path() == ()


def test_a_missing_parent_ends_the_path() -> None:
    assert [e.id for e in Branch.of([entry("b", "gone"), entry("c", "b")]).path()] == ["b", "c"]
    assert Branch.of([entry("a")]).path("gone") == ()


def test_a_cycle_ends_the_path() -> None:
    assert [e.id for e in Branch.of([entry("a", "b"), entry("b", "a")]).path()] == ["a", "b"]
    assert [e.id for e in Branch.of([entry("a", "a")]).path()] == ["a"]


def test_children_come_in_the_order_of_the_file_and_none_gives_the_roots() -> None:
    branch = Branch.of([entry("a"), entry("c", "a"), entry("b", "a"), entry("z")])
    assert [e.id for e in branch.children("a")] == ["c", "b"]
    assert [e.id for e in branch.children(None)] == ["a", "z"]
    assert branch.children("b") == ()


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from([*"abcdef", None]))))
def test_a_path_of_any_file_is_a_chain_without_repetitions(rows: list[tuple[str, str | None]]) -> None:
    path = Branch.of([entry(*row) for row in rows]).path()
    assert len({e.id for e in path}) == len(path)
    assert all(child.parent_id == parent.id for parent, child in pairwise(path))
