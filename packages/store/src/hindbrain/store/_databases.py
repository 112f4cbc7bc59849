"""The databases of one folder, opened when they are needed."""

from __future__ import annotations

import os
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from hindbrain.store._connect import connect, use_wal
from hindbrain.store._errors import StoreReadOnlyError
from hindbrain.store._paths import prepare_folder
from hindbrain.store._schema import check_version, migrate
from hindbrain.store._worker import Job


@frozen
class _Open:
    connection: sqlite3.Connection
    file: tuple[int, int]
    """Device and number: a file that was moved away or replaced is not written to any more."""


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _read_only_told(folder: Path) -> Iterator[None]:
    """SQLite has files of its own beside a database, and where those cannot be made it says "unable to open"."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CANTOPEN and not os.access(folder, os.W_OK):
            raise StoreReadOnlyError from error
        raise


class OpenFiles:
    """The databases of one folder that stay open, the least used closed first. Used by the worker's thread alone."""

    def __init__(self, root: Path, *, wait: float, most: int) -> None:
        self._root = root
        self._wait = wait
        self._most = most
        self._open: OrderedDict[str, _Open] = OrderedDict()

    def open(self, job: Job, name: str, steps: tuple[str, ...]) -> sqlite3.Connection | None:
        """A database that is there, brought to its newest version; None where there is no such file."""
        return self.make(job, name, steps) if _identity(self._root / name) is not None else None

    def make(self, job: Job, name: str, steps: tuple[str, ...]) -> sqlite3.Connection:
        """A database, made if it is not there, for this job to use.

        Raises:
            StoreError, sqlite3.Error, OSError: it cannot be opened; it was left as it is.
        """
        path = self._root / name
        known = self._open.get(name)
        if known is not None and known.file != _identity(path):
            self._open.pop(name).connection.close()
            known = None
        if known is None:
            with _read_only_told(self._root):
                known = self._open[name] = self._connect(path, steps)
        self._open.move_to_end(name)
        while len(self._open) > self._most:
            self._open.popitem(last=False)[1].connection.close()
        job.uses(known.connection)
        return known.connection

    def _connect(self, path: Path, steps: tuple[str, ...]) -> _Open:
        prepare_folder(self._root)
        connection = connect(path, wait=self._wait)
        try:
            check_version(connection, len(steps))
            use_wal(connection, self._wait)
            migrate(connection, steps)
        except BaseException:
            connection.close()
            raise
        return _Open(connection, _identity(path) or (0, 0))

    def close(self) -> None:
        """Close every file."""
        while self._open:
            self._open.popitem()[1].connection.close()
