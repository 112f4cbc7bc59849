"""What the disk in memory says may be left after a loss of power."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hindbrain.store._files import FileLayer, OsFileLayer, atomic_replace, read_file, sync_dir
from hindbrain.store.testing import Fault, FaultyLayer, MemoryLayer, RecordingLayer, replay

AT = Path("/state")
FILE = AT / "f"
APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND


@pytest.fixture
def disk() -> MemoryLayer:
    disk = MemoryLayer()
    disk.make_folders(AT)
    return disk


def append(layer: FileLayer, data: bytes, *, sync: bool = False, path: Path = FILE) -> None:
    fd = layer.open(path, APPEND)
    layer.write(fd, data)
    if sync:
        layer.fsync(fd)
    layer.close(fd)


def left(disk: MemoryLayer, path: Path = FILE) -> set[bytes | None]:
    return {read_file(state, path, 1 << 20) for state in disk.crash_states()}


def test_what_is_settled_is_the_only_state(disk: MemoryLayer) -> None:
    append(disk, b"kept", sync=True)
    sync_dir(disk, AT)
    assert [state.files() for state in disk.crash_states()] == [{FILE: b"kept"}]


def test_synced_bytes_under_a_name_that_was_not_synced_may_be_lost_whole_but_not_in_part(disk: MemoryLayer) -> None:
    append(disk, b"kept", sync=True)
    assert left(disk) == {None, b"kept"}


def test_unsynced_bytes_may_arrive_up_to_any_byte_or_as_zeros(disk: MemoryLayer) -> None:
    append(disk, b"ab", sync=True)
    sync_dir(disk, AT)
    append(disk, b"cde")
    assert left(disk) == {b"ab", b"abc", b"abcd", b"abcde", b"ab\0\0\0"}


def test_a_sector_may_be_zero_or_old_while_the_ones_around_it_arrived() -> None:
    disk = MemoryLayer.holding({FILE: b"o" * 1536})
    fd = disk.open(FILE, os.O_WRONLY)
    disk.write(fd, b"n" * 1536)
    for middle in (b"\0", b"o"):
        assert b"n" * 512 + middle * 512 + b"n" * 512 in left(disk)


def test_of_two_writes_the_later_alone_may_arrive(disk: MemoryLayer) -> None:
    append(disk, b"", sync=True)
    sync_dir(disk, AT)
    append(disk, b"11")
    append(disk, b"22")
    assert {b"\x00\x0022", b"11", b"1122", b"112"} <= left(disk)


def test_a_cut_may_be_lost() -> None:
    disk = MemoryLayer.holding({FILE: b"abcdef"})
    fd = disk.open(FILE, os.O_WRONLY)
    disk.ftruncate(fd, 2)
    assert left(disk) == {b"abcdef", b"ab"}
    disk.fsync(fd)
    assert left(disk) == {b"ab"}


def test_a_long_write_is_cut_in_so_many_places_and_no_more(disk: MemoryLayer) -> None:
    append(disk, b"", sync=True)
    sync_dir(disk, AT)
    append(disk, bytes(range(1, 256)) * 257)
    assert 64 < len(left(disk)) < 400


def test_a_rename_may_be_lost_until_its_folder_is_synced() -> None:
    disk = MemoryLayer.holding({FILE: b"old", AT / "new": b"new"})
    disk.replace(AT / "new", FILE)
    assert left(disk) == {b"old", b"new"}
    sync_dir(disk, AT)
    assert left(disk) == {b"new"}


def test_one_change_of_names_may_be_lost_while_a_later_one_arrived() -> None:
    disk = MemoryLayer.holding({AT / "a": b"", AT / "b": b""})
    disk.unlink(AT / "a")
    disk.unlink(AT / "b")
    assert {frozenset(path.name for path in state.files()) for state in disk.crash_states()} == {
        frozenset(names) for names in ("ab", "a", "b", "")
    }


def test_each_file_is_tried_with_the_others_there_and_not_there() -> None:
    disk = MemoryLayer.holding({FILE: b"", AT / "g": b""})
    append(disk, b"x")
    append(disk, b"y", path=AT / "g")
    states = {(state.files()[FILE], state.files()[AT / "g"]) for state in disk.crash_states()}
    assert {(b"", b""), (b"", b"y"), (b"x", b""), (b"x", b"y"), (b"x", b"\0")} <= states


def test_a_state_is_a_disk_of_its_own(disk: MemoryLayer) -> None:
    append(disk, b"x")
    for state in disk.crash_states():
        append(state, b"later", sync=True)
        sync_dir(state, AT)
        assert [again.files() for again in state.crash_states()] == [state.files()]
    assert disk.files() == {FILE: b"x"}


def test_two_names_of_a_file_are_one_file_afterwards(disk: MemoryLayer) -> None:
    append(disk, b"x")
    disk.link(FILE, AT / "g")
    disk.settle()
    (state,) = disk.crash_states()
    append(state, b"y", path=AT / "g")
    assert state.files() == {FILE: b"xy", AT / "g": b"xy"}


def test_after_a_failed_sync_no_later_one_can_be_believed(disk: MemoryLayer) -> None:
    fd = disk.open(FILE, APPEND)
    sync_dir(disk, AT)
    disk.write(fd, b"first")
    with pytest.raises(OSError, match="error"):
        FaultyLayer(disk, fail_at=1, fault=Fault.EIO).fsync(fd)
    disk.fsync(fd)
    assert {b"", b"first"} <= left(disk)
    disk.write(fd, b"second")
    disk.fsync(fd)
    assert {b"firstsecond", b"\0\0\0\0\0second"} <= left(disk)
    assert all(found is not None and found.endswith(b"second") for found in left(disk))


def test_a_folder_is_not_in_doubt() -> None:
    disk = MemoryLayer.holding({FILE: b"x"})
    disk.doubt(disk.open(AT, os.O_RDONLY))
    assert left(disk) == {b"x"}


def states_of(recording: RecordingLayer, disk: MemoryLayer) -> Iterator[tuple[int, MemoryLayer]]:
    for done, moment in replay(recording.operations, disk):
        for state in moment.crash_states():
            yield done, state


def test_a_recording_shows_every_moment_of_a_run_on_a_real_disk(tmp_path: Path) -> None:
    recording = RecordingLayer(OsFileLayer())
    spare = recording.open(tmp_path / "spare", APPEND)
    append(recording, b"one\n", sync=True, path=tmp_path / "f")
    sync_dir(recording, tmp_path)
    acknowledged = len(recording.operations)
    append(recording, b"two\n", path=tmp_path / "f")
    recording.close(spare)
    disk = MemoryLayer()
    disk.make_folders(tmp_path)
    seen = set()
    for done, state in states_of(recording, disk):
        found = read_file(state, tmp_path / "f", 100) or b""
        seen.add(found)
        assert found.startswith(b"one\n") or done < acknowledged
    assert {b"", b"one\n", b"one\ntw", b"one\ntwo\n"} <= seen


def test_a_replay_begins_with_an_empty_disk() -> None:
    assert [(done, disk.files()) for done, disk in replay([])] == [(0, {})]


@pytest.mark.parametrize(
    ("fail_at", "fault"), [(2, Fault.SHORT_WRITE), (2, Fault.EIO), (3, Fault.EIO), (3, Fault.EINTR)]
)
def test_a_replay_leaves_out_what_failed_and_what_a_failed_sync_left_in_doubt(
    disk: MemoryLayer, fail_at: int, fault: Fault
) -> None:
    recording = RecordingLayer(FaultyLayer(disk, fail_at=fail_at, fault=fault))
    fd = recording.open(FILE, APPEND)
    with suppress(OSError):
        recording.write(fd, b"abcd")
    with suppress(OSError):
        recording.fsync(fd)
    sync_dir(recording, AT)
    copy = MemoryLayer()
    copy.make_folders(AT)
    *_, (_, last) = replay(recording.operations, copy)
    assert last.files() == disk.files()
    assert left(last) == left(disk)


def test_an_atomic_replacement_is_whole_at_every_moment_and_durable_at_the_end() -> None:
    recording = RecordingLayer(MemoryLayer.holding({FILE: b"old" * 300}))
    atomic_replace(recording, FILE, b"new" * 300)
    for done, state in states_of(recording, MemoryLayer.holding({FILE: b"old" * 300})):
        found = read_file(state, FILE, 1000)
        assert found in ({b"new" * 300} if done == len(recording.operations) else {b"old" * 300, b"new" * 300})
