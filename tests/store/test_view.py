"""Looking at a state folder changes nothing of it, and tells the same as working in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from hindbrain.contracts import BackendError, Outcome, Retained, RetainItem, RetainJob
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.store import (
    CursorState,
    FlushPolicy,
    HostState,
    KeyState,
    QueueCounts,
    SessionCounts,
    StateView,
    StoreError,
    StoreReadOnlyError,
)
from hindbrain.store._files import OsFileLayer, ReadOnlyLayer

SID = "29e67821bedc391a"
Seen = dict[str, tuple[int, int, bytes | None]]


class Refusing(InMemoryBackend):
    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        del bank, item, operation_id
        error = BackendError("it was refused")
        error.outcome = Outcome.REFUSED
        raise error


def job(number: int) -> RetainJob:
    id_ = f"{number:08d}-0000-4000-8000-000000000000"
    item = RetainItem(content=f"says {number}", document_id=f"doc-{number}")
    return RetainJob(id=id_, bank="a", item=item, operation_id=id_, created_at=f"2026-01-02T03:04:{number:02d}.000Z")


def everything(root: Path) -> Seen:
    """Every name below a folder, with its mode, time of change and content."""
    found: Seen = {}
    for path in sorted(root.rglob("*")):
        at = path.lstat()
        found[str(path)] = at.st_mode, at.st_mtime_ns, path.read_bytes() if path.is_file() else None
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".hindbrain"


@pytest.fixture
def seal(tmp_path: Path) -> Path:
    return tmp_path / "data" / "seal.key"


async def filled(folder: Path, seal: Path) -> QueueCounts:
    """A folder with a bit of everything, and what the queue itself counts in it."""
    state = await HostState.open(folder, seal_file=seal)
    await state.ask(lambda queue: queue.append(job(1)))
    await state.flusher(Refusing(), FlushPolicy(max_attempts=1)).flush()
    await state.ask(lambda queue: queue.append_many([job(n) for n in (2, 3, 4)]))
    await state.ask(lambda queue: queue.ack([job(3).id]))
    await state.run(lambda: state.records.set_mode(SID, "read-only"))
    await state.run(lambda: state.records.skip_next("0123456789abcdef"))
    await state.close()
    (folder / "session-meta" / "fedcba9876543210.json").write_text("{}")
    with (folder / "retain-queue.jsonl").open("ab") as queue:
        queue.write(b'{"id": "no job"}\n')
    return QueueCounts(waiting=2, dead=1, malformed=1, oldest="2026-01-02T03:04:02.000Z")


async def test_it_counts_what_is_there_and_changes_nothing(folder: Path, seal: Path, tmp_path: Path) -> None:
    expected = await filled(folder, seal)
    (folder / "hindbrain.json").write_text("{}")
    (folder / "retain-receipts.json").touch(0o644)
    (folder / "retain-receipts.json").chmod(0o644)
    before = everything(tmp_path)
    view = StateView.open(folder, seal_file=seal, within=folder.parent)
    assert view is not None
    counts = view.queue.counts()
    assert attrs.evolve(counts, bytes=0) == expected
    assert counts.bytes > 0
    assert [each.document_id for each in view.queue.waiting()] == ["doc-2", "doc-4"]
    assert [letter.document_id for letter in view.queue.dead()] == ["doc-1"]
    assert [row.text for row in view.queue.set_aside()] == ['{"id": "no job"}']
    assert view.queue.verify().is_sound
    assert view.sessions() == SessionCounts(records=3, read_only=1, opted_out=1, distrusted=1)
    assert (view.key, view.cursors()) == (KeyState.SOUND, CursorState.SOUND)
    assert view.receipts.all() == ()
    assert view.open_to_others() == ("retain-receipts.json",)
    changes: list[Callable[[], object]] = [
        lambda: view.queue.append(job(9)),
        lambda: view.queue.ack([job(2).id]),
        view.queue.compact,
    ]
    for change in changes:
        with pytest.raises(StoreReadOnlyError):
            change()
    view.close()
    view.close()
    assert everything(tmp_path) == before


async def test_the_queue_counts_the_same_once_it_is_opened(folder: Path, seal: Path) -> None:
    await filled(folder, seal)
    view = StateView.open(folder, seal_file=seal)
    assert view is not None
    seen = view.queue.counts()
    view.close()
    state = await HostState.open(folder, seal_file=seal)
    assert await state.ask(lambda queue: queue.counts()) == seen
    await state.close()


async def test_a_writer_is_seen_and_not_disturbed(folder: Path, seal: Path) -> None:
    state = await HostState.open(folder, seal_file=seal)
    view = StateView.open(folder, seal_file=seal)
    assert view is not None
    for number in (1, 2):
        await state.ask(lambda queue, number=number: queue.append(job(number)))  # type: ignore[misc]  # bound now
        assert view.queue.counts().waiting == number
    await state.ask(lambda queue: queue.ack([job(1).id, job(2).id]))
    await state.ask(lambda queue: queue.compact())
    assert view.queue.counts().waiting == 0
    view.close()
    await state.close()


def test_where_there_is_no_folder_there_is_no_view_and_none_is_made(folder: Path, seal: Path, tmp_path: Path) -> None:
    assert StateView.open(folder, seal_file=seal, within=folder.parent) is None
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_an_empty_view(folder: Path, seal: Path) -> None:
    folder.mkdir(0o700, parents=True)
    view = StateView.open(folder, seal_file=seal)
    assert view is not None
    assert (view.key, view.cursors(), view.sessions()) == (KeyState.NONE, CursorState.NONE, SessionCounts())
    assert view.queue.counts() == QueueCounts()
    assert view.receipts.all() == ()
    view.close()
    assert list(folder.iterdir()) == []
    assert not seal.exists()


@pytest.mark.parametrize("key", [None, b"short", b"x" * 32])
async def test_without_the_key_nothing_is_believed_and_nothing_is_made(
    folder: Path, seal: Path, key: bytes | None
) -> None:
    await filled(folder, seal)
    seal.unlink()
    if key is not None:
        seal.write_bytes(key)
    before = everything(folder.parent.parent)
    view = StateView.open(folder, seal_file=seal)
    assert view is not None
    assert view.key is {None: KeyState.NONE, b"short": KeyState.BROKEN}.get(key, KeyState.SOUND)
    assert not view.queue.verify().is_sound
    assert view.sessions().distrusted == 3
    assert view.cursors() is CursorState.DISTRUSTED
    view.close()
    assert everything(folder.parent.parent) == before


def test_cursors_of_other_versions_are_told(folder: Path, seal: Path, tmp_path: Path) -> None:
    folder.mkdir(0o700, parents=True)
    cursors = folder / "retain-cursors.json"
    cursors.write_text('{"version": 3, "sessions": {}}')
    view = StateView.open(folder, seal_file=seal)
    assert view is not None
    assert view.cursors() is CursorState.OLDER
    cursors.unlink()
    cursors.symlink_to(tmp_path / "elsewhere")
    assert view.cursors() is CursorState.DISTRUSTED
    view.close()


@pytest.mark.parametrize("place", ["folder", "above"])
def test_a_link_is_refused_as_it_is_when_working(tmp_path: Path, seal: Path, place: str) -> None:
    (tmp_path / "elsewhere" / "hindsight").mkdir(parents=True)
    project = tmp_path / "project"
    project.mkdir()
    link = project / ".pi" if place == "above" else project / "hindsight"
    link.symlink_to(tmp_path / "elsewhere")
    folder = link / "hindsight" if place == "above" else link
    with pytest.raises(StoreError):
        StateView.open(folder, seal_file=seal, within=project)


def test_a_disk_that_is_only_looked_at_refuses_each_change(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "file").chmod(0o644)
    disk, file = ReadOnlyLayer(OsFileLayer()), tmp_path / "file"
    fd = disk.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC)
    disk.fchmod(fd, 0o600)
    disk.chmod(file, 0o600)
    changes: list[Callable[[], object]] = [
        lambda: disk.write(fd, b"x"),
        lambda: disk.fsync(fd),
        lambda: disk.ftruncate(fd, 0),
        lambda: disk.replace(file, tmp_path / "other"),
        lambda: disk.link(file, tmp_path / "other"),
        lambda: disk.unlink(file),
        lambda: disk.mkdir(tmp_path / "other"),
        lambda: disk.rmdir(tmp_path),
        lambda: disk.sync_dir(tmp_path),
        lambda: disk.try_lock(fd),
        lambda: disk.unlock(fd),
        lambda: disk.open(tmp_path / "other", os.O_CREAT | os.O_WRONLY),
    ]
    for change in changes:
        with pytest.raises(OSError, match="only looked at"):
            change()
    assert disk.read(fd, 9) == b"abc"
    disk.close(fd)
    assert [(path.name, path.stat().st_mode & 0o777) for path in tmp_path.iterdir()] == [("file", 0o644)]
