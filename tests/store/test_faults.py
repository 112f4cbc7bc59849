"""A database that cannot be used gives a typed error, and is left as it is."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hindbrain.contracts import BackendError, OperationConflictError, RecallQuery, RetainItem
from hindbrain.store import (
    EmbeddedBackend,
    StoreBusyError,
    StoreClosedError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreNewerError,
    StoreReadOnlyError,
    StoreUnavailableError,
)
from hindbrain.store._connect import use_wal
from hindbrain.store._errors import translated

if TYPE_CHECKING:
    from store.conftest import Ask, Keep

ID = "93e33487-6c92-5880-9b29-dc86689d9c26"


def connection_of(backend: EmbeddedBackend, name: str = "bank.sqlite") -> sqlite3.Connection:
    return backend._files._open[name].connection


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be one" * 100, b"SQLite format 3\0" * 400]
)
async def test_a_corrupt_file_is_reported_and_kept(root: Path, keep: Keep, ask: Ask, content: bytes) -> None:
    root.mkdir()
    (root / "bank.sqlite").write_bytes(content)
    with pytest.raises(StoreCorruptError) as retaining:
        await keep("The tide turns.")
    with pytest.raises(StoreCorruptError):
        await ask("tide")
    assert (retaining.value.code, retaining.value.retryable) == ("store-corrupt", False)
    assert (root / "bank.sqlite").read_bytes() == content


async def test_a_file_with_a_damaged_page_is_reported_and_kept(
    root: Path, backend: EmbeddedBackend, keep: Keep
) -> None:
    for number in range(40):
        await keep(f"The tide turns {number} times. " * 15, document_id=f"d{number}")
    await backend.close()
    path = root / "bank.sqlite"
    whole = path.read_bytes()
    damaged = whole[:4096] + os.urandom(len(whole) - 4096)
    path.write_bytes(damaged)
    again = EmbeddedBackend(root)
    with pytest.raises(StoreCorruptError):
        await again.recall("bank", RecallQuery(text="tide turns"))
    await again.close()
    assert path.read_bytes() == damaged


async def test_a_database_of_somebody_else_is_left_alone(root: Path, keep: Keep) -> None:
    root.mkdir()
    path = root / "bank.sqlite"
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE theirs (x)")
    foreign.commit()
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(StoreCorruptError):
        await keep("The tide turns.")
    assert path.read_bytes() == before


async def test_a_newer_schema_is_refused_and_left_alone(root: Path, backend: EmbeddedBackend, keep: Keep) -> None:
    await keep("The tide turns.")
    await backend.close()
    path = root / "bank.sqlite"
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    before = path.read_bytes()
    again = EmbeddedBackend(root)
    for call in (again.recall("bank", RecallQuery(text="tide")), again.delete("bank", "doc")):
        with pytest.raises(StoreNewerError) as refused:
            await call
    await again.close()
    assert refused.value.code == "store-newer"
    assert path.read_bytes() == before


async def test_a_locked_database_is_busy_and_may_be_tried_again(root: Path, keep: Keep, ask: Ask) -> None:
    await keep("The tide turns.")
    other = sqlite3.connect(root / "bank.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError) as busy:
        await keep("The moon rises.", document_id="other")
    assert (busy.value.code, busy.value.retryable) == ("store-busy", True)
    assert (await ask("tide")).facts, "readers do not wait for a writer"
    other.execute("ROLLBACK")
    other.close()
    await keep("The moon rises.", document_id="other")
    assert (await ask("moon")).facts


def test_the_switch_to_the_write_ahead_log_waits_and_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (sqlite3.connect(tmp_path / "x", isolation_level=None, timeout=0) for _ in range(2))
    first.execute("CREATE TABLE t (x)")
    first.execute("BEGIN IMMEDIATE")
    first.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(StoreBusyError), translated():
        use_wal(second, 0.05)
    monkeypatch.setattr("time.sleep", lambda _seconds: first.execute("COMMIT"))
    use_wal(second, 30)
    assert second.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    first.close()
    second.close()


async def test_a_full_disk_keeps_what_was_there_and_nothing_of_the_call(
    backend: EmbeddedBackend, keep: Keep, ask: Ask
) -> None:
    await keep("The tide turns.")
    connection = connection_of(backend)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreFullError) as full:
        await keep("\n\n".join(f"moon{n} " * 80 for n in range(400)), document_id="big")
    assert (full.value.code, full.value.retryable) == ("store-full", True)
    assert (await ask("tide")).facts
    assert not (await ask("moon7")).facts
    connection.execute("PRAGMA max_page_count = 100000")
    await keep("The moon rises.", document_id="big")
    assert (await ask("moon")).facts


async def test_a_database_that_may_not_be_written_says_so(backend: EmbeddedBackend, keep: Keep, ask: Ask) -> None:
    await keep("The tide turns.")
    connection_of(backend).execute("PRAGMA query_only = ON")
    with pytest.raises(StoreReadOnlyError) as refused:
        await keep("The moon rises.", document_id="other")
    assert refused.value.code == "store-read-only"
    assert (await ask("tide")).facts


@pytest.mark.parametrize(
    ("writable", "expected"), [(False, StoreReadOnlyError), (True, StoreUnavailableError)], ids=["read-only", "other"]
)
async def test_a_database_in_a_folder_that_may_not_be_written_is_read_only_and_not_missing(
    root: Path, keep: Keep, monkeypatch: pytest.MonkeyPatch, writable: bool, expected: type[StoreError]
) -> None:
    await keep("The tide turns.")
    again = EmbeddedBackend(root)
    unable = sqlite3.OperationalError("unable to open database file")
    unable.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN

    def refuse(_connection: sqlite3.Connection, _wait: float) -> None:
        raise unable  # what SQLite says of its -shm file on a disk mounted read-only

    monkeypatch.setattr("hindbrain.store._databases.use_wal", refuse)
    monkeypatch.setattr("hindbrain.store._databases.os.access", lambda path, mode: writable and (path, mode))
    with pytest.raises(expected) as refused:
        await again.recall("bank", RecallQuery(text="tide"))
    await again.close()
    assert "unable" not in str(refused.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PermissionError(13, "denied"), StoreReadOnlyError),
        (OSError(30, "read-only file system, denied"), StoreReadOnlyError),
        (OSError(28, "no space, denied"), StoreFullError),
        (OSError(5, "input/output"), StoreUnavailableError),
    ],
)
def test_errors_of_the_operating_system_become_ours(error: OSError, expected: type[StoreError]) -> None:
    with pytest.raises(expected) as raised, translated():
        raise error
    assert raised.value.__cause__ is error
    assert "denied" not in str(raised.value)


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailableError), translated():
        next((tmp_path / "file").iterdir())


def test_every_error_is_a_backend_error_with_a_code_and_a_next_step() -> None:
    every: list[type[StoreError]] = [StoreError, *StoreError.__subclasses__()]
    kinds = [kind for kind in every if kind.__module__ == StoreError.__module__]
    assert len({kind.code for kind in kinds}) == len(kinds)
    for kind in kinds:
        error = kind()
        assert isinstance(error, BackendError)
        assert error.what.endswith(".")
        assert error.next_step.endswith(".")


async def test_an_operation_id_of_another_bank_is_a_conflict_across_backends(root: Path) -> None:
    item = RetainItem(content="The tide turns.", document_id="doc")
    first, second = EmbeddedBackend(root), EmbeddedBackend(root)
    await first.retain("one", item, operation_id=ID)
    with pytest.raises(OperationConflictError):
        await second.retain("two", item, operation_id=ID)
    assert not (await second.recall("two", RecallQuery(text="tide"))).facts
    await first.close()
    await second.close()


async def test_a_claim_whose_bank_was_never_written_is_filled_by_the_next_try(
    backend: EmbeddedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = RetainItem(content="The tide turns.", document_id="doc")
    with monkeypatch.context() as broken:
        broken.setattr("hindbrain.store._write.retain", _crash)
        with pytest.raises(RuntimeError):
            await backend.retain("bank", item, operation_id=ID)
    assert (await backend.status("bank", ID)).status == "not_found"
    await backend.retain("bank", item, operation_id=ID)
    assert (await backend.status("bank", ID)).status == "completed"
    assert (await backend.recall("bank", RecallQuery(text="tide"))).facts


def _crash(*_: object, **__: object) -> None:
    raise RuntimeError


async def test_a_closed_store_says_so(backend: EmbeddedBackend) -> None:
    await backend.close()
    with pytest.raises(StoreClosedError):
        await backend.recall("bank", RecallQuery(text="tide"))


def test_sqlites_result_codes_are_known_by_their_right_numbers() -> None:
    from hindbrain.store._errors import _BY_CODE

    names = [
        "PERM",
        "BUSY",
        "LOCKED",
        "NOMEM",
        "READONLY",
        "IOERR",
        "CORRUPT",
        "FULL",
        "CANTOPEN",
        "PROTOCOL",
        "NOTADB",
    ]
    assert set(_BY_CODE) == {getattr(sqlite3, f"SQLITE_{name}") for name in (*names, "NOTADB")}
