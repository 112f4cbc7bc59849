"""``retain-cursors.json`` on a real disk."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hindbrain.contracts import Branch, Coverage, Entry, Message, TextPart
from hindbrain.store._cursors import Cursor, Cursors, CursorsNewerError, OldSession, legacy_fingerprint, move
from hindbrain.store._errors import StoreError
from hindbrain.store._files import FileLayer, OsFileLayer, StateDir
from hindbrain.store._lock import Lock, LockBusyError
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import seal_document
from hindbrain.store.testing import Fault, FaultyLayer, Killed, MemoryLayer

Make = Callable[..., Branch]
Talk = Callable[..., list[Entry]]
Ids = Callable[..., list[str]]
Open = Callable[..., Cursors]
FOLDER = Path("/state")
NOW = datetime(2026, 3, 1, tzinfo=UTC)


class Log:
    """The queue's log, and what the user was told."""

    def __init__(self) -> None:
        self.covers: list[Coverage] = []
        self.told: list[str] = []


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def open_cursors(state: StateDir, key: SealKey, log: Log) -> Open:
    """As a process that starts: nothing in memory."""

    def opened(**changed: Any) -> Cursors:
        given: dict[str, Any] = {"log": lambda: log.covers, "notify": log.told.append, "now": lambda: NOW, "wait": 0.2}
        return Cursors(changed.pop("state", state), changed.pop("key", key), **{**given, **changed})

    return opened


def retain(cursors: Cursors, log: Log, branch: Branch, lineage: str = "line", bank: str = "bank") -> list[str]:
    """A turn's retain: the job first, then the cursor. The ids that were new."""
    new = cursors.new_entries(lineage, bank, branch)
    moved = cursors.plan(lineage, bank, branch, new)
    if moved is not None:
        log.covers.append(moved.coverage(lineage, bank))
    cursors.advance(lineage, bank, branch, new)
    return [entry.id for entry in new]


def path(state: StateDir) -> Path:
    return state.file("retain-cursors.json")


def put_aside(state: StateDir) -> list[str]:
    return sorted(each.name for each in state.path.glob("*.broken-*"))


@pytest.mark.req("S0-cursor-001", "S0-cursor-005")
def test_a_retained_turn_is_in_the_file_of_the_state_folder(
    open_cursors: Open, log: Log, state: StateDir, talk: Talk, branch: Make
) -> None:
    retain(open_cursors(), log, branch(talk(1000)), lineage="session-1")
    found = json.loads(path(state).read_bytes())
    assert path(state).match("*/.pi/hindsight/retain-cursors.json")
    tail = found["lineages"]["session-1"]["banks"]["bank"]["tail"]
    assert [entry_id for entry_id, _ in tail] == [f"m{number}" for number in range(801, 1001)]
    assert path(state).stat().st_mode & 0o777 == 0o600


@pytest.mark.req("S0-cursor-007")
def test_a_restart_offers_what_is_new_and_nothing_else(open_cursors: Open, log: Log, talk: Talk, branch: Make) -> None:
    retain(open_cursors(), log, branch(talk(2)))
    assert retain(open_cursors(), log, branch(talk(3))) == ["m3"]


def test_a_long_session_replayed_after_a_restart_offers_nothing(
    open_cursors: Open, log: Log, talk: Talk, branch: Make
) -> None:
    """spec/faults.md row 8."""
    for count in range(500, 2_501, 500):
        retain(open_cursors(), log, branch(talk(count)))
    assert retain(open_cursors(), log, branch(talk(2_500))) == []


def test_a_session_file_that_moved_keeps_its_document(open_cursors: Open) -> None:
    """spec/faults.md row 8: the key is made of the path once, and then belongs to the session."""
    assert open_cursors().document_key("line", "session", "pi-session:aaaa") == "pi-session:aaaa"
    assert open_cursors().document_key("line", "session", "pi-session:bbbb") == "pi-session:aaaa"
    assert open_cursors().document_key("line", "fork", "pi-session:bbbb") == "pi-session:bbbb"


def test_banks_and_lineages_do_not_share_a_cursor(open_cursors: Open, log: Log, talk: Talk, branch: Make) -> None:
    cursors = open_cursors()
    assert retain(cursors, log, branch(talk(2))) == ["m1", "m2"]
    assert retain(cursors, log, branch(talk(2)), bank="user") == ["m1", "m2"]
    assert retain(cursors, log, branch(talk(2)), lineage="other") == ["m1", "m2"]


def test_a_bank_that_refused_is_offered_its_messages_again(open_cursors: Open, talk: Talk, branch: Make) -> None:
    """spec/memory.md section 6.2: one bank's success gave the other, or itself, a second copy."""
    cursors, seen = open_cursors(), branch(talk(2))
    cursors.advance("line", "first", seen, cursors.new_entries("line", "first", seen))
    assert cursors.new_entries("line", "first", seen) == ()
    assert len(cursors.new_entries("line", "second", seen)) == 2


def test_a_plan_writes_nothing(open_cursors: Open, state: StateDir, talk: Talk, branch: Make) -> None:
    assert open_cursors().plan("line", "bank", branch(talk(2)), talk(2)) is not None
    assert not path(state).exists()


def test_a_job_that_outlived_its_cursor_moves_it_on_opening(
    open_cursors: Open, log: Log, talk: Talk, branch: Make
) -> None:
    cursors, seen = open_cursors(), branch(talk(3))
    moved = cursors.plan("line", "bank", seen, talk(3))
    assert moved is not None
    log.covers.append(moved.coverage("line", "bank"))
    later = open_cursors()
    later.advance_from(log.covers)
    assert open_cursors(log=tuple).new_entries("line", "bank", seen) == ()


@pytest.mark.parametrize("broken", [b"not json", b"", b'{"version":4,"lineages":{}}', b'{"version":9}'])
def test_a_broken_file_is_put_aside_and_rebuilt_from_the_log(
    broken: bytes, open_cursors: Open, log: Log, state: StateDir, talk: Talk
) -> None:
    retain(open_cursors(), log, Branch.of(talk(3)))
    path(state).write_bytes(broken)
    assert retain(open_cursors(), log, Branch.of(talk(4))) == ["m4"]
    assert [state.file(name).read_bytes() for name in put_aside(state)] == [broken]
    assert len(log.told) == 1
    assert put_aside(state)[0] in log.told[0]
    assert retain(open_cursors(log=tuple), log, Branch.of(talk(4))) == []


def test_a_file_that_breaks_while_a_process_runs_costs_nothing_it_knew(
    open_cursors: Open, log: Log, state: StateDir, talk: Talk, branch: Make
) -> None:
    cursors = open_cursors(log=tuple)
    retain(cursors, log, branch(talk(3)))
    path(state).write_bytes(b"\0" * 100)
    assert cursors.new_entries("line", "bank", branch(talk(4))) == (talk(4)[3],)
    path(state).unlink()
    assert cursors.new_entries("line", "bank", branch(talk(4))) == (talk(4)[3],)


def test_cursors_that_came_with_a_cloned_repository_are_not_believed(
    open_cursors: Open, log: Log, state: StateDir, talk: Talk, branch: Make
) -> None:
    retain(open_cursors(key=SealKey(bytes([9] * 32))), Log(), branch(talk(3)))
    assert retain(open_cursors(), log, branch(talk(3))) == ["m1", "m2", "m3"]
    assert len(put_aside(state)) == len(log.told) == 1


@pytest.mark.parametrize("kind", ["link", "folder", "huge"])
def test_what_is_no_file_of_ours_is_put_aside_and_not_followed(
    kind: str, open_cursors: Open, log: Log, state: StateDir, talk: Talk
) -> None:
    target = state.path.parent / "target"
    target.write_bytes(b"somebody's")
    if kind == "link":
        path(state).symlink_to(target)
    elif kind == "folder":
        path(state).mkdir()
    else:
        with path(state).open("wb") as file:
            file.truncate(65 << 20)
    assert retain(open_cursors(), log, Branch.of(talk(1))) == ["m1"]
    assert len(put_aside(state)) == len(log.told) == 1
    assert target.read_bytes() == b"somebody's"


def test_a_newer_file_of_ours_is_left_as_it_is(
    open_cursors: Open, state: StateDir, key: SealKey, talk: Talk, branch: Make
) -> None:
    data = seal_document(key, "retain-cursors", 5, {"shape": "unknown"})
    path(state).write_bytes(data)
    cursors = open_cursors()
    with pytest.raises(CursorsNewerError, match="newer version"):
        cursors.new_entries("line", "bank", branch(talk(1)))
    with pytest.raises(CursorsNewerError):
        cursors.advance("line", "bank", branch(talk(1)), talk(1))
    assert path(state).read_bytes() == data


def messages(count: int) -> tuple[list[Entry], Mapping[str, str]]:
    found, prints = list[Entry](), dict[str, str]()
    for n in range(count):
        at = 1_700_000_000_000 + n
        message = Message(role="user", parts=(TextPart(f"say {n}"),), at=at)
        found.append(Entry(id=f"e{n}", parent_id=f"e{n - 1}" if n else None, kind="message", message=message))
        prints[f"e{n}"] = legacy_fingerprint({"role": "user", "timestamp": at, "content": f"say {n}"})
    return found, prints


@pytest.mark.req("S0-cursor-008", "S0-cursor-009")
def test_an_old_file_is_taken_over_without_a_burst(open_cursors: Open, log: Log, state: StateDir, branch: Make) -> None:
    entries, prints = messages(302)
    old_bytes = json.dumps({"s": [prints[f"e{n}"] for n in range(300)]}).encode()
    path(state).write_bytes(old_bytes)
    cursors = open_cursors()
    old = cursors.old_session("s")
    assert old is not None
    assert json.loads(path(state).read_bytes())["version"] == 4
    assert state.file("retain-cursors.older.json").read_bytes() == old_bytes
    assert len(log.told) == 1
    cursors.adopt("line", "bank", branch(entries), old, prints)
    assert retain(cursors, log, branch(entries)) == ["e300", "e301"]
    assert retain(open_cursors(), log, branch(entries)) == []
    assert open_cursors().old_session("s") == old, "for sessions that come back later"
    assert open_cursors().old_session("t") is None
    assert put_aside(state) == []


def test_an_old_cursor_does_not_replace_one_of_ours(open_cursors: Open, log: Log, branch: Make) -> None:
    entries, prints = messages(5)
    cursors = open_cursors()
    retain(cursors, log, branch(entries[:2]))
    cursors.adopt("line", "bank", branch(entries), OldSession(tuple(prints.values())), prints)
    assert retain(cursors, log, branch(entries)) == ["e2", "e3", "e4"]


def test_a_second_old_file_is_put_aside(
    open_cursors: Open, log: Log, state: StateDir, talk: Talk, branch: Make
) -> None:
    """The first was there before ours; one that turns up later was brought by somebody."""
    path(state).write_bytes(b'{"s":["a"]}')
    retain(open_cursors(), log, branch(talk(2)))
    path(state).write_bytes(b'{"s":["b"]}')
    assert retain(open_cursors(), log, branch(talk(3))) == ["m3"]
    assert len(put_aside(state)) == 1
    assert state.file("retain-cursors.older.json").read_bytes() == b'{"s":["a"]}'
    assert open_cursors().old_session("s") == OldSession(("a",))


def test_without_an_old_file_there_are_no_old_sessions(open_cursors: Open, state: StateDir, tmp_path: Path) -> None:
    assert open_cursors().old_session("s") is None
    state.file("retain-cursors.older.json").symlink_to(tmp_path)
    assert open_cursors().old_session("s") is None
    state.file("retain-cursors.older.json").unlink()
    state.file("retain-cursors.older.json").write_bytes(b"not json")
    assert open_cursors().old_session("s") is None


def test_two_processes_with_one_file_in_memory_lose_nothing_of_each_other(
    open_cursors: Open, log: Log, talk: Talk, branch: Make
) -> None:
    one, other = open_cursors(), open_cursors()
    for count in range(1, 6):
        assert retain(one, log, branch(talk(count)), lineage="a") == [f"m{count}"]
        assert retain(other, log, branch(talk(count)), lineage="b") == [f"m{count}"]
    both = open_cursors().book()
    assert both.cursor("a", "bank") == both.cursor("b", "bank") != Cursor()


def test_a_turn_that_moves_nothing_writes_nothing(
    open_cursors: Open, log: Log, state: StateDir, talk: Talk, branch: Make
) -> None:
    cursors = open_cursors()
    retain(cursors, log, branch(talk(2)))
    before = path(state).stat().st_ino
    retain(cursors, log, branch(talk(2)))
    cursors.advance_from(log.covers)
    assert path(state).stat().st_ino == before


def test_a_held_lock_is_a_typed_error_after_a_bounded_wait(
    open_cursors: Open, state: StateDir, talk: Talk, branch: Make
) -> None:
    with (
        Lock(OsFileLayer(), state.file("retain-cursors.json.lock")).held(),
        pytest.raises(LockBusyError),
    ):
        open_cursors(wait=0.01).advance("line", "bank", branch(talk(1)), talk(1))
    assert not path(state).exists()


def on(layer: FileLayer, key: SealKey) -> Cursors:
    return Cursors(StateDir(layer, FOLDER), key, wait=0)


def begun(key: SealKey, talk: Talk, branch: Make) -> MemoryLayer:
    """A disk on which one message is retained."""
    disk = MemoryLayer()
    disk.make_folders(FOLDER)
    on(disk, key).advance("line", "bank", branch(talk(1)), talk(1))
    disk.settle()
    return disk


def last(layer: FileLayer, key: SealKey) -> str:
    return on(layer, key).cursor("line", "bank").heads[-1].last_id


@pytest.mark.parametrize("fault", list(Fault))
def test_whichever_operation_fails_the_old_or_the_new_is_there_and_success_is_durable(
    fault: Fault, key: SealKey, talk: Talk, branch: Make
) -> None:
    for number in itertools.count(1):
        disk = begun(key, talk, branch)
        faulty = FaultyLayer(disk, fail_at=number, fault=fault)
        try:
            on(faulty, key).advance("line", "bank", branch(talk(2)), talk(2))
        except (StoreError, Killed):
            assert all(last(state, key) in {"m1", "m2"} for state in disk.crash_states())
        else:
            assert all(last(state, key) == "m2" for state in disk.crash_states())
        assert last(disk, key) in {"m1", "m2"}
        if not faulty.fired:
            break
    assert number > 5


def test_a_crash_while_a_broken_file_is_put_aside_loses_nothing_of_the_log(
    key: SealKey, talk: Talk, branch: Make
) -> None:
    moved = move(Cursor(), branch(talk(2)), talk(2))
    assert moved is not None
    covers = [moved.coverage("line", "bank")]
    for number in itertools.count(1):
        disk = MemoryLayer.holding({FOLDER / "retain-cursors.json": b"not json"})
        faulty = FaultyLayer(disk, fail_at=number, fault=Fault.KILL)
        with suppress(Killed):
            Cursors(StateDir(faulty, FOLDER), key, log=lambda: covers, wait=0).book()
        for state in (disk, *disk.crash_states()):
            again = Cursors(StateDir(state, FOLDER), key, log=lambda: covers, wait=0)
            assert again.new_entries("line", "bank", branch(talk(2))) == ()
        if not faulty.fired:
            break
    assert number > 5
