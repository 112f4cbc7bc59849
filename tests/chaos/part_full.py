"""Part 4: a full disk, a read-only one, a limit on file size: typed errors, everything readable, and it drains."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import ParamSpec, TypeVar, cast

from attrs import frozen
from chaos.finding import Finding, Scale
from chaos.memory_backend import Memory
from chaos.part_faults import Wrap
from chaos.subjects import KEY, Jobs, delivery

from hindbrain.contracts import RetainJob
from hindbrain.store import DurableQueue, Flusher, SessionRecords, StoreFullError, StoreReadOnlyError
from hindbrain.store._cursors import Cursors
from hindbrain.store._files import FileLayer, OsFileLayer, StateDir
from hindbrain.store._ledger import Document, FactLedger
from hindbrain.store._receipts import RetainReceipts
from hindbrain.store._worker import Worker
from hindbrain.store.testing import ForwardingLayer

P = ParamSpec("P")
T = TypeVar("T")

_WRITES = {"write", "ftruncate", "fchmod", "chmod", "replace", "link", "unlink", "mkdir", "rmdir"}
_numbers = itertools.count(1)
_SIZE = 512 * 1024
_SID = "0123456789abcdef"


@frozen
class Disk:
    """A folder on a disk that can be filled and emptied again, or be closed to writing."""

    folder: Path
    is_mounted: bool

    @contextmanager
    def full(self) -> Iterator[None]:
        """Not a byte is left."""
        filler = self.folder.parent / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        try:
            yield
        finally:
            filler.unlink()

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """Nothing may be written."""
        root = str(self.folder.parent)
        subprocess.run(["mount", "-o", "remount,ro", root], check=True, capture_output=True)
        try:
            yield
        finally:
            subprocess.run(["mount", "-o", "remount,rw", root], check=True, capture_output=True)


@contextmanager
def small_disk() -> Iterator[Disk | None]:
    """A tmpfs of half a megabyte; None where this user may not mount one."""
    with tempfile.TemporaryDirectory() as scratch:
        options = ["-t", "tmpfs", "-o", f"size={_SIZE},mode=0700", "tmpfs"]
        mounted = False
        with suppress(OSError):
            mounted = subprocess.run(["mount", *options, scratch], check=False, capture_output=True).returncode == 0
        try:
            yield Disk(Path(scratch) / "state", is_mounted=True) if mounted else None
        finally:
            if mounted:
                subprocess.run(["umount", "-l", scratch], check=True, capture_output=True)


@contextmanager
def file_limit(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes (``EFBIG``)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


class Parts:
    """Every part of the store in one folder."""

    def __init__(self, folder: Path, layer: FileLayer) -> None:
        state = StateDir.open(layer, folder)
        self.path = folder / "retain-queue.jsonl"
        self.layer = layer
        self.queue = DurableQueue.open(self.path, key=KEY, layer=layer)
        self.cursors = Cursors(state, KEY)
        self.receipts = RetainReceipts(state)
        self.records = SessionRecords(state, KEY)
        self.ledger = FactLedger(state)

    def writes(self) -> dict[str, Callable[[], object]]:
        """A write of each part but the queue; each time another."""
        number = next(_numbers)
        fact = Document(base_url="https://h.example.com", bank_id="b", project_id="p", document_id=f"d{number}")
        return {
            "cursors": lambda: self.cursors.document_key("lineage", f"session {number}", "key"),
            "receipts": lambda: self.receipts.record(delivery(f"d{number}", number)),
            "records": lambda: self.records.add_tag(_SID, f"tag {number}"),
            "ledger": lambda: self.ledger.insert(
                fact, revision="r", operation_id=_SID, kind="k", title="t", now=1_000 + number
            ),
        }

    def state(self) -> tuple[object, ...]:
        """What can be read of them."""
        return self.cursors.book(), self.receipts.all(), self.records.read(_SID), self.ledger.read()

    def close(self) -> None:
        for each in (self.queue, self.cursors, self.receipts, self.records, self.ledger):
            each.close()


def _under(
    finding: Finding,
    parts: Parts,
    trouble: AbstractContextManager[None],
    *,
    jobs: Jobs,
    error: type[StoreFullError | StoreReadOnlyError],
) -> list[RetainJob]:
    """What was acknowledged while there was trouble; every refusal has its type, and nothing read has changed."""
    taken: list[RetainJob] = []
    before = parts.state()
    with trouble:
        for _ in range(12):
            job = jobs.one(length=3_000)
            try:
                parts.queue.append(job)
                taken.append(job)
            except error:
                finding.tried["refusals"] += 1
        for name, write in parts.writes().items():
            try:
                write()
            except error:
                finding.tried["refusals"] += 1
                continue
            except Exception as other:  # noqa: BLE001 - any other error is what is looked for
                finding.violations.append(f"{name}: {type(other).__name__} in place of {error.__name__}")
                continue
            finding.expect(error is not StoreReadOnlyError, f"{name} wrote to a read-only disk")
        finding.expect(error is StoreFullError or parts.state() == before, "a refused write shows")
        finding.expect({job.id for job in taken} <= {job.id for job in parts.queue.waiting()}, "a taken job is gone")
    return taken


def _drains(finding: Finding, parts: Parts, taken: list[RetainJob]) -> None:
    """With room again everything that was taken is sent, once, and every part can be written."""
    memory = Memory()

    async def drain() -> None:
        worker = Worker("chaos")
        try:
            await Flusher(parts.queue, memory, worker).flush()
        finally:
            await worker.close(lambda: None)

    asyncio.run(drain())
    sent = [operation for operation, _ in memory.took]
    finding.expect(len(sent) == len(set(sent)), "a job was sent twice")
    lost = {job.operation_id for job in taken} - set(sent)
    finding.expect(not lost, f"{len(lost)} acknowledged jobs were lost")
    finding.expect(parts.queue.counts().waiting == 0, "the queue does not drain")
    for name, write in parts.writes().items():
        try:
            write()
        except Exception as error:  # noqa: BLE001 - any error is what is looked for
            finding.violations.append(f"{name} is not writable afterwards: {type(error).__name__}")
    finding.tried["jobs drained"] += len(sent)


def run(rng: Random, scale: Scale, *, wrap: Wrap = lambda layer: layer) -> Finding:
    """Fill, close and limit a disk, several times."""
    finding = Finding()
    for _ in range(scale.pick(3, 40)):
        jobs = Jobs(rng)
        with small_disk() as disk:
            if disk is None:
                finding.figures["tmpfs"] = "skipped: this user may not mount one"
            else:
                _on_a_small_disk(finding, disk, jobs, wrap)
        with tempfile.TemporaryDirectory() as scratch:
            parts = Parts(Path(scratch) / "state", wrap(OsFileLayer()))
            taken = [jobs.one() for _ in range(3)]
            parts.queue.append_many(taken)
            limit = file_limit(rng.randrange(2_000, 20_000))
            taken += _under(finding, parts, limit, jobs=jobs, error=StoreFullError)
            _drains(finding, parts, taken)
            parts.close()
            finding.tried["file limits"] += 1
            closing = Closing(OsFileLayer())
            parts = Parts(Path(scratch) / "closing", wrap(closing))
            taken = [jobs.one() for _ in range(3)]
            parts.queue.append_many(taken)
            taken += _under(finding, parts, closing.read_only(), jobs=jobs, error=StoreReadOnlyError)
            _drains(finding, parts, taken)
            parts.close()
            finding.tried["disks that turn read-only"] += 1
            if os.geteuid() != 0:
                _in_a_closed_folder(finding, Path(scratch) / "closed")
    return finding


def _on_a_small_disk(finding: Finding, disk: Disk, jobs: Jobs, wrap: Wrap) -> None:
    parts = Parts(disk.folder, wrap(OsFileLayer()))
    taken = [jobs.one() for _ in range(3)]
    parts.queue.append_many(taken)
    taken += _under(finding, parts, disk.full(), jobs=jobs, error=StoreFullError)
    _drains(finding, parts, taken)
    parts.close()
    finding.tried["full disks"] += 1
    parts = Parts(disk.folder, wrap(OsFileLayer()))
    more = [jobs.one() for _ in range(3)]
    parts.queue.append_many(more)
    parts.close()
    _closed(finding, disk.folder, disk.read_only())
    parts = Parts(disk.folder, wrap(OsFileLayer()))
    _drains(finding, parts, more)
    parts.close()
    finding.tried["read-only disks"] += 1


def _in_a_closed_folder(finding: Finding, folder: Path) -> None:
    Parts(folder, OsFileLayer()).close()

    @contextmanager
    def closed() -> Iterator[None]:
        folder.chmod(0o500)
        try:
            yield
        finally:
            folder.chmod(0o700)

    _closed(finding, folder, closed())
    finding.tried["closed folders"] += 1


class Closing(ForwardingLayer):
    """A disk that becomes read-only while everything is open."""

    closed = False

    def around(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        writes = call.__name__ in _WRITES or (call.__name__ == "open" and bool(cast("int", args[1]) & os.O_CREAT))
        if self.closed and writes:
            raise OSError(errno.EROFS, "read-only")
        return super().around(call, *args, **kwargs)

    @contextmanager
    def read_only(self) -> Iterator[None]:
        self.closed = True
        try:
            yield
        finally:
            self.closed = False


def _closed(finding: Finding, folder: Path, trouble: AbstractContextManager[None]) -> None:
    """Opening refuses with its type."""
    with trouble:
        try:
            DurableQueue.open(folder / "retain-queue.jsonl", key=KEY).append(Jobs(Random(0)).one())
        except StoreReadOnlyError:
            finding.tried["refusals"] += 1
        else:
            finding.violations.append("a read-only disk took a write")
