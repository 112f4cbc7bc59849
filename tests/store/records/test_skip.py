"""A run that is skipped: the flag goes only when the cursors have passed its messages. spec/faults.md row 11."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.contracts import Branch, Entry, Message, TextPart
from hindbrain.store._cursors import Cursors
from hindbrain.store._errors import StoreFullError
from hindbrain.store._files import FileLayer, StateDir
from hindbrain.store._records import SessionRecords
from hindbrain.store._seal import SealKey
from hindbrain.store.testing import Fault, FaultyLayer, MemoryLayer

SID = "29e67821bedc391a"
FOLDER = Path("/state")
ENTRIES = [
    Entry(id=f"m{n}", parent_id=f"m{n - 1}" if n else None, kind="message", message=Message(role="user", parts=(part,)))
    for n, part in enumerate(map(TextPart, "abcd"))
]
RUN = Branch.of(ENTRIES[:3])


def end_of_run(layer: FileLayer, key: SealKey) -> None:
    """What a host does where a run is to be skipped."""
    state = StateDir(layer, FOLDER)
    records, cursors = SessionRecords(state, key, wait=0), Cursors(state, key, wait=0)
    skip = records.pending_skip(SID)
    assert skip is not None
    cursors.advance("line", "bank", RUN, cursors.new_entries("line", "bank", RUN))
    records.consume(skip)


def opted_out(key: SealKey) -> MemoryLayer:
    disk = MemoryLayer.holding({FOLDER / "retain-cursors.json": b"not json"})
    SessionRecords(StateDir(disk, FOLDER), key).skip_next(SID)
    return disk


def test_a_broken_cursor_file_is_no_wall_and_the_skipped_messages_never_come(key: SealKey) -> None:
    disk = opted_out(key)
    end_of_run(disk, key)
    state = StateDir(disk, FOLDER)
    assert SessionRecords(state, key).pending_skip(SID) is None
    assert Cursors(state, key).new_entries("line", "bank", Branch.of(ENTRIES)) == (ENTRIES[3],)


def test_a_cursor_that_could_not_be_written_leaves_the_flag(key: SealKey) -> None:
    disk = opted_out(key)
    with pytest.raises(StoreFullError):
        end_of_run(FaultyLayer(disk, fail_at=20, fault=Fault.ENOSPC, lasting=True), key)
    state = StateDir(disk, FOLDER)
    assert SessionRecords(state, key).pending_skip(SID) is not None
    assert len(Cursors(state, key).new_entries("line", "bank", RUN)) == 3
