"""The folder that state files live in."""

from __future__ import annotations

import itertools
import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hindbrain.store._files import OsFileLayer, StateDir, StateDirError
from hindbrain.store.testing import Fault, FaultyLayer, MemoryLayer

LAYER = OsFileLayer()
IGNORED = b"*\n!hindbrain.json*\n"


class Foreign(OsFileLayer):
    """A disk where every folder belongs to somebody else."""

    def lstat(self, path: Path) -> os.stat_result:
        found = list(super().lstat(path))
        found[4] += 1
        return os.stat_result(found)


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.usefixtures("_umask")
def test_it_is_made_with_all_above_it_for_its_owner_alone(tmp_path: Path) -> None:
    opened = StateDir.open(LAYER, tmp_path / ".pi" / "hindsight")
    inside = opened.folder("session-meta")
    assert [mode(path) for path in (tmp_path / ".pi", opened.path, inside.path)] == [0o700] * 3
    assert mode(opened.file(".gitignore")) == 0o600


def seen_by_git(project: Path) -> list[str]:
    quiet = {"HOME": str(project), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "-q", str(project)], check=True, env=quiet)
    argv = ["git", "-C", str(project), "status", "--porcelain", "-uall"]
    lines = subprocess.run(argv, check=True, env=quiet, capture_output=True, text=True).stdout.splitlines()
    return sorted(line.split()[1] for line in lines)


def test_no_state_is_ever_under_version_control_and_a_projects_settings_are(tmp_path: Path) -> None:
    opened = StateDir.open(LAYER, tmp_path / ".hindbrain")
    assert seen_by_git(tmp_path) == []
    for name in ("hindbrain.json", "hindbrain.jsonc", "retain-queue.jsonl", "retain-queue.jsonl.dead.jsonl"):
        opened.file(name).touch()
    opened.folder("session-meta").file("0123456789abcdef.json").touch()
    assert seen_by_git(tmp_path) == [".hindbrain/hindbrain.json", ".hindbrain/hindbrain.jsonc"]


@pytest.mark.parametrize("mine", [b"*\n!mine\n", b"", b"x\n", b"*", b"!\n"])
def test_what_a_user_wrote_there_stays(tmp_path: Path, mine: bytes) -> None:
    ignore = tmp_path / "state" / ".gitignore"
    ignore.parent.mkdir()
    ignore.write_bytes(mine)
    ignore.chmod(0o644)
    StateDir.open(LAYER, ignore.parent)
    assert (ignore.read_bytes(), mode(ignore) & 0o600) == (mine, 0o600)


def test_what_an_earlier_version_wrote_is_brought_up_to_date(tmp_path: Path) -> None:
    ignore = tmp_path / "state" / ".gitignore"
    ignore.parent.mkdir()
    ignore.write_bytes(b"*\n")
    StateDir.open(LAYER, ignore.parent)
    assert ignore.read_bytes() == IGNORED


def test_on_a_full_disk_the_old_one_stays_and_the_folder_opens() -> None:
    disk = MemoryLayer.holding({Path("/a/.gitignore"): b"*\n"})
    for number in itertools.count(1):
        layer = FaultyLayer(disk, fail_at=number, fault=Fault.ENOSPC)
        with suppress(OSError):
            StateDir.open(layer, Path("/a"))
        if not layer.fired:
            break
        assert disk.files().keys() == {Path("/a/.gitignore")}
    assert disk.files() == {Path("/a/.gitignore"): IGNORED}


def test_a_link_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "theirs").write_bytes(b"*\n")
    (tmp_path / "state" / ".gitignore").symlink_to(tmp_path / "theirs")
    StateDir.open(LAYER, tmp_path / "state")
    assert (tmp_path / "state" / ".gitignore").is_symlink()
    assert (tmp_path / "theirs").read_bytes() == b"*\n"


def test_an_older_mode_is_made_private(tmp_path: Path) -> None:
    (tmp_path / "state" / "inside").mkdir(parents=True)
    for path in (tmp_path / "state", tmp_path / "state" / "inside"):
        path.chmod(0o755)
    StateDir.open(LAYER, tmp_path / "state").folder("inside")
    assert mode(tmp_path / "state") == mode(tmp_path / "state" / "inside") == 0o700


@pytest.mark.parametrize("kind", ["link", "dangling link", "file"])
def test_what_is_no_folder_is_refused_and_nothing_is_written(tmp_path: Path, kind: str) -> None:
    path, target = tmp_path / "state", tmp_path / "target"
    if kind == "file":
        path.touch()
    else:
        path.symlink_to(target)
    if kind == "link":
        target.mkdir()
    with pytest.raises(StateDirError, match="nothing was written there"):
        StateDir.open(LAYER, path)
    assert not target.exists() or list(target.iterdir()) == []


def test_another_users_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StateDirError):
        StateDir.open(Foreign(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_a_repository_put_above_it_is_refused_and_nothing_is_written_behind_it(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    project.mkdir()
    elsewhere.mkdir()
    (project / ".pi").symlink_to(elsewhere)
    with pytest.raises(StateDirError, match="\\.pi is a link"):
        StateDir.open(LAYER, project / ".pi" / "hindsight", within=project)
    assert list(elsewhere.iterdir()) == []


def test_a_link_to_the_project_itself_is_the_users_own_affair(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "project").symlink_to(tmp_path / "real")
    for _ in range(2):
        StateDir.open(LAYER, tmp_path / "project" / ".pi" / "hindsight", within=tmp_path / "project")
    assert (tmp_path / "real" / ".pi" / "hindsight" / ".gitignore").exists()


def test_a_folder_inside_that_is_a_link_is_refused(tmp_path: Path) -> None:
    opened = StateDir.open(LAYER, tmp_path / "state")
    opened.file("session-meta").symlink_to(tmp_path)
    with pytest.raises(StateDirError):
        opened.folder("session-meta")


def test_it_is_durable_when_it_is_open() -> None:
    disk = MemoryLayer()
    StateDir.open(disk, Path("/project/.pi/hindsight")).folder("session-meta")
    assert [state.files() for state in disk.crash_states()] == [{Path("/project/.pi/hindsight/.gitignore"): IGNORED}]
    assert disk.listdir(Path("/project/.pi/hindsight")) == ["session-meta", ".gitignore"][::-1]


def test_another_process_may_make_it_at_the_same_moment() -> None:
    class Raced(MemoryLayer):
        def mkdir(self, path: Path, mode: int = 0o700) -> None:
            super().mkdir(path, mode)
            super().mkdir(path, mode)

    disk = Raced()
    StateDir.open(disk, Path("/a/b"))
    assert disk.files() == {Path("/a/b/.gitignore"): IGNORED}


def test_a_signal_does_not_disturb_it() -> None:
    for number in itertools.count(1):
        disk = MemoryLayer()
        layer = FaultyLayer(disk, fail_at=number, fault=Fault.EINTR)
        StateDir.open(layer, Path("/a/b"), within=Path("/")).folder("c")
        assert disk.files() == {Path("/a/b/.gitignore"): IGNORED}
        if not layer.fired:
            break
    assert number > 10


@pytest.mark.parametrize("fault", [Fault.EIO, Fault.ENOSPC])
def test_a_folder_whose_name_may_not_be_durable_does_not_pass_for_one_that_is(fault: Fault) -> None:
    for number in itertools.count(1):
        disk = MemoryLayer()
        disk.make_folders(Path("/project"))
        layer = FaultyLayer(disk, fail_at=number, fault=fault)
        try:
            StateDir.open(layer, Path("/project/.pi/hindsight"))
        except OSError:
            StateDir.open(layer, Path("/project/.pi/hindsight"))
        for state in disk.crash_states():
            assert stat.S_ISDIR(state.lstat(Path("/project/.pi/hindsight")).st_mode)
        if not layer.fired:
            break
