"""The disk whose Nth operation goes wrong."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hindbrain.store.testing import Fault, FaultyLayer, Killed, MemoryLayer, RecordingLayer

FILE = Path("/f")
FLAGS = os.O_RDWR | os.O_CREAT


@pytest.mark.parametrize("fault", [Fault.EIO, Fault.ENOSPC, Fault.EINTR])
def test_it_fails_the_chosen_operation_and_no_other(fault: Fault) -> None:
    layer = FaultyLayer(MemoryLayer(), fail_at=2, fault=fault)
    fd = layer.open(FILE, FLAGS)
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is looked at
        layer.write(fd, b"x")
    assert caught.value.errno == fault.value
    assert layer.write(fd, b"y") == 1
    assert (layer.count, layer.fired) == (3, True)
    assert layer.pread(fd, 9, 0) == b"y"


def test_a_lasting_fault_stays() -> None:
    layer = FaultyLayer(MemoryLayer(), fail_at=2, fault=Fault.ENOSPC, lasting=True)
    fd = layer.open(FILE, FLAGS)
    for _ in range(2):
        with pytest.raises(OSError, match="space"):
            layer.write(fd, b"x")


def test_a_short_write_takes_half_and_says_so() -> None:
    layer = FaultyLayer(MemoryLayer(), fail_at=2, fault=Fault.SHORT_WRITE)
    assert layer.write(layer.open(FILE, FLAGS), b"abcd") == 2


def test_a_short_write_leaves_other_operations_alone() -> None:
    layer = FaultyLayer(MemoryLayer(), fail_at=1, fault=Fault.SHORT_WRITE)
    assert layer.write(layer.open(FILE, FLAGS), b"abcd") == 4
    assert layer.fired


@pytest.mark.parametrize(("fault", "kept"), [(Fault.KILL, b""), (Fault.TORN_KILL, b"ab")])
def test_after_a_kill_nothing_is_done(fault: Fault, kept: bytes) -> None:
    disk = MemoryLayer()
    layer = FaultyLayer(disk, fail_at=2, fault=fault)
    fd = layer.open(FILE, FLAGS)
    assert disk.try_lock(fd)
    with pytest.raises(Killed):
        layer.write(fd, b"abcd")
    with pytest.raises(Killed):
        layer.unlink(FILE)
    layer.close(fd)
    assert disk.files() == {FILE: kept}
    assert disk.try_lock(disk.open(FILE, FLAGS))


def test_a_kill_tears_writes_only() -> None:
    disk = MemoryLayer()
    with pytest.raises(Killed):
        FaultyLayer(disk, fail_at=1, fault=Fault.TORN_KILL).mkdir(Path("/d"))
    assert disk.listdir(Path("/")) == []


def test_a_recording_keeps_arguments_results_and_errors() -> None:
    recording = RecordingLayer(FaultyLayer(MemoryLayer(), fail_at=3, fault=Fault.EIO))
    fd = recording.open(FILE, FLAGS)
    recording.write(fd, memoryview(b"abc"))
    with pytest.raises(OSError, match="error"):
        recording.fsync(fd)
    recording.close(fd)
    assert [(o.name, o.args, o.result, o.error) for o in recording.operations] == [
        ("open", (FILE, FLAGS, 0o600), fd, None),
        ("write", (fd, b"abc"), 3, None),
        ("fsync", (fd,), None, errno.EIO),
        ("close", (fd,), None, None),
    ]
    assert recording.count("write", "fsync") == 2
    assert [o.name for o in recording.changes()] == ["open", "write", "fsync"]
