"""A file that its host is writing."""

from __future__ import annotations

import os
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from hindbrain.memory.sessions import (
    Reason,
    Restart,
    SessionFile,
    SessionFileError,
    SessionReader,
    Unreadable,
    read_session,
)

Write = Callable[..., Path]
Said = Callable[..., dict[str, Any]]
BLOCK = 128 * 1024
LINE = b'{"type":"message","id":"%s","parentId":"a","message":{"role":"user","content":"more"}}\n'
HEADER = b'{"type":"session","version":3,"id":"s1","cwd":"/p"}\n'


def slot(title: str) -> bytes:
    start = b'{"type":"title","v":1,"title":"%s","pad":"' % title.encode()
    return start + b" " * (256 - len(start) - 3) + b'"}\n'


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def ids(read: SessionFile) -> list[str]:
    return [entry.id for entry in read.entries]


def test_each_call_gives_what_is_new(write: Write, said: Said) -> None:
    path = write(said("a", None))
    reader = SessionReader(path)

    first = reader.read_new()
    append(path, LINE % b"b" + LINE % b"c")
    second, third = reader.read_new(), reader.read_new()

    assert [ids(read) for read in (first, second, third)] == [["a"], ["b", "c"], []]
    assert [entry.line for entry in second.entries] == [3, 4]
    assert first.header == second.header == third.header
    assert third.offset == second.offset == path.stat().st_size
    assert first.extended(second).extended(third) == read_session(path)


def test_a_torn_line_waits_for_its_end(write: Write, said: Said) -> None:
    path = write(said("a", None))
    whole = path.stat().st_size
    reader = SessionReader(path)
    append(path, (LINE % b"b")[:40])

    torn = reader.read_new()
    append(path, (LINE % b"b")[40:])

    assert (ids(torn), torn.problems, torn.offset) == (["a"], (), whole)
    assert ids(reader.read_new()) == ["b"]


def test_a_file_that_is_still_empty_gives_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.touch()
    reader = SessionReader(path)

    assert reader.read_new() == SessionFile()
    append(path, HEADER + LINE % b"b")
    assert ids(reader.read_new()) == ["b"]


def test_a_file_that_is_not_there_yet_can_be_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    reader = SessionReader(path)

    with pytest.raises(SessionFileError) as caught:
        reader.read_new()
    path.write_bytes(HEADER + LINE % b"b")

    assert caught.value.reason is Unreadable.MISSING
    assert ids(reader.read_new()) == ["b"]


def test_a_file_that_shrank_is_read_again(write: Write, said: Said) -> None:
    path = write(said("a", None), said("b", "a"))
    reader = SessionReader(path)
    before = reader.read_new()
    os.truncate(path, before.offset - 10)
    append(path, b"\n")
    os.truncate(path, path.stat().st_size - 20)
    append(path, b"\n")

    again = reader.read_new()

    assert again.restarted is Restart.SHRANK
    assert (ids(again), [p.reason for p in again.problems]) == (["a"], [Reason.NOT_JSON])
    assert before.extended(again) == again


def test_a_file_whose_earlier_bytes_changed_is_read_again(write: Write, said: Said) -> None:
    path = write(said("a", None), said("b", "a", "a long tool output"))
    reader = SessionReader(path)
    reader.read_new()
    inode = path.stat().st_ino
    path.write_bytes(write(said("a", None), said("b", "a", "cut"), said("c", "b", "x" * 200)).read_bytes())

    again = reader.read_new()

    assert path.stat().st_ino == inode
    assert (again.restarted, ids(again)) == (Restart.REWRITTEN, ["a", "b", "c"])
    assert reader.read_new() == SessionFile(header=again.header, offset=again.offset)


def test_another_session_in_the_same_file_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEADER + LINE % b"b" * 9)
    reader = SessionReader(path)
    reader.read_new()
    path.write_bytes(HEADER.replace(b"s1", b"s2") + LINE % b"b" * 9 + LINE % b"c")

    again = reader.read_new()

    assert again.header is not None
    assert (again.restarted, again.header.id, len(again.entries)) == (Restart.REWRITTEN, "s2", 10)


def test_a_file_that_was_replaced_is_read_again_even_if_it_begins_and_ends_the_same(tmp_path: Path) -> None:
    path, other = tmp_path / "s.jsonl", tmp_path / "new.jsonl"
    same = LINE % b"b" * 9
    path.write_bytes(HEADER + same + LINE % b"x" + same)
    reader = SessionReader(path)
    reader.read_new()
    other.write_bytes(HEADER + same + LINE % b"y" + same + LINE % b"z")
    other.replace(path)

    again = reader.read_new()

    assert again.restarted is Restart.REWRITTEN
    assert [ids(again)[9], ids(again)[-1]] == ["y", "z"]


def test_a_title_written_over_in_place_changes_the_title_only(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(slot("") + HEADER)
    reader = SessionReader(path)
    first = reader.read_new()
    with path.open("r+b") as file:
        file.write(slot("Retry with backoff"))
    append(path, LINE % b"b")

    second = reader.read_new()

    assert first.header is not None
    assert second.header is not None
    assert (first.header.title, second.header.title) == (None, "Retry with backoff")
    assert (first.header.host, second.restarted, ids(second)) == ("omp", None, ["b"])


def test_a_title_that_is_being_written_keeps_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(slot("old") + HEADER + LINE % b"b")
    reader = SessionReader(path)
    reader.read_new()
    with path.open("r+b") as file:
        file.write(b'{"type":"title","v":1,"title":"a \xff"new')

    read = reader.read_new()

    assert read.header is not None
    assert (read.header.title, read.restarted) == ("old", None)


def test_parents_problems_and_old_indexes_know_what_was_read_before(write: Write) -> None:
    path = write(
        {"type": "message", "message": {"role": "user", "content": "one"}}, header={"type": "session", "id": "o"}
    )
    reader = SessionReader(path)
    first = reader.read_new()
    append(path, b'broken\n{"type":"compaction","summary":"s","firstKeptEntryIndex":1}\n')

    second = reader.read_new()

    assert [(e.id, e.parent_id, e.first_kept_id) for e in second.entries] == [("line-4", "line-2", "line-2")]
    assert [p.line for p in second.problems] == [3]
    assert first.extended(second) == read_session(path)


def test_a_file_that_turns_out_to_be_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"type":"user","uuid":"1"}\n')
    reader = SessionReader(path)

    for _ in range(2):
        with pytest.raises(SessionFileError) as caught:
            reader.read_new()
        assert caught.value.reason is Unreadable.NOT_A_SESSION


class _Failing(FileIO):
    """A disk that fails from the ``good``-th read on."""

    good = 0

    def read(self, size: int | None = -1, /) -> bytes:
        if _Failing.good == 0:
            raise OSError(5, "Input/output error")
        _Failing.good -= 1
        return super().read(-1 if size is None else size)


@pytest.mark.parametrize("good", [0, 1, 2])
def test_a_disk_that_fails_in_the_middle_neither_loses_nor_repeats_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good: int
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEADER + b"".join(LINE % str(n).encode() for n in range(4 * BLOCK // len(LINE))))
    reader = SessionReader(path)
    _Failing.good = good
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", lambda path, *_, **__: _Failing(path))
        if good == 0:
            with pytest.raises(SessionFileError) as caught:
                reader.read_new()
            assert caught.value.reason is Unreadable.NO_ACCESS
            read = SessionFile()
        else:
            read = reader.read_new()
            assert 0 < read.offset < path.stat().st_size

    assert read.extended(reader.read_new()) == read_session(path)
