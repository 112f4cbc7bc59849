"""A process that is killed at any moment of an import, and run again: nothing is lost, and nothing is sent twice."""

from __future__ import annotations

import contextlib
import itertools
from pathlib import Path
from typing import Any

import pytest

from hindbrain.generic._import import ImportReport, Profile
from hindbrain.generic._import._deliver import deliver, settle
from hindbrain.generic._import._groups import Group
from hindbrain.generic._import._ledger import CHECKPOINT, MANIFEST, ImportLedger
from hindbrain.generic._import._past import Past
from hindbrain.generic._import._run import Importer
from hindbrain.store import HostState, StoreError
from hindbrain.store.testing import Fault, FaultyLayer, Killed, MemoryLayer

FOLDER, SEAL = Path("/home/p/.pi/hindsight"), Path("/home/data/seal.key")
PROFILE = Profile(turns=2)


def now() -> str:
    return "2026-03-01T00:00:00.000Z"


async def run(group: Group, layer: Any, backend: Any = None) -> ImportReport:
    """An import of the group into a disk; with a backend it is sent, too."""
    state = await HostState.open(FOLDER, seal_file=SEAL, layer=layer)
    try:
        ledger = ImportLedger(state.file(MANIFEST), state.file(CHECKPOINT), run="r", now=now)
        await state.run(ledger.load)
        past = Past(group.target, state)
        importer = Importer(group.target, PROFILE, ledger=ledger, state=state, past=past, now=now)
        report = await importer.run(group.sources)
        if backend is not None:
            await deliver(state, backend, lambda _: None)
        await settle(state, ledger, report)
    finally:
        with contextlib.suppress(Killed):
            await state.close()
    return report


async def statuses(disk: MemoryLayer) -> list[str]:
    """What the manifest says of all documents."""
    state = await HostState.open(FOLDER, seal_file=SEAL, layer=disk)
    manifest = await state.run(state.file(MANIFEST).read)
    await state.close()
    assert manifest is not None
    return [each["status"] for documents in manifest["imports"].values() for each in documents.values()]


@pytest.fixture
async def group(place: Any, monkeypatch: pytest.MonkeyPatch) -> Group:
    """Two sessions of two documents each, a batch for each of them."""
    monkeypatch.setattr("hindbrain.generic._import._batch.MOST_JOBS", 1)
    for number in (1, 2):
        recording = place.record(f"{number}.jsonl", number=number)
        recording.turns(1, 3)
        recording.write()
    found = await place.survey()
    made: Group = found.groups[0]
    return made


@pytest.mark.parametrize("fault", [Fault.KILL, Fault.TORN_KILL])
async def test_killed_while_it_queues_each_document_is_sent_once(place: Any, group: Group, fault: Fault) -> None:
    for number in itertools.count(1):
        disk = MemoryLayer()
        layer = FaultyLayer(disk, fail_at=number, fault=fault)
        with contextlib.suppress(Killed):
            await run(group, layer)
        server = type(place.server)()
        report = await run(group, disk, server)
        assert len(server.asked) == len(server.documents) == 4, number
        assert report.new + report.same == 4
        assert await statuses(disk) == ["completed"] * 4
        if not layer.fired:
            break
    assert number > 50


async def test_killed_while_it_sends_no_document_becomes_two(place: Any, group: Group) -> None:
    queueing = FaultyLayer(MemoryLayer(), fail_at=10**9, fault=Fault.KILL)
    await run(group, queueing)
    for number in itertools.count(queueing.count - 20):
        disk = MemoryLayer()
        server = type(place.server)()
        layer = FaultyLayer(disk, fail_at=number, fault=Fault.KILL)
        with contextlib.suppress(Killed):
            await run(group, layer, server)
        await run(group, disk, server)
        # The one that was on its way is sent again, as the same operation: a memory takes it once.
        assert len(server.documents) == len({operation for operation, _, _ in server.asked}) == 4, number
        assert len(server.asked) <= 5
        if not layer.fired:
            break
    assert number > queueing.count


@pytest.mark.parametrize("fault", [Fault.EIO, Fault.SHORT_WRITE])
async def test_a_disk_that_fails_once_loses_nothing(place: Any, group: Group, fault: Fault) -> None:
    for number in itertools.count(1):
        disk = MemoryLayer()
        layer = FaultyLayer(disk, fail_at=number, fault=fault)
        with contextlib.suppress(StoreError):
            await run(group, layer)
        server = type(place.server)()
        await run(group, disk, server)
        assert len(server.asked) == len(server.documents) == 4, number
        if not layer.fired:
            break


async def test_what_was_imported_before_the_end_is_not_read_again(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = MemoryLayer()
    read: list[str] = []
    real = Importer._take

    async def take(self: Importer, made: Any, source: Any, branch: Any) -> bool:
        read.append(source.path.name)
        if len(read) == 2:
            raise KeyboardInterrupt
        return await real(self, made, source, branch)

    monkeypatch.setattr(Importer, "_take", take)
    with pytest.raises(KeyboardInterrupt):
        await run(group, disk)
    report = await run(group, disk)
    assert read == ["1.jsonl", "2.jsonl", "2.jsonl"]
    assert (report.same, report.new, report.waiting) == (2, 2, 4)


async def test_the_manifest_takes_in_a_checkpoint_that_has_grown(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindbrain.generic._import._ledger._LEAST", 1)
    disk = MemoryLayer()
    layer = FaultyLayer(disk, fail_at=10**9, fault=Fault.KILL)
    await run(group, layer)
    state = await HostState.open(FOLDER, seal_file=SEAL, layer=disk)
    manifest = await state.run(state.file(MANIFEST).read)
    checkpoint = await state.run(state.file(CHECKPOINT).read)
    await state.close()
    assert manifest is not None
    assert checkpoint is not None
    assert len(manifest["files"]) == 2
    assert (checkpoint["files"], checkpoint["finished"]) == ({}, True)
