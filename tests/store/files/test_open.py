"""State files are plain files of this user, for nobody else."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.store._files import OsFileLayer, StateFileError, StateFileTooLargeError, open_state, read_file
from hindbrain.store.testing import Fault, FaultyLayer, MemoryLayer

LAYER = OsFileLayer()
NEW = os.O_RDWR | os.O_CREAT


class Foreign(OsFileLayer):
    """A disk where every file belongs to somebody else."""

    def fstat(self, fd: int) -> os.stat_result:
        found = list(super().fstat(fd))
        found[4] += 1
        return os.stat_result(found)


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def open_files() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


@pytest.mark.usefixtures("_umask")
def test_a_new_file_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    os.close(open_state(LAYER, tmp_path / "f", NEW))
    assert mode(tmp_path / "f") == 0o600


def test_an_older_mode_is_made_private(tmp_path: Path) -> None:
    (tmp_path / "f").touch(0o644)
    assert read_file(LAYER, tmp_path / "f", 1) == b""
    assert mode(tmp_path / "f") == 0o600


def test_descriptors_are_not_inherited(tmp_path: Path) -> None:
    fd = open_state(LAYER, tmp_path / "f", NEW)
    assert not os.get_inheritable(fd)
    os.close(fd)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, NEW | os.O_APPEND], ids=["read", "write", "append"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_what_is_no_plain_file_is_refused(tmp_path: Path, kind: str, flags: int) -> None:
    path, target = tmp_path / "f", tmp_path / "target"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(target)
    if kind == "link":
        target.write_bytes(b"precious")
    before = open_files()
    with pytest.raises(StateFileError, match="not a plain file of this user") as caught:
        open_state(LAYER, path, flags)
    assert str(path) in str(caught.value)
    assert open_files() == before
    assert target.exists() == (kind == "link")


def test_another_users_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    before = open_files()
    with pytest.raises(StateFileError):
        read_file(Foreign(), tmp_path / "f", 1)
    assert open_files() == before


def test_an_error_of_the_disk_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_state(LAYER, tmp_path / "none" / "f", NEW)


def test_a_file_that_is_not_there_reads_as_none(tmp_path: Path) -> None:
    assert read_file(LAYER, tmp_path / "f", 1) is None


def test_a_file_is_read_up_to_its_limit_and_refused_beyond(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 3_000_000)
    assert read_file(LAYER, path, 3_000_000) == b"x" * 3_000_000
    before = open_files()
    with pytest.raises(StateFileTooLargeError, match="larger than 2999999 bytes"):
        read_file(LAYER, path, 2_999_999)
    assert open_files() == before


def test_an_interrupted_read_goes_on() -> None:
    for number in range(1, 20):
        layer = FaultyLayer(MemoryLayer.holding({Path("/f"): b"abc"}), fail_at=number, fault=Fault.EINTR)
        assert read_file(layer, Path("/f"), 10) == b"abc"
        if not layer.fired:
            return
    pytest.fail("it never ran through")
