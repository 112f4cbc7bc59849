"""The list of suppressed memories: sealed, shared, never in the way."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindbrain.store import StoreError, Suppressed
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import seal_document
from hindbrain.store._suppressed import MemoryIdError, SuppressedFullError, SuppressedNewerError, _file
from hindbrain.store.testing import Fault, FaultyLayer, MemoryLayer

KEY = SealKey(b"k" * 32)
OTHER = SealKey(b"o" * 32)
FOLDER = Path("/state")
NAME = "suppressed.json"


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir.open(OsFileLayer(), tmp_path / "state")


def test_what_is_added_is_there_for_everybody_until_it_is_removed(state: StateDir) -> None:
    mine, theirs = Suppressed(state, KEY), Suppressed(state, KEY)
    assert mine.ids() == frozenset()
    assert mine.add(" m1 ")
    assert theirs.add("m2")
    assert not theirs.add("m1")
    assert mine.ids() == theirs.ids() == {"m1", "m2"}
    assert mine.remove("m1")
    assert not mine.remove("m1")
    assert theirs.ids() == {"m2"}
    mine.close()


def test_each_is_told_with_the_time_oldest_first(state: StateDir) -> None:
    times = itertools.count(9)
    suppressed = Suppressed(state, KEY, now=lambda: datetime(2026, 3, 1, next(times), tzinfo=UTC))
    suppressed.add("b")
    suppressed.add("a")
    assert [(each.id, each.at) for each in suppressed.all()] == [
        ("b", "2026-03-01T09:00:00.000Z"),
        ("a", "2026-03-01T10:00:00.000Z"),
    ]


@pytest.mark.parametrize("wrong", ["", "  ", "a\nb", "a\x00", "x" * 513, "\ud800"])
def test_an_id_of_the_wrong_form_is_refused_and_not_repeated(state: StateDir, wrong: str) -> None:
    for change in (Suppressed(state, KEY).add, Suppressed(state, KEY).remove):
        with pytest.raises(MemoryIdError) as caught:
            change(wrong)
        assert not wrong.strip() or wrong not in str(caught.value)
    assert not state.file(NAME).exists()


@pytest.mark.parametrize(
    "data",
    [
        b"{broken",
        b'{"version":1,"suppressed":[{"id":"m1","at":"x"}]}\n',
        seal_document(OTHER, "suppressed", 1, {"suppressed": [{"id": "m1", "at": "x"}]}),
        seal_document(KEY, "session-meta/x", 1, {"suppressed": [{"id": "m1", "at": "x"}]}),
        seal_document(KEY, "suppressed", 1, {"suppressed": [{"id": "m1"}]}),
        seal_document(KEY, "suppressed", 1, {"suppressed": [{"id": 7, "at": "x"}]}),
        seal_document(KEY, "suppressed", 1, {"other": []}),
    ],
)
def test_a_list_that_cannot_be_believed_hides_nothing_is_told_once_and_put_aside(state: StateDir, data: bytes) -> None:
    told: list[str] = []
    suppressed = Suppressed(state, KEY, notify=told.append)
    state.file(NAME).write_bytes(data)
    assert suppressed.ids() == suppressed.ids() == frozenset()
    assert suppressed.all() == ()
    assert len(told) == 1
    assert not suppressed.remove("m1")
    assert state.file(NAME).read_bytes() == data
    suppressed.add("m2")
    assert suppressed.ids() == {"m2"}
    (aside,) = state.path.glob(f"{NAME}.broken-*")
    assert aside.read_bytes() == data


def test_a_list_that_breaks_under_a_session_keeps_what_it_knew(state: StateDir, tmp_path: Path) -> None:
    told: list[str] = []
    suppressed = Suppressed(state, KEY, notify=told.append)
    suppressed.add("m1")
    assert suppressed.ids() == {"m1"}
    state.file(NAME).write_bytes(b"{")
    assert suppressed.ids() == {"m1"}
    state.file(NAME).unlink()
    state.file(NAME).symlink_to(tmp_path)
    assert suppressed.ids() == {"m1"}
    assert suppressed.all() == ()
    assert len(told) == 1


def test_a_newer_versions_list_is_left_as_it_is(state: StateDir) -> None:
    told: list[str] = []
    data = seal_document(KEY, "suppressed", 2, {"suppressed": []})
    state.file(NAME).write_bytes(data)
    suppressed = Suppressed(state, KEY, notify=told.append)
    assert suppressed.ids() == frozenset()
    for use in (suppressed.all, lambda: suppressed.add("m1"), lambda: suppressed.remove("m1")):
        with pytest.raises(SuppressedNewerError):
            use()
    assert state.file(NAME).read_bytes() == data
    assert len(told) == 1


def test_the_list_has_an_end(state: StateDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_file, "MOST", 2)
    suppressed = Suppressed(state, KEY)
    suppressed.add("a")
    suppressed.add("b")
    with pytest.raises(SuppressedFullError):
        suppressed.add("c")
    assert suppressed.remove("a")
    assert suppressed.add("c")


def test_two_who_write_at_once_lose_nothing(state: StateDir) -> None:
    writers = [Suppressed(state, KEY) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: [writers[n].add(f"{n}-{each}") for each in range(5)], range(4)))
    assert len(writers[0].ids()) == 20


def test_a_disk_that_refuses_leaves_the_list_whole() -> None:
    for number in itertools.count(1):
        disk = MemoryLayer()
        Suppressed(StateDir.open(disk, FOLDER), KEY).add("m1")
        broken = FaultyLayer(disk, fail_at=number, fault=Fault.EIO)
        suppressed = Suppressed(StateDir(broken, FOLDER), KEY)
        try:
            done = suppressed.add("m2")
        except StoreError:
            done = False
        found = Suppressed(StateDir(disk, FOLDER), KEY).ids()
        assert found == {"m1", "m2"} or (found == {"m1"} and not done)
        if not broken.fired:
            break
    assert number > 5
