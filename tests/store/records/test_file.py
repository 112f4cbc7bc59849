"""``session-meta/<sid>.json`` on a real disk."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.store._errors import StoreError
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._lock import Lock, LockBusyError
from hindbrain.store._records import (
    Mode,
    Permissions,
    RecordDistrustedError,
    RecordNewerError,
    RecordValueError,
    SessionRecord,
    SessionRecords,
    Switch,
    permissions,
)
from hindbrain.store._records._codec import Newer, decode, encode
from hindbrain.store._records._record import CLOSED
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import Distrust, seal_document
from hindbrain.store.testing import Fault, FaultyLayer, Killed, MemoryLayer

SID = "29e67821bedc391a"
OTHER = "0123456789abcdef"
FOLDER = Path("/state")
NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)
Open = Callable[..., SessionRecords]


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def open_records(state: StateDir, key: SealKey, told: list[str]) -> Open:
    def opened(**changed: Any) -> SessionRecords:
        given: dict[str, Any] = {"notify": told.append, "now": lambda: NOW, "wait": 0.05}
        return SessionRecords(changed.pop("state", state), changed.pop("key", key), **{**given, **changed})

    return opened


def path(state: StateDir, sid: str = SID) -> Path:
    return state.path / "session-meta" / f"{sid}.json"


@pytest.mark.req("S0-governance-001")
def test_a_mode_is_kept_in_the_sessions_own_file(open_records: Open, state: StateDir) -> None:
    open_records().set_mode(SID, "read-only")
    found = json.loads(path(state).read_bytes())
    assert path(state).match(f"*/.pi/hindsight/session-meta/{SID}.json")
    assert {name: value for name, value in found.items() if name not in {"version", "seal"}} == {
        "retained": True,
        "recallMode": "normal",
        "retainMode": "normal",
        "nextRetainMode": "normal",
        "mode": "read-only",
        "tags": [],
        "createdAt": "2026-03-01T10:00:00.000Z",
        "updatedAt": "2026-03-01T10:00:00.000Z",
    }
    assert path(state).stat().st_mode & 0o777 == 0o600
    assert path(state).parent.stat().st_mode & 0o777 == 0o700
    assert open_records().read(SID).mode is Mode.READ_ONLY


@pytest.mark.req("S0-governance-018")
def test_one_sessions_mode_is_not_anothers(open_records: Open) -> None:
    records = open_records()
    records.set_mode(SID, "ignored")
    assert permissions(records.read(SID)) == Permissions(recalls=False, retains=False)
    assert permissions(records.read(OTHER)) == Permissions(recalls=True, retains=True)


def test_without_a_record_everything_is_normal_and_nothing_is_written(
    open_records: Open, state: StateDir, told: list[str]
) -> None:
    assert open_records().read(SID) == SessionRecord()
    assert open_records().set_mode(SID, "normal") == SessionRecord()
    assert not path(state).exists()
    assert told == []


def test_every_change_is_kept(open_records: Open) -> None:
    open_records().set_retain(SID, on=False)
    open_records().add_tag(SID, "topic:db")
    open_records().add_tag(SID, "x")
    open_records().remove_tag(SID, "x")
    later = datetime(2026, 3, 2, tzinfo=UTC)
    open_records(now=lambda: later).skip_next(SID)
    assert open_records().read(SID) == SessionRecord(
        retained=False,
        retain_mode=Switch.OFF,
        next_retain_mode=Switch.OFF,
        tags=("topic:db",),
        created_at="2026-03-01T10:00:00.000Z",
        updated_at="2026-03-02T00:00:00.000Z",
    )


def test_a_skipped_run_is_used_up_only_when_its_messages_were_passed_over(open_records: Open) -> None:
    """spec/faults.md row 11: the flag was cleared first, and the messages leaked a turn later."""
    records = open_records()
    assert records.pending_skip(SID) is None
    records.skip_next(SID)
    skip = open_records().pending_skip(SID)
    assert skip is not None
    assert not permissions(records.read(SID)).retains
    assert permissions(records.read(SID)).recalls
    assert open_records().pending_skip(SID) == skip, "asking does not use it up"
    assert permissions(records.consume(skip)).retains
    assert open_records().pending_skip(SID) is None


BROKEN = [b"not json", b"", b"{}", b"[]", b'{"mode":"normal"}', b'{"version":1,"retained":true}', b"\0" * 50]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_record_that_cannot_be_believed_turns_everything_off_and_says_so_once(
    broken: bytes, open_records: Open, state: StateDir, told: list[str]
) -> None:
    records = open_records()
    records.add_tag(SID, "x")
    path(state).write_bytes(broken)
    assert records.read(SID) == records.read(SID) == CLOSED
    assert len(told) == 1
    assert SID in told[0]
    assert records.pending_skip(SID) is None
    for change in (records.skip_next, lambda sid: records.set_retain(sid, on=True), lambda s: records.add_tag(s, "a")):
        with pytest.raises(RecordDistrustedError, match="Set a mode"):
            change(SID)
    assert path(state).read_bytes() == broken


@pytest.mark.parametrize("mode", list(Mode))
def test_setting_a_mode_takes_the_place_of_a_broken_record_and_keeps_it_aside(
    mode: Mode, open_records: Open, state: StateDir
) -> None:
    path(state).parent.mkdir()
    path(state).write_bytes(b"not json")
    open_records().set_mode(SID, mode)
    assert permissions(open_records().read(SID)) == permissions(CLOSED.with_mode(mode))
    path(state).write_bytes(b"again")
    open_records().set_mode(SID, mode)
    aside = sorted(each for each in path(state).parent.iterdir() if ".broken-" in each.name)
    assert [each.read_bytes() for each in aside] == [b"not json", b"again"]


def test_a_record_that_came_with_a_cloned_repository_is_not_believed(open_records: Open, told: list[str]) -> None:
    open_records(key=SealKey(bytes([7] * 32))).set_retain(SID, on=True)
    open_records(key=SealKey(bytes([7] * 32))).add_tag(SID, "planted")
    assert open_records().read(SID) == CLOSED
    assert "not written by this user" in told[0]


def test_a_record_of_another_session_is_not_believed(open_records: Open, state: StateDir) -> None:
    open_records().add_tag(SID, "x")
    path(state, OTHER).write_bytes(path(state).read_bytes())
    assert open_records().read(OTHER) == CLOSED


@pytest.mark.parametrize("kind", ["link", "folder", "linked folder", "huge"])
def test_what_is_no_file_of_ours_turns_everything_off_and_is_not_followed(
    kind: str, open_records: Open, state: StateDir, tmp_path: Path, told: list[str]
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    theirs = target / f"{SID}.json"
    if kind == "linked folder":
        theirs.write_bytes(encode(SID, SessionRecord(created_at="a", updated_at="a"), SealKey(bytes(range(32)))))
        path(state).parent.symlink_to(target)
    else:
        path(state).parent.mkdir()
    if kind == "link":
        theirs.write_bytes(b"somebody's")
        path(state).symlink_to(theirs)
    elif kind == "folder":
        path(state).mkdir()
    elif kind == "huge":
        with path(state).open("wb") as file:
            file.truncate(2 << 20)
    before = theirs.read_bytes() if theirs.exists() else b""
    assert open_records().read(SID) == CLOSED
    assert len(told) == 1
    with pytest.raises(StoreError):
        open_records().set_mode(SID, "normal")
    assert open_records().read(SID) == CLOSED
    assert (theirs.read_bytes() if theirs.exists() else b"") == before


def test_a_newer_record_of_ours_turns_everything_off_and_is_left_as_it_is(
    open_records: Open, state: StateDir, key: SealKey, told: list[str]
) -> None:
    path(state).parent.mkdir()
    data = seal_document(key, f"session-meta/{SID}", 2, {"shape": "unknown"})
    path(state).write_bytes(data)
    assert open_records().read(SID) == CLOSED
    assert "newer version" in told[0]
    with pytest.raises(RecordNewerError):
        open_records().set_mode(SID, "normal")
    assert path(state).read_bytes() == data


@pytest.mark.parametrize("sid", ["", "../../etc/passwd", SID.upper(), SID[:15], SID + "0", SID + "\n", "g" * 16])
def test_a_session_id_of_another_form_is_refused_before_the_disk_is_touched(
    sid: str, open_records: Open, state: StateDir
) -> None:
    records = open_records()
    for call in (records.read, records.skip_next, records.pending_skip, lambda s: records.set_mode(s, "normal")):
        with pytest.raises(RecordValueError, match="16 hex digits"):
            call(sid)
    assert not path(state).parent.exists()


def test_a_refused_change_leaves_the_record(open_records: Open, state: StateDir) -> None:
    open_records().add_tag(SID, "x")
    before = path(state).read_bytes()
    with pytest.raises(RecordValueError, match="reserved"):
        open_records().set_mode(SID, "tools-only")
    with pytest.raises(RecordValueError):
        open_records().add_tag(SID, "\n\x00")
    assert path(state).read_bytes() == before


def test_a_held_lock_is_a_typed_error_after_a_bounded_wait(open_records: Open, state: StateDir) -> None:
    with Lock(OsFileLayer(), state.file("session-meta.lock")).held(), pytest.raises(LockBusyError):
        open_records().set_mode(SID, "ignored")
    assert open_records().read(SID) == SessionRecord()


WRITER = """
import sys
from pathlib import Path
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._records import SessionRecords
from hindbrain.store._seal import SealKey

records = SessionRecords(StateDir.open(OsFileLayer(), Path(sys.argv[1])), SealKey(bytes(range(32))), wait=20)
for number in range(20):
    records.add_tag(sys.argv[2], f"{sys.argv[3]}-{number}")
"""


async def test_writers_in_two_processes_lose_nothing_of_each_other(open_records: Open, state: StateDir) -> None:
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(state.path), SID, name) for name in "ab"
    ]
    async with asyncio.timeout(50):
        assert [await process.wait() for process in processes] == [0, 0]
    assert set(open_records().read(SID).tags) == {f"{name}-{number}" for name in "ab" for number in range(20)}
    assert state.layer.listdir(path(state).parent) == [f"{SID}.json"]


def on(layer: Any, key: SealKey) -> SessionRecords:
    return SessionRecords(StateDir(layer, FOLDER), key, now=lambda: NOW, wait=0)


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("before", ["ignored", "broken"])
def test_whichever_operation_fails_a_closed_session_never_opens_by_itself(
    fault: Fault, before: str, key: SealKey
) -> None:
    """The change is to read-only: nothing in between permits to retain, and success is durable."""
    for number in itertools.count(1):
        disk = MemoryLayer()
        disk.make_folders(FOLDER)
        on(disk, key).set_mode(SID, "ignored")
        if before == "broken":
            kept = disk.files()[FOLDER / "session-meta" / f"{SID}.json"]
            disk = MemoryLayer.holding({FOLDER / "session-meta" / f"{SID}.json": kept[:-5]})
        disk.settle()
        faulty = FaultyLayer(disk, fail_at=number, fault=fault)
        try:
            on(faulty, key).set_mode(SID, "read-only")
            allowed = {Mode.READ_ONLY}
        except (StoreError, Killed):
            allowed = {Mode.READ_ONLY, Mode.IGNORED}
        assert {on(state, key).read(SID).mode for state in (disk, *disk.crash_states())} <= allowed
        if not faulty.fired:
            break
    assert number > 5


@pytest.mark.parametrize("fault", [Fault.EIO, Fault.KILL])
def test_a_record_that_the_disk_will_not_give_turns_everything_off(fault: Fault, key: SealKey) -> None:
    disk = MemoryLayer()
    disk.make_folders(FOLDER)
    on(disk, key).add_tag(SID, "x")
    for number in itertools.count(1):
        faulty = FaultyLayer(disk, fail_at=number, fault=fault)
        try:
            found = on(faulty, key).read(SID)
        except Killed:
            continue
        if not faulty.fired:
            break
        assert found == CLOSED
    assert number > 3


KEY = SealKey(bytes(32))
RECORD = SessionRecord(tags=("a", "b"), created_at="2026", updated_at="2027", mode=Mode.READ_ONLY)
BODY = json.loads(encode(SID, RECORD, KEY))


def test_a_record_comes_back_as_it_was_written() -> None:
    assert decode(SID, encode(SID, RECORD, KEY), KEY) == RECORD


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_every_flipped_byte_is_detected(place: int, flip: int) -> None:
    data = bytearray(encode(SID, RECORD, KEY))
    data[place % len(data)] ^= flip
    assert isinstance(decode(SID, bytes(data), KEY), Distrust)


@given(st.binary())
def test_no_bytes_are_a_record(data: bytes) -> None:
    assert isinstance(decode(SID, data, KEY), Distrust)


@pytest.mark.parametrize(
    "change",
    [
        {"retained": 1},
        {"recallMode": "on"},
        {"retainMode": None},
        {"nextRetainMode": []},
        {"mode": "tools-only"},
        {"tags": None},
        {"tags": [1]},
        {"tags": [""]},
        {"createdAt": None},
        {"updatedAt": 7},
        {"more": True},
    ],
)
def test_a_sealed_record_of_a_wrong_form_is_malformed(change: dict[str, object]) -> None:
    body = {name: value for name, value in BODY.items() if name not in {"version", "seal"}}
    data = seal_document(KEY, f"session-meta/{SID}", 1, {**body, **change})
    assert decode(SID, data, KEY) is Distrust.MALFORMED


def test_a_newer_version_is_known_as_one() -> None:
    assert decode(SID, seal_document(KEY, f"session-meta/{SID}", 2, {"a": 1}), KEY) == Newer(2)
