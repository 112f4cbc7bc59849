"""Whatever goes wrong at whichever operation of the disk: never a false success, and always a file that can be read."""

from __future__ import annotations

import errno
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.store import StoreError
from hindbrain.store._files import FileLayer, StateDir
from hindbrain.store._ledger import (
    Document,
    Event,
    FactLedger,
    Ledger,
    LedgerUnreadableError,
    Receipt,
    State,
    decode,
    encode,
)
from hindbrain.store.testing import Fault, FaultyLayer, Killed, MemoryLayer

Made = Callable[..., Receipt]

FOLDER = Path("/cache")
FILE = FOLDER / "hindsight-receipts.json"
SAVE: dict[str, Any] = {"revision": "new", "operation_id": "o", "kind": "decision", "title": "t"}


def open_on(disk: FileLayer) -> FactLedger:
    return FactLedger(StateDir(disk, FOLDER))


def insert(ledger: FactLedger, document: Document, _: Receipt) -> None:
    ledger.insert(document, **SAVE, now=9_000)


def complete(ledger: FactLedger, _: Document, receipt: Receipt) -> None:
    ledger.update(receipt.key, State.SUBMITTED, Event.STATUS_COMPLETED, 9_000)


def delete(ledger: FactLedger, _: Document, receipt: Receipt) -> None:
    ledger.stamp_deleted([receipt], 9_000)


@pytest.mark.parametrize("work", [insert, complete, delete])
@pytest.mark.parametrize("fault", list(Fault))
def test_a_write_is_whole_or_not_at_all(
    fault: Fault, work: Callable[[FactLedger, Document, Receipt], None], made: Made, golden: Document
) -> None:
    before = Ledger((made(),))
    clean = MemoryLayer.holding({FILE: encode(before)})
    work(open_on(clean), golden, made())
    after = decode(clean.files()[FILE])
    assert after != before
    for fail_at in itertools.count(1):
        disk = MemoryLayer.holding({FILE: encode(before)})
        layer = FaultyLayer(disk, fail_at=fail_at, fault=fault)
        succeeded = False
        try:
            work(open_on(layer), golden, made())
            succeeded = True
        except (StoreError, Killed):
            pass
        allowed = [after] if succeeded else [before, after]
        found = open_on(disk).read()
        assert found in allowed
        assert all(decode(left.files()[FILE]) in allowed for left in disk.crash_states())
        if found == before:
            work(open_on(disk), golden, made())
            assert open_on(disk).read() == after
        if not layer.fired:
            assert succeeded
            break


class CannotRead(FaultyLayer):
    """A disk that opens the file and gives nothing of it."""

    def read(self, fd: int, count: int) -> bytes:  # noqa: ARG002 - the layer's signature
        raise OSError(errno.EIO, "planted")


def test_a_file_that_the_disk_does_not_give_is_unreadable_and_not_empty(made: Made) -> None:
    disk = MemoryLayer.holding({FILE: encode(Ledger((made(),)))})
    ledger = open_on(CannotRead(disk, fail_at=0, fault=Fault.EIO))
    with pytest.raises(LedgerUnreadableError, match="the disk refused"):
        ledger.read()
    with pytest.raises(StoreError):
        ledger.update(made().key, State.SUBMITTED, Event.STATUS_COMPLETED, 9)
    assert decode(disk.files()[FILE]) == Ledger((made(),))


def test_what_a_killed_writer_left_is_swept_by_the_next(made: Made, golden: Document) -> None:
    disk = MemoryLayer.holding({FILE: encode(Ledger((made(),))), FOLDER / f"{FILE.name}.999-0.tmp": b"half"})
    insert(open_on(disk), golden, made())
    assert [path.name for path in disk.files() if path.name.endswith(".tmp")] == []
