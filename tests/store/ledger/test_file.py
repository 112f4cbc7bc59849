"""The ledger on a disk: compared and written under the lock, refused whole where it cannot be read."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._ledger import (
    WINDOW,
    Document,
    Event,
    FactLedger,
    LedgerConflictError,
    LedgerFullError,
    LedgerTransitionError,
    LedgerUnreadableError,
    Receipt,
    State,
)
from hindbrain.store._lock import Lock, LockBusyError

Made = Callable[..., Receipt]
Many = Callable[..., tuple[Receipt, ...]]
Put = Callable[..., None]

SAVE: dict[str, Any] = {
    "revision": "7118d32517ce0216",
    "operation_id": "93e33487-6c92-5880-9b29-dc86689d9c26",
    "kind": "decision",
    "title": "Tag scoping",
}
KEY = "38519412c9025e4799f2b7d00dfb2ca8"
posix = pytest.mark.skipif(os.name == "nt", reason="modes and links are others there")


@pytest.mark.req("S2-receipts-002")
def test_receipts_of_the_seeds_tool_are_found_where_it_keeps_them(tmp_path: Path) -> None:
    folder = tmp_path / ".pi" / "agent" / ".cache" / "smart-compact"
    folder.mkdir(parents=True)
    stored = {"key": KEY, "baseUrl": "https://h.example.com", "bankId": "bank-a", "projectId": "proj-926574b4279e"}
    stored |= {"documentId": "psc-cg-ee4e7fc0c92e36603c2c2ea1", "revision": SAVE["revision"], "kind": "decision"}
    stored |= {"operationId": SAVE["operation_id"], "title": "Tag scoping", "state": "accepted"}
    times = {"createdAt": 1_767_225_600_000, "updatedAt": 1_767_225_601_000}
    text = json.dumps({"version": 1, "receipts": [{**stored, **times}]}, indent=2)
    (folder / "hindsight-receipts.json").write_text(text)
    ledger = FactLedger(StateDir.open(OsFileLayer(), folder))
    assert [(receipt.key, receipt.state) for receipt in ledger.read().receipts] == [(KEY, State.ACCEPTED)]
    completed = ledger.update(KEY, State.ACCEPTED, Event.STATUS_COMPLETED, 1_767_225_700_000)
    assert completed.created_at == times["createdAt"]
    (after,) = json.loads(ledger.path.read_bytes())["receipts"]
    assert {**after, **{name: stored.get(name, times.get(name)) for name in ("state", "updatedAt")}} == {
        **stored,
        **times,
        "sentAt": times["createdAt"],
        "lastCheckedAt": 1_767_225_700_000,
    }


@posix
@pytest.mark.req("S2-receipts-002")
@pytest.mark.parametrize("umask", [0, 0o077, 0o777])
def test_the_file_and_its_folder_are_private_whatever_the_umask(tmp_path: Path, golden: Document, umask: int) -> None:
    folder = tmp_path / "cache"
    before = os.umask(umask)
    try:
        ledger = FactLedger(StateDir.open(OsFileLayer(), folder))
        ledger.insert(golden, **SAVE, now=1)
        folder.chmod(0o755)
        ledger.path.chmod(0o644)
        ledger.update(KEY, State.SUBMITTED, Event.LOST, 2)
    finally:
        os.umask(before)
    assert ledger.path == folder / "hindsight-receipts.json"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    ledger.close()


def test_without_a_file_there_are_no_receipts_and_none_is_made(ledger: FactLedger) -> None:
    assert ledger.read().receipts == ()
    assert ledger.get(KEY) is None
    assert not ledger.path.exists()


def test_a_save_goes_its_way(ledger: FactLedger, golden: Document) -> None:
    submitted = ledger.insert(golden, **SAVE, now=1)
    assert (submitted.key, submitted.state) == (KEY, State.SUBMITTED)
    accepted = ledger.update(KEY, State.SUBMITTED, Event.ACKNOWLEDGED, 2, server_operation_id="server-1", detail="ok")
    assert ledger.get(KEY) == accepted
    assert (accepted.asks_for, accepted.detail) == ("server-1", "ok")
    completed = ledger.update(KEY, {State.ACCEPTED, State.UNKNOWN}, Event.STATUS_COMPLETED, 3)
    assert ledger.read().settles(KEY)
    assert ledger.stamp_deleted([completed], 4) == (evolve(completed, state=State.DELETED, updated_at=4, detail=None),)
    assert str(ledger.read().generation(golden)) == "1:0"


@pytest.mark.req("S2-receipts-014")
def test_the_title_is_there_and_bounded_and_no_content_is(ledger: FactLedger, golden: Document) -> None:
    ledger.insert(golden, **{**SAVE, "title": "Tag scoping" + "x" * 300}, now=1)
    text = ledger.path.read_text()
    assert "Use strict project tags" not in text
    (stored,) = json.loads(text)["receipts"]
    assert stored["title"] == ("Tag scoping" + "x" * 300)[:200]
    assert set(stored) == {
        *("key", "baseUrl", "bankId", "projectId", "documentId", "revision", "operationId", "kind", "title", "state"),
        *("createdAt", "updatedAt", "sentAt"),
    }


def test_a_send_is_later_than_all_before_it_whatever_the_clock_says(ledger: FactLedger, golden: Document) -> None:
    first = ledger.insert(golden, **SAVE, now=5_000)
    ledger.update(first.key, State.SUBMITTED, Event.STATUS_COMPLETED, 5_001)
    second = ledger.insert(golden, **{**SAVE, "revision": "r2"}, now=10)
    ledger.update(second.key, State.SUBMITTED, Event.STATUS_COMPLETED, 11)
    after = ledger.read()
    assert (after.settles(first.key), after.settles(second.key)) == (False, True)


def test_who_expects_another_state_is_told_and_changes_nothing(ledger: FactLedger, put: Put, made: Made) -> None:
    put(made(state=State.DELETED))
    before = ledger.path.read_bytes()
    with pytest.raises(LedgerConflictError) as caught:
        ledger.update(KEY, State.ACCEPTED, Event.STATUS_RUNNING, 9)
    assert caught.value.found is State.DELETED
    assert "deleted" in str(caught.value)
    with pytest.raises(LedgerConflictError) as caught:
        ledger.update("nowhere", State.ACCEPTED, Event.STATUS_RUNNING, 9)
    assert caught.value.found is None
    assert ledger.path.read_bytes() == before


def test_what_is_closed_is_never_opened(ledger: FactLedger, put: Put, made: Made, golden: Document) -> None:
    put(made(state=State.COMPLETED))
    before = ledger.path.read_bytes()
    with pytest.raises(LedgerTransitionError) as caught:
        ledger.update(KEY, State.COMPLETED, Event.STATUS_RUNNING, 9)
    assert (caught.value.found, caught.value.event) == (State.COMPLETED, Event.STATUS_RUNNING)
    with pytest.raises(LedgerConflictError) as conflict:
        ledger.insert(golden, **SAVE, now=9)
    assert conflict.value.found is State.COMPLETED
    assert ledger.path.read_bytes() == before


@pytest.mark.req("S2-receipts-009")
@pytest.mark.parametrize("kind", [State.UNKNOWN, State.SUBMITTED])
def test_500_open_receipts_refuse_a_new_one(
    ledger: FactLedger, put: Put, many: Many, golden: Document, kind: State
) -> None:
    put(*many(500, kind))
    before = ledger.path.read_bytes()
    with pytest.raises(LedgerFullError) as caught:
        ledger.insert(golden, **SAVE, now=9)
    assert all(word in str(caught.value) for word in (str(ledger.path), "500", "24 h"))
    assert ledger.path.read_bytes() == before


@pytest.mark.req("S2-receipts-012")
def test_an_update_needs_no_slot(ledger: FactLedger, put: Put, many: Many) -> None:
    receipts = many(500, State.UNKNOWN)
    put(*receipts)
    ledger.update(receipts[3].key, State.UNKNOWN, Event.STATUS_COMPLETED, 9)
    after = ledger.read().receipts
    assert len(after) == 500
    assert [receipt.state for receipt in after].count(State.COMPLETED) == 1


@pytest.mark.req("S2-receipts-015")
def test_drained_receipts_of_another_target_give_way(
    ledger: FactLedger, put: Put, many: Many, made: Made, golden: Document
) -> None:
    put(*many(500, State.SUBMITTED))
    target = evolve(made().target, base_url="https://new.example.com")
    drained = ledger.drain_foreign(target, 2 * WINDOW)
    assert len(drained) == 500
    assert {receipt.state for receipt in ledger.read().receipts} == {State.FAILED}
    new = ledger.insert(golden, **SAVE, now=2 * WINDOW)
    after = ledger.read()
    assert len(after.receipts) == 500
    assert after.get(new.key) == new
    assert after.get(drained[0].key) is None
    assert str(after.generation(drained[0].document)) == "0:1"


def test_draining_leaves_everything_else_and_writes_nothing_where_nothing_is_due(
    ledger: FactLedger, put: Put, made: Made
) -> None:
    put(made("own"), made("young", bank_id="bank-b", at=WINDOW), made("done", bank_id="bank-b", state=State.COMPLETED))
    before = ledger.path.read_bytes()
    assert ledger.drain_foreign(made().target, WINDOW + 5) == ()
    assert ledger.path.read_bytes() == before


def test_a_clock_that_was_ahead_does_not_keep_a_foreign_receipt_for_ever(
    ledger: FactLedger, put: Put, made: Made
) -> None:
    put(made("ahead", bank_id="bank-b", at=3_650 * WINDOW))
    assert ledger.drain_foreign(made().target, 10) == ()
    assert ledger.drain_foreign(made().target, 9 + WINDOW) == ()
    assert len(ledger.drain_foreign(made().target, 10 + WINDOW)) == 1


def test_a_deletion_stamps_what_was_checked_and_did_not_change_since(
    ledger: FactLedger, put: Put, made: Made, golden: Document
) -> None:
    checked, changed = made("r1", state=State.COMPLETED), made("r2", state=State.UNKNOWN, missing_since=3)
    gone, closed = made("r3", state=State.COMPLETED), made("r4", state=State.DELETED)
    put(checked, changed, closed)
    sent_again = ledger.update(changed.key, State.UNKNOWN, Event.SEND, 2_000)
    landed = ledger.insert(golden, **{**SAVE, "revision": "r5"}, now=2_000)
    stamped = ledger.stamp_deleted([checked, changed, gone, closed], 3_000, "document not found")
    assert [(receipt.key, receipt.state, receipt.detail) for receipt in stamped] == [
        (checked.key, State.DELETED, "document not found")
    ]
    assert ledger.read().receipts == (stamped[0], sent_again, closed, landed)


UNREADABLE = [
    b"",
    b"{",
    b'{"version":1,"receipts":[{"key":',
    b'{"version": 2, "receipts": []}',
    b'{"version": 1, "receipts": [{"key": 7, "state": "submitted"}]}',
]


@pytest.mark.parametrize("data", UNREADABLE)
def test_a_broken_file_is_refused_and_left_as_it_is(
    ledger: FactLedger, made: Made, golden: Document, data: bytes
) -> None:
    ledger.path.write_bytes(data)
    for call in (
        ledger.read,
        lambda: ledger.get(KEY),
        lambda: ledger.insert(golden, **SAVE, now=1),
        lambda: ledger.update(KEY, State.SUBMITTED, Event.LOST, 1),
        lambda: ledger.stamp_deleted([made()], 1),
        lambda: ledger.drain_foreign(made().target, 1),
    ):
        with pytest.raises(LedgerUnreadableError) as caught:
            call()
        assert str(ledger.path) in str(caught.value)
        assert caught.value.path == ledger.path
    assert ledger.path.read_bytes() == data
    assert {path.name for path in ledger.path.parent.iterdir()} <= {
        ledger.path.name,
        f"{ledger.path.name}.lock",
        ".gitignore",
    }


@pytest.mark.req("S2-states-011")
def test_an_unknown_state_makes_the_file_unreadable(ledger: FactLedger, put: Put, made: Made) -> None:
    put(made())
    broken = ledger.path.read_bytes().replace(b'"submitted"', b'"weird"')
    ledger.path.write_bytes(broken)
    with pytest.raises(LedgerUnreadableError, match="receipt 1"):
        ledger.update(KEY, State.SUBMITTED, Event.STATUS_COMPLETED, 9)
    assert ledger.path.read_bytes() == broken


@posix
def test_a_link_a_folder_or_a_huge_file_is_unreadable_too(ledger: FactLedger, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('{"version": 1, "receipts": []}')
    ledger.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerUnreadableError, match="no plain file"):
        ledger.read()
    ledger.path.unlink()
    ledger.path.mkdir()
    with pytest.raises(LedgerUnreadableError, match="no plain file"):
        ledger.read()
    ledger.path.rmdir()
    with ledger.path.open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(LedgerUnreadableError, match="larger"):
        ledger.read()


def test_a_busy_lock_is_told_at_once_and_nothing_is_changed(ledger: FactLedger, golden: Document) -> None:
    other = Lock(OsFileLayer(), ledger.path.with_name(f"{ledger.path.name}.lock"))
    with other.held(), pytest.raises(LockBusyError) as caught:
        ledger.insert(golden, **SAVE, now=1)
    assert str(os.getpid()) in str(caught.value)
    assert ledger.read().receipts == ()
    other.close()


def lock_without_os(state: StateDir, *, running: bool) -> Lock:
    folder = state.file("hindsight-receipts.json.lock")
    return Lock(state.layer, folder, os_locks=False, host="here", running=lambda _: running)


@pytest.mark.req("S2-receipts-010")
@pytest.mark.parametrize(("age", "running"), [(timedelta(seconds=1), False), (timedelta(days=9), True)])
def test_a_leftover_lock_is_named_and_left_where_only_its_record_tells(
    state: StateDir, golden: Document, age: timedelta, *, running: bool
) -> None:
    folder = state.file("hindsight-receipts.json.lock")
    folder.mkdir()
    since = (datetime.now(UTC) - age).isoformat()
    owner = {"pid": 999_999, "host": "here", "acquiredAt": since, "token": "t"}
    (folder / "owner").write_text(json.dumps(owner))
    ledger = FactLedger(state, lock=lock_without_os(state, running=running))
    with pytest.raises(LockBusyError) as caught:
        ledger.insert(golden, **SAVE, now=1)
    assert all(word in str(caught.value) for word in (str(folder), "999999", "remove the folder"))
    assert json.loads((folder / "owner").read_bytes()) == owner
    assert not ledger.path.exists()


class WithoutLocks(OsFileLayer):
    """A file system that knows no locks."""

    def try_lock(self, fd: int) -> bool:  # noqa: ARG002 - the layer's signature
        raise OSError(errno.ENOLCK, "planted")


def test_where_there_are_no_os_locks_the_first_write_needs_no_second_try(state: StateDir, golden: Document) -> None:
    ledger = FactLedger(StateDir(WithoutLocks(), state.path))
    assert ledger.insert(golden, **SAVE, now=1).state is State.SUBMITTED


@pytest.mark.req("S2-receipts-010")
def test_a_lock_of_the_seeds_tool_is_never_removed(state: StateDir, ledger: FactLedger, golden: Document) -> None:
    folder = state.file("hindsight-receipts.json.lock")
    folder.mkdir(0o700)
    (folder / "owner").write_text("999999:aaaaaaaaaaaaaaaa")
    for _ in range(2):
        with pytest.raises(LockBusyError) as caught:
            ledger.insert(golden, **SAVE, now=1)
        assert all(word in str(caught.value) for word in (str(folder), "999999", "remove the folder"))
    assert (folder / "owner").read_text() == "999999:aaaaaaaaaaaaaaaa"
    (folder / "owner").unlink()
    assert ledger.insert(golden, **SAVE, now=1).state is State.SUBMITTED
