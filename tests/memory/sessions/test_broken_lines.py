"""A line that is not as it should be costs itself at most."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import ToolCallPart
from hindbrain.memory.sessions import LineProblem, Reason, SessionFile, iter_session, read_session

Write = Callable[..., Path]
Said = Callable[..., dict[str, Any]]


def ids(read: SessionFile) -> list[str]:
    return [entry.id for entry in read.entries]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b'{"type":"message","id":"x"', Reason.NOT_JSON),
        (b"garbage", Reason.NOT_JSON),
        (b'{"type":"message"}{"type":"message"}', Reason.NOT_JSON),
        (b'{"type":"message","n":NaN}', Reason.NOT_JSON),
        (b'{"type":"x","deep":' + b"[" * 100_000 + b"]" * 100_000 + b"}", Reason.NOT_JSON),
        (b'["type"]', Reason.NOT_AN_ENTRY),
        (b"null", Reason.NOT_AN_ENTRY),
        (b"{}", Reason.NOT_AN_ENTRY),
        (b'{"type":""}', Reason.NOT_AN_ENTRY),
        (b'{"type":7}', Reason.NOT_AN_ENTRY),
        (b"\0\0\0\0", Reason.NUL_BYTES),
    ],
    ids=lambda value: value[:24] if isinstance(value, bytes) else str(value),
)
def test_a_broken_line_is_reported_and_skipped_and_its_neighbours_survive(
    write: Write, said: Said, broken: bytes, reason: Reason
) -> None:
    path = write(said("a", None), broken + b"\n", said("b", "a"))
    offset = path.read_bytes().index(b"\n" + broken) + 1

    read = read_session(path)

    assert ids(read) == ["a", "b"]
    assert [entry.line for entry in read.entries] == [2, 4]
    assert read.problems == (LineProblem(3, offset, reason, kept=False),)


@pytest.mark.parametrize(
    ("damage", "text", "reason"),
    [
        (lambda line: line.replace(b"words", b"w\xffrds"), "w\ufffdrds", Reason.INVALID_UTF8),
        (lambda line: line.replace(b"words", rb"w\ud83drds"), "w\ufffdrds", Reason.LONE_SURROGATE),
        (lambda line: line.replace(b"words", rb"w\uDE00\ud83d\ude00"), "w\ufffd😀", Reason.LONE_SURROGATE),
        (lambda line: line.replace(b"words", rb"\\ud83d \ud83d"), "\\ud83d \ufffd", Reason.LONE_SURROGATE),
        (lambda line: b"\0\0\0" + line, "words", Reason.NUL_BYTES),
        (lambda line: line.replace(b'"type":"message"', b'"type":"message","summary":7'), "words", Reason.WRONG_TYPE),
        (lambda line: line.replace(b'"role"', b'"usage":{"totalTokens":"7"},"role"'), "words", Reason.WRONG_TYPE),
        (lambda line: line.replace(b'"role"', b'"usage":7,"role"'), "words", Reason.WRONG_TYPE),
        (lambda line: line.replace(b'"text":"words"', b'"text":"words","id":{}'), "words", Reason.WRONG_TYPE),
        (lambda line: line.replace(b"[{", b'[7,null,{"type":["text"]},{'), "words", Reason.WRONG_TYPE),
    ],
)
def test_a_line_that_can_be_mended_is_reported_and_read(
    write: Write, said: Said, damage: Callable[[bytes], bytes], text: str, reason: Reason
) -> None:
    path = write(said("a", None), said("b", "a"), said("c", "b"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], damage(lines[2]), lines[3]]))

    read = read_session(path)

    assert [entry.message.text for entry in read.entries if entry.message] == ["words", text, "words"]
    assert [entry.parent_id for entry in read.entries] == [None, "a", "b"]
    assert read.problems == (LineProblem(3, len(lines[0] + lines[1]), reason, kept=True),)


def test_a_field_of_the_wrong_type_is_absent_and_the_rest_of_its_line_is_there(write: Write) -> None:
    call = {"type": "toolCall", "id": 5, "name": "read", "arguments": "path", "data": None}
    message = {"role": "assistant", "content": [call], "timestamp": True, "isError": "yes", "model": "m"}
    path = write(
        {"type": "message", "id": "a", "parentId": None, "timestamp": [], "message": message, "data": {"a": 1}}
    )

    read = read_session(path)

    (entry,) = read.entries
    assert entry.message is not None
    assert entry.message.parts == (ToolCallPart("", "read", {}),)
    assert (entry.at, entry.message.at, entry.message.is_error, entry.message.model) == (None, None, False, "m")
    assert [problem.reason for problem in read.problems] == [Reason.WRONG_TYPE]


@pytest.mark.parametrize("content", [7, {"type": "text"}, True])
def test_content_that_is_neither_text_nor_blocks_counts_as_none(write: Write, content: object) -> None:
    read = read_session(write({"type": "message", "id": "a", "message": {"role": "user", "content": content}}))

    assert [(e.id, e.message and e.message.parts) for e in read.entries] == [("a", ())]


def test_custom_data_survives_the_mending_of_its_line(write: Write) -> None:
    read = read_session(
        write(b'{"type":"custom","id":"a","summary":7,"customType":"om.gate","data":{"on":[true,1.5]}}\n')
    )

    assert [(e.custom_type, e.data) for e in read.entries] == [("om.gate", '{"on":[true,1.5]}')]


@pytest.mark.parametrize("newline", [b"\r\n", b"\n\n\n", b" \t\n"])
def test_other_line_breaks_and_blank_lines_are_no_problem(write: Write, said: Said, newline: bytes) -> None:
    path = write(said("a", None), said("b", "a"))
    path.write_bytes(path.read_bytes().replace(b"\n", newline))

    read = read_session(path)

    assert (ids(read), read.problems) == (["a", "b"], ())


def test_a_byte_order_mark_is_no_problem(write: Write, said: Said) -> None:
    path = write(said("a", None))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    read = read_session(path)

    assert read.header is not None
    assert (ids(read), read.problems) == (["a"], ())


@pytest.mark.parametrize(
    "in_two", [b'{"type":\n"z"}', b'{"type":"z","data":\n{"b":1}}', b'{"type":"z","data":{}\n,"b":1}']
)
def test_two_objects_in_one_line_and_one_object_in_two_never_shift_the_others(
    write: Write, said: Said, in_two: bytes
) -> None:
    path = write(said("a", None), b'{"type":"x"}{"type":"y"}\n' + in_two + b"\n", said("b", "a"))

    read = read_session(path)

    assert {(entry.id, entry.line) for entry in read.entries} >= {("a", 2), ("b", 6)}
    assert {3, 4, 5} - {entry.line for entry in read.entries} == {problem.line for problem in read.problems}
    assert [problem.line for problem in read.problems][:2] == [3, 4]


def test_the_children_of_a_lost_parent_stay_together(write: Write, said: Said) -> None:
    path = write(said("a", None), b"lost\n", said("c", "b"), b"lost too\n", said("d", "b"))

    read = read_session(path)

    assert [(entry.id, entry.parent_id) for entry in read.entries] == [("a", None), ("c", "a"), ("d", "a")]


def test_an_entry_whose_parent_was_lost_hangs_on_the_entry_before_the_gap(write: Write, said: Said) -> None:
    path = write(said("a", None), said("b", "a"), b'{"id":"c","paren\n', said("d", "c"), said("e", "a"), said("f", "c"))

    read = read_session(path)

    assert [entry.id for entry in read.branch("d").path()] == ["a", "b", "d"]
    assert [entry.id for entry in read.branch("f").path()] == ["a", "b", "f"]
    assert [entry.id for entry in read.branch("e").path()] == ["a", "e"]
    assert [(p.line, p.reason) for p in read.problems] == [
        (4, Reason.NOT_JSON),
        (5, Reason.LOST_PARENT),
        (7, Reason.LOST_PARENT),
    ]


def test_an_unknown_parent_in_a_sound_file_stays_as_it_is(write: Write, said: Said) -> None:
    read = read_session(write(said("a", "elsewhere")))

    assert (read.entries[0].parent_id, read.problems) == ("elsewhere", ())


def test_of_two_entries_with_one_id_the_later_stands_in_the_branch(write: Write, said: Said) -> None:
    path = write(said("a", None, "old"), said("b", "a"), said("a", None, "new"))

    read = read_session(path)

    assert ids(read) == ["a", "b", "a"]
    assert [entry.message.text for entry in read.branch().path() if entry.message] == ["new"]
    assert [(p.line, p.reason, p.kept) for p in read.problems] == [(4, Reason.DUPLICATE_ID, True)]


def test_entries_that_are_each_others_parents_end_the_walk(write: Write, said: Said) -> None:
    read = read_session(write(said("a", "b"), said("b", "a")))

    assert [entry.id for entry in read.branch().path()] == ["a", "b"]


def test_a_second_header_is_reported_and_changes_nothing(write: Write, said: Said) -> None:
    read = read_session(write(said("a", None), {"type": "session", "id": "s2"}, said("b", "a")))

    assert read.header is not None
    assert (read.header.id, ids(read)) == ("s1", ["a", "b"])
    assert [p.reason for p in read.problems] == [Reason.SECOND_HEADER]


@pytest.mark.parametrize("header", [b'{"type":"session","vers\n', {"type": "session", "version": 3}])
def test_a_broken_header_costs_the_header_only(write: Write, said: Said, header: object) -> None:
    read = read_session(write(said("a", None), said("b", "a"), header=header))

    assert (read.header, ids(read)) == (None, ["a", "b"])
    assert [(p.line, p.kept) for p in read.problems] == [(1, False)]


def test_a_torn_last_line_is_reported_and_not_counted_as_read(write: Write, said: Said) -> None:
    whole = write(said("a", None)).read_bytes()
    path = write(said("a", None), b'{"type":"message","id":"b","mess')

    read = read_session(path)

    assert (ids(read), read.offset) == (["a"], len(whole))
    assert read.problems == (LineProblem(3, len(whole), Reason.TORN, kept=False),)


def test_a_whole_last_line_without_its_newline_is_read(write: Write, said: Said) -> None:
    path = write(said("a", None), said("b", "a"))
    data = path.read_bytes()
    path.write_bytes(data[:-1])

    read = read_session(path)

    assert (ids(read), read.problems) == (["a", "b"], ())
    assert read.offset == data.index(b'{"type":"message","id":"b"')


def test_no_problem_ever_shows_a_lines_content(write: Write, said: Said) -> None:
    read = read_session(write(said("a", None), b'{"type":"message","key":"hunter2\n'))

    assert "hunter2" not in repr(read.problems)


def test_problems_come_in_file_order_with_the_entries(write: Write, said: Said) -> None:
    path = write(said("a", None), b"broken\n", said("b", "a"))

    _, a, broken, b = [item for item, _ in iter_session(path)]

    assert [getattr(item, "line", 0) for item in (a, broken, b)] == [2, 3, 4]
