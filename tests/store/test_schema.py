"""Older files become newer ones, whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from hindbrain.store._schema import MIGRATIONS, check_version, migrate

NEXT = (*MIGRATIONS, "ALTER TABLE document ADD COLUMN colour TEXT;\nCREATE TABLE more (x)")


def open_file(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_a_new_file_gets_the_newest_version(tmp_path: Path) -> None:
    connection = open_file(tmp_path / "x")
    assert check_version(connection, len(MIGRATIONS)) == 0
    migrate(connection)
    assert check_version(connection, len(MIGRATIONS)) == len(MIGRATIONS)
    migrate(connection)
    connection.close()


def test_an_older_file_keeps_its_data_over_a_step(tmp_path: Path) -> None:
    connection = open_file(tmp_path / "x")
    migrate(connection)
    connection.execute("INSERT INTO tagset (tags) VALUES ('[]')")
    migrate(connection, NEXT)
    assert check_version(connection, len(NEXT)) == len(NEXT)
    assert connection.execute("SELECT tags FROM tagset").fetchall() == [("[]",)]
    assert connection.execute("SELECT count(*) FROM more").fetchone() == (0,)
    connection.close()


def test_a_step_that_fails_leaves_the_older_version(tmp_path: Path) -> None:
    connection = open_file(tmp_path / "x")
    migrate(connection)
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, (*MIGRATIONS, "CREATE TABLE more (x);\nCREATE TABLE tagset (x)"))
    assert check_version(connection, 1) == 1
    assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'more'").fetchall()
    connection.close()


def test_two_processes_that_make_a_file_at_once_agree(tmp_path: Path) -> None:
    first, second = open_file(tmp_path / "x"), open_file(tmp_path / "x")
    migrate(first)
    migrate(second)
    assert check_version(second, 1) == 1
    first.close()
    second.close()
