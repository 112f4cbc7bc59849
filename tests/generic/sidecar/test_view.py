"""Following a host's session: what is read, what is asked of the host, and what that costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Branch, Entry, JsonValue, Message, TextPart
from hindbrain.generic.sidecar._view import Line, Missing, SessionView

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/p"}


def raw(entry_id: str, parent: str | None, text: str = "", role: str = "user") -> dict[str, JsonValue]:
    message = {"role": role, "content": text or f"words of {entry_id}", "timestamp": 1_767_323_045_000}
    return {"type": "message", "id": entry_id, "parentId": parent, "timestamp": HEADER["timestamp"], "message": message}


def write(file: Path, *lines: dict[str, JsonValue]) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)


class Asked:
    """A host that has entries which are in no file, and gives them in pieces."""

    def __init__(self, *entries: dict[str, JsonValue], piece: int = 2) -> None:
        self.entries = list(entries)
        self.piece = piece
        self.after: list[str | None] = []

    async def __call__(self, after: str | None) -> Missing:
        self.after.append(after)
        ids = [entry["id"] for entry in self.entries]
        rest = self.entries[ids.index(after) + 1 :] if after in ids else self.entries
        piece = rest[: self.piece]
        return Missing(entries=piece, leaf=ids[-1] if ids else None, more=len(rest) > len(piece))


def texts(view: SessionView) -> list[str]:
    return [message.text for message in view.messages]


async def test_what_a_host_appends_is_read_once(tmp_path: Path) -> None:
    file, host = tmp_path / "s.jsonl", Asked()
    view = SessionView(host)
    await view.look(str(file), None)
    assert (texts(view), view.branch.leaf_id) == ([], None)
    write(file, HEADER, raw("a", None))
    await view.look(str(file), "a")
    first = view.messages
    write(file, raw("b", "a", role="assistant"))
    await view.look(str(file), "b")
    assert texts(view) == ["words of a", "words of b"]
    assert view.messages is first
    assert host.after == []


async def test_a_branch_is_left_and_come_back_to(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    write(file, HEADER, raw("a", None), raw("b", "a"), raw("c", "b"), raw("d", "a"))
    view = SessionView(Asked())
    await view.look(str(file), "c")
    held = view.messages
    await view.look(str(file), "d")
    assert texts(view) == ["words of a", "words of d"]
    assert [message.text for message in held] == ["words of a", "words of b", "words of c"]
    await view.look(str(file), "c")
    assert texts(view) == ["words of a", "words of b", "words of c"]
    await view.look(str(file), None)
    assert view.branch.leaf_id == "d"


async def test_what_is_in_no_file_is_asked_of_the_host_in_pieces(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    write(file, HEADER, raw("a", None))
    host = Asked(raw("a", None), raw("b", "a"), raw("c", "b"), raw("d", "c"))
    view = SessionView(host)
    await view.look(str(file), "a")
    await view.look(str(file), "d")
    assert texts(view) == ["words of a", "words of b", "words of c", "words of d"]
    assert host.after == ["a", "c"]


async def test_a_session_without_a_file_is_asked_for_whole() -> None:
    view = SessionView(Asked(*(raw(f"e{n}", f"e{n - 1}" if n else None) for n in range(5))))
    await view.look(None, "e4")
    assert len(texts(view)) == 5


async def test_a_file_that_was_written_anew_or_is_another_is_read_from_its_beginning(tmp_path: Path) -> None:
    file, other = tmp_path / "s.jsonl", tmp_path / "t.jsonl"
    write(file, HEADER, raw("a", None, "a long first text"), raw("b", "a"))
    view = SessionView(Asked())
    await view.look(str(file), "b")
    file.unlink()
    write(file, HEADER, raw("x", None))
    await view.look(str(file), "x")
    assert texts(view) == ["words of x"]
    write(other, {**HEADER, "id": "t"}, raw("y", None))
    await view.look(str(other), None)
    assert texts(view) == ["words of y"]


async def test_a_host_that_does_not_answer_costs_nothing_that_was_read(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    write(file, HEADER, raw("a", None))

    async def broken(after: str | None) -> Missing:
        raise ConnectionError(after)

    view = SessionView(broken)
    await view.look(str(file), "a")
    with pytest.raises(ConnectionError):
        await view.look(str(file), "gone")
    assert texts(view) == ["words of a"]
    file.write_bytes(b"no session at all\n")
    with pytest.raises(ConnectionError):
        await view.look(str(file), "gone")


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[Entry], list[str | None]]:
    count = draw(st.integers(1, 12))
    entries = []
    for number in range(count):
        parent = draw(st.one_of(st.none(), st.integers(0, count + 1)))  # later ones make cycles, unknown ones gaps
        message = Message(role="user", parts=(TextPart(str(number)),)) if draw(st.booleans()) else None
        entries.append(
            Entry(id=str(number), parent_id=None if parent is None else str(parent), kind="message", message=message)
        )
    leaves = draw(st.lists(st.one_of(st.none(), st.integers(0, count).map(str)), min_size=1, max_size=6))
    return entries, leaves


@given(trees())
def test_a_line_that_moves_is_the_branch_it_moved_to(tree: tuple[list[Entry], list[str | None]]) -> None:
    entries, leaves = tree
    line, known = Line(), {entry.id: entry for entry in entries}
    for leaf in leaves:
        line.move(known, leaf)
        path = Branch(known, leaf).path()
        assert line.messages == [entry.message for entry in path if entry.message is not None]
