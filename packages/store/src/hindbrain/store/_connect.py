"""Opening one SQLite file the way every file of this store is opened."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hindbrain.store._paths import prepare_file

_PAUSE = 0.01


def use_wal(connection: sqlite3.Connection, wait: float) -> None:
    """Switch to write-ahead logging, which writes into the file.

    SQLite does not wait here itself when two processes switch at once.
    """
    until = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
        else:
            return


def connect(path: Path, *, wait: float) -> sqlite3.Connection:
    """Open a file, making it if it is not there: every commit synced, deleted content overwritten.

    Nothing is written to a file that exists.

    Args:
        path: the file; its folder exists.
        wait: seconds to wait for a lock.

    Raises:
        StorePathError, sqlite3.Error, OSError: as they come; see :func:`hindbrain.store._errors.translated`.
    """
    prepare_file(path)
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        for pragma in ("synchronous = FULL", "secure_delete = ON", "foreign_keys = OFF", "cache_size = -32768"):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One write transaction: all of it or nothing, and the lock taken before anything is read."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
