"""Whole or not at all."""

from __future__ import annotations

import errno
import itertools
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindbrain.store._files import (
    FileLayer,
    OsFileLayer,
    atomic_replace,
    close_file,
    create_temporary,
    open_state,
    quarantine,
    remove_leftovers,
    write_all,
    write_new,
)
from hindbrain.store.testing import Fault, FaultyLayer, ForwardingLayer, Killed, MemoryLayer, RecordingLayer, replay

AT = Path("/state")
FILE = AT / "f.json"
OLD, NEW = b"old" * 100, b"new" * 200
NOW = datetime(2030, 1, 2, tzinfo=UTC)


class SmallBites(ForwardingLayer):
    """A disk that takes at most three bytes at a time, and with ``most=0`` none."""

    most = 3

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return super().write(fd, data[: self.most])


def holding() -> MemoryLayer:
    return MemoryLayer.holding({FILE: OLD})


def test_every_byte_is_written_however_few_the_disk_takes_at_a_time() -> None:
    disk = holding()
    fd = disk.open(FILE, os.O_WRONLY | os.O_TRUNC)
    write_all(SmallBites(disk), fd, NEW)
    assert disk.files()[FILE] == NEW


def test_a_disk_that_takes_nothing_is_an_error_not_a_loop() -> None:
    disk = holding()
    layer = SmallBites(disk)
    layer.most = 0
    with pytest.raises(OSError, match="took nothing") as caught:
        write_all(layer, disk.open(FILE, os.O_WRONLY), NEW)
    assert caught.value.errno == errno.EIO


def test_a_replacement_syncs_the_file_then_renames_then_syncs_the_folder() -> None:
    recording = RecordingLayer(holding())
    atomic_replace(recording, FILE, NEW)
    assert [o.name for o in recording.changes()] == ["open", "write", "fsync", "replace", "sync_dir"]
    assert recording.operations[-1].args == (AT,)
    assert recording.count("close") == 1


def test_a_replacement_leaves_a_private_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.touch(0o644)
    before = os.umask(0)
    atomic_replace(OsFileLayer(), path, NEW)
    os.umask(before)
    assert path.read_bytes() == NEW
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "f"
    target.write_bytes(OLD)
    path.symlink_to(target)
    atomic_replace(OsFileLayer(), path, NEW)
    assert (path.is_symlink(), path.read_bytes(), target.read_bytes()) == (False, NEW, OLD)


@pytest.mark.parametrize("fault", [Fault.EIO, Fault.ENOSPC])
def test_a_replacement_that_fails_says_so_and_leaves_the_old_file_and_no_other(fault: Fault) -> None:
    for number in itertools.count(1):
        disk = holding()
        layer = FaultyLayer(disk, fail_at=number, fault=fault)
        failed = False
        try:
            atomic_replace(layer, FILE, NEW)
        except OSError as error:
            failed = error.errno == fault.value
        assert failed == layer.fired
        last = disk.files()
        assert last == {FILE: NEW} or (failed and last == {FILE: OLD})
        if not layer.fired:
            break
    assert number > 5


@pytest.mark.parametrize("fault", [Fault.EINTR, Fault.SHORT_WRITE])
def test_a_replacement_goes_on_after_a_signal_or_a_short_write(fault: Fault) -> None:
    for number in itertools.count(1):
        disk = holding()
        layer = FaultyLayer(disk, fail_at=number, fault=fault)
        atomic_replace(layer, FILE, NEW)
        assert disk.files() == {FILE: NEW}
        if not layer.fired:
            break
    assert number > 5


@pytest.mark.parametrize("fault", [Fault.KILL, Fault.TORN_KILL])
def test_a_kill_at_any_moment_leaves_the_old_or_the_new_file_whole(fault: Fault) -> None:
    for number in itertools.count(1):
        disk = holding()
        layer = FaultyLayer(disk, fail_at=number, fault=fault)
        with suppress(Killed):
            atomic_replace(layer, FILE, NEW)
        assert disk.files()[FILE] in {OLD, NEW}
        remove_leftovers(disk, FILE)
        assert disk.files().keys() == {FILE}
        if not layer.fired:
            break
    assert number > 5


def test_a_loss_of_power_at_any_moment_leaves_the_old_or_the_new_file_whole() -> None:
    recording = RecordingLayer(holding())
    atomic_replace(recording, FILE, NEW)
    states = 0
    for done, disk in replay(recording.operations, holding()):
        for state in disk.crash_states():
            states += 1
            assert state.files()[FILE] in ({NEW} if done == len(recording.operations) else {OLD, NEW})
    assert states > len(NEW)


def test_without_the_sync_of_the_folder_a_loss_of_power_would_take_the_new_file_back() -> None:
    class Forgetful(SmallBites):
        most = 1000

        def sync_dir(self, path: Path) -> None:
            """The planted bug."""

    disk = holding()
    atomic_replace(Forgetful(disk), FILE, NEW)
    assert {state.files()[FILE] for state in disk.crash_states()} == {OLD, NEW}


def test_two_temporaries_of_one_process_never_meet() -> None:
    disk = holding()
    first, second = create_temporary(disk, FILE, OLD), create_temporary(disk, FILE, NEW)
    assert disk.files() == {FILE: OLD, first: OLD, second: NEW}


def test_a_temporary_that_another_process_with_our_number_left_is_passed_by() -> None:
    disk = holding()
    one = create_temporary(disk, FILE, OLD)
    stem, _, number = one.stem.rpartition("-")
    taken = one.with_name(f"{stem}-{int(number) + 1}.tmp")
    write_new(disk, taken, b"left", durable=False)
    atomic_replace(disk, FILE, NEW)
    assert disk.files() == {FILE: NEW, one: OLD, taken: b"left"}


def test_a_new_file_never_takes_the_place_of_another() -> None:
    disk = holding()
    with pytest.raises(FileExistsError):
        write_new(disk, FILE, NEW, durable=True)
    assert disk.files() == {FILE: OLD}


def test_only_the_temporaries_of_that_file_are_left_over() -> None:
    others = {FILE: b"", AT / "f.json.dead.jsonl": b"", AT / "g.json.1-1.tmp": b"", AT / "f.json.x-1.tmp": b""}
    disk = MemoryLayer.holding({**others, AT / "f.json.12-3.tmp": b"half"})
    remove_leftovers(disk, FILE)
    assert disk.files() == others


def test_a_broken_file_is_put_aside_under_the_time_and_kept_for_ever() -> None:
    recording = RecordingLayer(holding())
    first = quarantine(recording, FILE, NOW)
    assert recording.changes()[-1].name == "sync_dir"
    atomic_replace(recording, FILE, NEW)
    second = quarantine(recording, FILE, NOW)
    assert (first.name, second.name) == ("f.json.broken-1893542400000", "f.json.broken-1893542400001")
    disk = recording.inner
    assert isinstance(disk, MemoryLayer)
    assert [state.files() for state in disk.crash_states()] == [{first: OLD, second: NEW}]


def test_an_interrupted_close_has_closed() -> None:
    class Interrupted(SmallBites):
        def close(self, fd: int) -> None:
            super().close(fd)
            raise InterruptedError

    disk = holding()
    layer: FileLayer = Interrupted(disk)
    fd = open_state(layer, FILE, os.O_RDONLY)
    close_file(layer, fd)
    assert open_state(disk, FILE, os.O_RDONLY) == fd
