"""The last recall on a disk: whole or not at all, and read only where it is one."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.store import LastRecall, StoreError
from hindbrain.store._files import OsFileLayer, StateDir, StateDirError, StateFileError
from hindbrain.store._last_recall import LastRecallForeignError, LastRecallUnreadableError, place_of
from hindbrain.store.testing import Fault, FaultyLayer, MemoryLayer

FOLDER = Path("/repo/.pi/hindsight")


def body(text: str) -> dict[str, Any]:
    return {"createdAt": "2026-03-01T09:00:00.000Z", "query": text, "blocks": [], "failed": 0}


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir.open(OsFileLayer(), tmp_path / ".pi" / "hindsight")


def file_of(state: StateDir, named: str | None = None, **more: Any) -> LastRecall:
    return LastRecall(state, place_of(state.path, root=state.path.parents[1], named=named), **more)


def test_what_was_written_last_is_read(state: StateDir) -> None:
    file = file_of(state)
    assert file.read() is None
    assert file.write(body("one"))
    assert file.write(body("two \ud800 \u00e9"))
    found = file.read()
    assert found is not None
    assert found["query"] == "two ? \u00e9"
    assert LastRecall.at(state.path).read() == found


def test_a_folder_that_is_not_there_has_none_and_is_not_made(tmp_path: Path) -> None:
    assert LastRecall.at(tmp_path / ".pi" / "hindsight", root=tmp_path).read() is None
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_refuses_leaves_the_old_or_the_new_one_whole() -> None:
    for number in itertools.count(1):
        disk = MemoryLayer()
        state = StateDir.open(disk, FOLDER)
        file_of(state).write(body("one"))
        broken = FaultyLayer(disk, fail_at=number, fault=Fault.EIO)
        try:
            done = file_of(StateDir(broken, FOLDER)).write(body("two"))
        except StoreError:
            done = False
        found = file_of(state).read()
        assert found is not None
        assert found["query"] in ({"two"} if done else {"one", "two"})
        if not broken.fired:
            break
    assert number > 5


def test_a_disk_that_writes_in_pieces_gets_all_of_it() -> None:
    for number in itertools.count(1):
        disk = MemoryLayer()
        file_of(StateDir.open(disk, FOLDER)).write(body("one"))
        broken = FaultyLayer(disk, fail_at=number, fault=Fault.SHORT_WRITE)
        assert file_of(StateDir(broken, FOLDER)).write(body("two"))
        found = file_of(StateDir(disk, FOLDER)).read()
        assert found is not None
        assert found["query"] == "two"
        if not broken.fired:
            break


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b'{"createdAt":1,"blocks":[],"failed":0}', b"\xff", b"[" * 100_000]
)
def test_what_is_no_recall_is_not_read_and_put_aside_by_the_next_write(state: StateDir, data: bytes) -> None:
    told: list[str] = []
    file = file_of(state, notify=told.append)
    state.file("last-recall.json").write_bytes(data)
    with pytest.raises(LastRecallUnreadableError):
        file.read()
    assert file.write(body("one"))
    (aside,) = state.path.glob("last-recall.json.broken-*")
    assert aside.read_bytes() == data
    assert len(told) == 1


def test_a_link_in_the_state_folder_is_put_aside_and_not_followed(state: StateDir, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine", "utf-8")
    state.file("last-recall.json").symlink_to(tmp_path / "other")
    with pytest.raises(StateFileError):
        file_of(state).read()
    assert file_of(state).write(body("one"))
    assert (tmp_path / "other").read_text("utf-8") == "mine"
    assert not state.file("last-recall.json").is_symlink()


def test_at_a_place_of_the_users_choice_another_file_is_left_alone(state: StateDir, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{}", "utf-8")
    with pytest.raises(LastRecallForeignError):
        file_of(state, "package.json").write(body("one"))
    (tmp_path / "linked.json").symlink_to(tmp_path / "package.json")
    with pytest.raises(StateFileError):
        file_of(state, "linked.json").write(body("one"))
    (tmp_path / "link").symlink_to(tmp_path)
    beyond = file_of(state, "link/x.json")
    with pytest.raises(StateDirError):
        beyond.write(body("one"))
    with pytest.raises(StateDirError):
        beyond.read()
    assert (tmp_path / "package.json").read_text("utf-8") == "{}"
    assert not (tmp_path / "x.json").exists()


def test_an_older_programs_file_is_read_and_replaced(state: StateDir) -> None:
    old = {"createdAt": "2026-01-01T00:00:00.000Z", "query": "q", "rendered": "", "blocks": [], "failed": 0}
    state.file("last-recall.json").write_text(json.dumps(old, indent=2), "utf-8")
    assert file_of(state).read() == old
    assert file_of(state).write(body("one"))
    assert list(state.path.glob("*.broken-*")) == []


def test_leftovers_of_a_killed_process_are_swept(state: StateDir) -> None:
    left = state.path / "last-recall.json.1-0.tmp"
    left.write_text("half", "utf-8")
    assert file_of(state).write(body("one"))
    assert not left.exists()


def test_where_it_is_no_longer_wanted_nothing_changes(state: StateDir) -> None:
    file = file_of(state)
    file.write(body("one"))
    assert file.write(body("two"), wanted=lambda: False) is False
    found = file.read()
    assert found is not None
    assert found["query"] == "one"
    assert sorted(p.name for p in state.path.glob("last-recall.json*") if p.is_file()) == ["last-recall.json"]
    file.close()
