"""The receipts on a disk: read, changed and written under the lock; never in anybody's way."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hindbrain.contracts import UpdateMode
from hindbrain.store import StoreError
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._flush import Delivery, ReceiptSink
from hindbrain.store._lock import Lock, LockBusyError
from hindbrain.store._receipts import RetainOutcome, RetainReceipt, RetainReceipts, decode
from hindbrain.store.testing import Fault, FaultyLayer, Killed, MemoryLayer

Made = Callable[..., RetainReceipt]
Delivered = Callable[..., Delivery]

FILE = "retain-receipts.json"
FOLDER = Path("/state")
DOCUMENT = "pi-session:29e67821bedc391a"


@pytest.mark.req("S0-receipts-005")
def test_the_latest_outcome_of_a_document_is_kept(state: StateDir, made: Made) -> None:
    receipts = RetainReceipts(state)
    receipts.keep(made(DOCUMENT, items=3))
    receipts.keep(made(DOCUMENT, items=5))
    (stored,) = json.loads(state.file(FILE).read_bytes())["receipts"]
    assert (stored["documentId"], stored["outcome"]["itemsCount"]) == (DOCUMENT, 5)
    assert receipts.latest("bank", DOCUMENT) == made(DOCUMENT, items=5)
    assert receipts.latest("bank", "another") is None


@pytest.mark.req("S0-receipts-008")
def test_automatic_retains_leave_receipts_too(state: StateDir, delivered: Delivered) -> None:
    receipts: ReceiptSink = (stored := RetainReceipts(state))
    for items in (1, 4):
        receipts.record(delivered(DOCUMENT, items=items, update_mode=UpdateMode.APPEND))
    (receipt,) = stored.all()
    assert (receipt.source.value, receipt.outcome) == ("queue", RetainOutcome(items=4, operations=1))


@pytest.mark.req("S0-receipts-006")
def test_nothing_of_what_was_retained_is_in_the_file(state: StateDir, made: Made) -> None:
    RetainReceipts(state).keep(made(content="MARKER-42", metadata={"note": "MARKER-43"}))
    assert b"MARKER" not in state.file(FILE).read_bytes()


def test_several_are_recorded_at_once_the_newest_last(state: StateDir, made: Made) -> None:
    receipts = RetainReceipts(state)
    receipts.keep(made("a", tokens=7), made("b", items=2))
    assert [receipt.document_id for receipt in receipts.all()] == ["b", "a"]
    assert receipts.totals() == RetainOutcome(items=3, operations=2, tokens=7)
    receipts.close()


def test_without_a_file_there_are_none(state: StateDir) -> None:
    receipts = RetainReceipts(state)
    assert receipts.all() == ()
    assert receipts.totals() is None
    assert not state.file(FILE).exists()


@pytest.mark.parametrize("data", [b"{", b'{"version": 2, "receipts": []}', b"0" * (5 << 20)])
def test_a_broken_file_is_empty_and_put_aside_with_one_notice(state: StateDir, made: Made, data: bytes) -> None:
    state.file(FILE).write_bytes(data)
    told: list[str] = []
    receipts = RetainReceipts(state, notify=told.append)
    assert receipts.all() == ()
    receipts.keep(made())
    assert receipts.all() == (made(),)
    (aside,) = state.path.glob(f"{FILE}.broken-*")
    assert aside.read_bytes() == data
    assert len(told) == 1
    assert FILE in told[0]
    state.file(FILE).write_bytes(data)
    receipts.keep(made())
    assert len(told) == 2, "what breaks later is told again"


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_is_put_aside_and_not_followed(state: StateDir, made: Made, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("{}")
    state.file(FILE).symlink_to(target)
    receipts = RetainReceipts(state)
    receipts.keep(made())
    assert receipts.all() == (made(),)
    assert target.read_text() == "{}"


def test_a_holder_of_the_lock_costs_a_bounded_wait(state: StateDir, made: Made) -> None:
    other = Lock(OsFileLayer(), state.file(f"{FILE}.lock"))
    with other.held(), pytest.raises(LockBusyError):
        RetainReceipts(state, wait=0).keep(made())
    other.close()


@pytest.mark.skipif(os.name == "nt", reason="no modes there")
def test_the_file_is_private_whatever_the_umask(state: StateDir, made: Made) -> None:
    before = os.umask(0)
    try:
        RetainReceipts(state).keep(made())
    finally:
        os.umask(before)
    assert stat.S_IMODE(state.file(FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("fault", list(Fault))
def test_whatever_goes_wrong_there_is_no_false_success(fault: Fault, made: Made, *, broken: bool) -> None:
    """A fault at each operation in turn: what was recorded is there, and the file can always be read and written."""
    old = made("old")
    for fail_at in itertools.count(1):
        disk = MemoryLayer()
        disk.make_folders(FOLDER)
        if broken:
            disk = MemoryLayer.holding({FOLDER / FILE: b"{"})
        else:
            RetainReceipts(StateDir(disk, FOLDER)).keep(old)
        layer = FaultyLayer(disk, fail_at=fail_at, fault=fault)
        succeeded = False
        try:
            RetainReceipts(StateDir(layer, FOLDER)).keep(made("new"))
            succeeded = True
        except (StoreError, Killed):
            pass
        after = RetainReceipts(StateDir(disk, FOLDER))
        found = {receipt.document_id for receipt in after.all()}
        assert found >= (set() if broken else {"old"})
        assert "new" in found or not succeeded
        if succeeded:
            for left in disk.crash_states():
                assert {r.document_id for r in decode(left.files()[FOLDER / FILE]) or ()} == found, "it is durable"
        after.keep(made("next"))
        assert {receipt.document_id for receipt in after.all()} == found | {"next"}
        if not layer.fired:
            assert succeeded
            break


WRITER = """
import sys
from pathlib import Path
from hindbrain.contracts import UpdateMode
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._receipts import RetainReceipt, RetainReceipts, RetainSource

receipts = RetainReceipts(StateDir.open(OsFileLayer(), Path(sys.argv[1])), wait=30)
for n in range(10):
    receipts.keep(RetainReceipt(created_at="t", bank="b", document_id=f"{sys.argv[2]}-{n}", job_id="j",
                                update_mode=UpdateMode.APPEND, source=RetainSource.QUEUE))
"""


async def test_writers_in_two_processes_lose_nothing(state: StateDir) -> None:
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(state.path), name) for name in "ab"
    ]
    async with asyncio.timeout(50):
        assert [await process.wait() for process in processes] == [0, 0]
    found = {receipt.document_id for receipt in RetainReceipts(state).all()}
    assert found == {f"{name}-{n}" for name in "ab" for n in range(10)}
