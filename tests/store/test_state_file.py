"""Sealed JSON files of the state folder, and being the only one who does a work."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from hindbrain.store import HostState, StateFileDistrustedError, StateFileNewerError, StoreError
from hindbrain.store._lock import LockBusyError
from hindbrain.store._seal import SealKey
from hindbrain.store._state_file import StateFile
from hindbrain.store.testing import Fault, FaultyLayer, Killed, MemoryLayer

NAME = "book.json"


@pytest.fixture
async def state(tmp_path: Path) -> AsyncIterator[HostState]:
    opened = await HostState.open(tmp_path / "state", seal_file=tmp_path / "seal.key")
    yield opened
    await opened.close()


async def test_what_was_written_is_read_and_nobody_else_may_read_it(state: HostState, tmp_path: Path) -> None:
    file = state.file(NAME)
    assert file.read() is None
    file.write({"a": [1, "ü\ud800"]})
    assert file.read() == {"a": [1, "ü\ud800"]}
    assert (tmp_path / "state" / NAME).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("change", [lambda b: b[:-3], lambda b: b.replace(b"1", b"2"), lambda _: b"", lambda _: b"{}"])
async def test_what_another_wrote_or_was_damaged_is_refused_and_left(
    state: HostState, tmp_path: Path, change: object
) -> None:
    file = state.file(NAME)
    file.write({"a": 1})
    data = change((tmp_path / "state" / NAME).read_bytes())  # type: ignore[operator]  # a function of bytes
    (tmp_path / "state" / NAME).write_bytes(data)
    with pytest.raises(StateFileDistrustedError):
        file.read()
    assert (tmp_path / "state" / NAME).read_bytes() == data


async def test_one_file_does_not_pass_for_another(state: HostState, tmp_path: Path) -> None:
    state.file(NAME).write({"a": 1})
    (tmp_path / "state" / NAME).rename(tmp_path / "state" / "other.json")
    with pytest.raises(StateFileDistrustedError):
        state.file("other.json").read()


async def test_a_newer_version_is_left_alone(state: HostState) -> None:
    state.file(NAME, version=2).write({"a": 1})
    with pytest.raises(StateFileNewerError):
        state.file(NAME).read()


async def test_a_link_is_not_followed(state: HostState, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("{}")
    (tmp_path / "state" / NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        state.file(NAME).read()


def test_killed_at_any_moment_the_old_or_the_new_is_there() -> None:
    for number in itertools.count(1):
        disk = MemoryLayer()
        disk.mkdir(Path("/s"), 0o700)
        StateFile(disk, Path("/s") / NAME, SealKey(b"k" * 32), 1).write({"a": "old"})
        layer = FaultyLayer(disk, fail_at=number, fault=Fault.TORN_KILL)
        with suppress(Killed):
            StateFile(layer, Path("/s") / NAME, SealKey(b"k" * 32), 1).write({"a": "new"})
        found = StateFile(disk, Path("/s") / NAME, SealKey(b"k" * 32), 1).read()
        assert found in ({"a": "old"}, {"a": "new"})
        if not layer.fired:
            break
    assert found == {"a": "new"}


async def test_only_one_does_a_work_at_a_time(state: HostState, tmp_path: Path) -> None:
    other = await HostState.open(tmp_path / "state", seal_file=tmp_path / "seal.key")
    async with state.alone("work") as hold:
        hold.renew()
        async with other.alone("another"):
            pass
        with pytest.raises(LockBusyError):
            async with other.alone("work"):
                pass
    async with other.alone("work"):
        pass
    await other.close()
