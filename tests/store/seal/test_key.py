"""The key is made once, and all who ask get the same."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from hindbrain.store import StoreFullError, StoreUnavailableError
from hindbrain.store._files import FileLayer, OsFileLayer, StateFileError
from hindbrain.store._seal import SealKey, SealKeyError, seal_key
from hindbrain.store.testing import Fault, FaultyLayer, ForwardingLayer, Killed, MemoryLayer, RecordingLayer, replay

P = ParamSpec("P")
T = TypeVar("T")

PATH = Path("/data/seal.key")
SECRETS = [bytes([number]) * 32 for number in range(1, 5)]


def make(layer: FileLayer, number: int = 0) -> SealKey:
    return seal_key(layer, PATH, lambda size: SECRETS[number][:size])


def test_it_is_made_once_and_the_same_ever_after() -> None:
    disk = MemoryLayer()
    assert make(disk) == make(disk, 1) == SealKey(SECRETS[0])
    assert disk.files() == {PATH: SECRETS[0]}


def test_it_is_random_and_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    one = seal_key(OsFileLayer(), tmp_path / "data" / "seal.key")
    other = seal_key(OsFileLayer(), tmp_path / "other" / "seal.key")
    os.umask(before)
    assert one != other
    assert len(one.secret) == 32
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "data" / "seal.key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["seal.key"]


@pytest.mark.parametrize("data", [b"", b"x" * 31, b"x" * 33, b"x" * 100_000])
def test_one_of_another_size_is_refused_and_never_replaced(data: bytes) -> None:
    disk = MemoryLayer.holding({PATH: data})
    with pytest.raises(SealKeyError, match="left as it is and nothing was sealed") as caught:
        make(disk)
    assert str(PATH) in str(caught.value)
    assert disk.files() == {PATH: data}


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(SECRETS[0])
    (tmp_path / "seal.key").symlink_to(tmp_path / "target")
    with pytest.raises(StateFileError):
        seal_key(OsFileLayer(), tmp_path / "seal.key")


def test_one_that_vanishes_again_is_not_used() -> None:
    class Vanishing(ForwardingLayer):
        def link(self, source: Path, target: Path) -> None:
            """Somebody removed it right away."""

    with pytest.raises(SealKeyError):
        make(Vanishing(MemoryLayer()))


class CutIn(ForwardingLayer):
    """Another process makes its key before operation number ``at``."""

    def __init__(self, disk: MemoryLayer, at: int) -> None:
        super().__init__(disk)
        self.disk, self.at, self.count = disk, at, 0
        self.other: SealKey | None = None

    def around(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self.count += 1
        if self.count == self.at:
            self.other = make(self.disk, 1)
        return call(*args, **kwargs)


def test_wherever_another_process_cuts_in_both_get_the_same() -> None:
    for number in itertools.count(1):
        layer = CutIn(MemoryLayer(), number)
        mine = make(layer)
        if number > layer.count:
            break
        assert mine == layer.other
    assert number > 8


def faults(fault: Fault) -> Iterator[FaultyLayer]:
    for number in itertools.count(1):
        layer = FaultyLayer(MemoryLayer(), fail_at=number, fault=fault)
        yield layer
        if not layer.fired:
            break
    assert number > 8


@pytest.mark.parametrize("fault", [Fault.EINTR, Fault.SHORT_WRITE])
def test_signals_and_short_writes_change_nothing(fault: Fault) -> None:
    for layer in faults(fault):
        assert make(layer) == SealKey(SECRETS[0])


@pytest.mark.parametrize(("fault", "error"), [(Fault.EIO, StoreUnavailableError), (Fault.ENOSPC, StoreFullError)])
def test_a_disk_that_refuses_is_told_and_the_next_attempt_is_sound(fault: Fault, error: type[Exception]) -> None:
    for layer in faults(fault):
        with suppress(error):
            make(layer)
            assert not layer.fired or layer.inner.lstat(PATH)
        assert make(layer.inner, 1) in (SealKey(SECRETS[0]), SealKey(SECRETS[1]))


@pytest.mark.parametrize("fault", [Fault.KILL, Fault.TORN_KILL])
def test_a_kill_at_any_moment_leaves_a_whole_key_or_none(fault: Fault) -> None:
    for layer in faults(fault):
        with suppress(Killed):
            make(layer)
        assert make(layer.inner, 1) in (SealKey(SECRETS[0]), SealKey(SECRETS[1]))


def test_a_loss_of_power_leaves_a_whole_key_or_none_and_once_it_was_given_out_the_same() -> None:
    recording = RecordingLayer(MemoryLayer())
    make(recording)
    for done, disk in replay(recording.operations):
        for state in disk.crash_states():
            found = make(state, 1)
            assert found == SealKey(SECRETS[0]) or (found == SealKey(SECRETS[1]) and done < len(recording.operations))


def test_one_that_was_found_is_durable_before_it_is_used() -> None:
    layer = next(layer for layer in faults(Fault.KILL) if killed_with_its_key_named(layer))
    found = make(layer.inner, 1)
    assert isinstance(layer.inner, MemoryLayer)
    assert {make(state, 2) for state in layer.inner.crash_states()} == {found}


def killed_with_its_key_named(layer: FaultyLayer) -> bool:
    with suppress(Killed):
        make(layer)
    assert isinstance(layer.inner, MemoryLayer)
    return PATH in layer.inner.files()


def test_real_processes_that_race_agree(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from hindbrain.store._files import OsFileLayer;"
        "from hindbrain.store._seal import seal_key; print('ready', flush=True); sys.stdin.readline();"
        "print(seal_key(OsFileLayer(), Path(sys.argv[1])).secret.hex())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "data" / "seal.key")]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    assert [process.stdout.readline() for process in processes if process.stdout] == ["ready\n"] * 6
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert len({process.communicate()[0] for process in processes}) == 1
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["seal.key"]
