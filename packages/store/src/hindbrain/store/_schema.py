"""The tables of one bank, and how an older file becomes a newer one.

``fact`` holds what is recalled; ``view`` its index words, contentless; ``term`` how many facts hold each index word;
``shape`` the three-letter runs of the words themselves. An observation has no row: it is the facts that share ``key``
(their text) and one of the tag sets of their ``scope``, so nothing is indexed twice.
"""

from __future__ import annotations

import sqlite3

from hindbrain.store._connect import writing
from hindbrain.store._errors import StoreCorruptError, StoreNewerError

APPLICATION_ID = 0x68626E6B
"""Marks a file as a hindbrain bank."""

_FIRST = """
CREATE TABLE stat (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO stat VALUES ('facts', 0), ('words', 0);
CREATE TABLE tagset (id INTEGER PRIMARY KEY, tags TEXT NOT NULL UNIQUE);
CREATE TABLE scope (id INTEGER PRIMARY KEY, tagsets TEXT NOT NULL UNIQUE);
CREATE TABLE document (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, digest BLOB NOT NULL, tagset INTEGER NOT NULL REFERENCES tagset,
  scope INTEGER NOT NULL REFERENCES scope, metadata TEXT NOT NULL, facts INTEGER NOT NULL, created_at TEXT NOT NULL
);
CREATE TABLE fact (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES document, seq INTEGER NOT NULL, turn INTEGER NOT NULL,
  type TEXT NOT NULL, role TEXT, tagset INTEGER NOT NULL REFERENCES tagset, scope INTEGER NOT NULL REFERENCES scope,
  key BLOB NOT NULL, text TEXT NOT NULL, context TEXT, origin TEXT NOT NULL, at TEXT, moment INTEGER NOT NULL,
  size INTEGER NOT NULL, words TEXT NOT NULL, about TEXT NOT NULL
);
CREATE UNIQUE INDEX fact_place ON fact (document, seq);
CREATE INDEX fact_key ON fact (key, scope);
CREATE INDEX fact_tagset ON fact (tagset);
CREATE INDEX fact_scope ON fact (scope);
CREATE TABLE term (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, facts INTEGER NOT NULL);
CREATE VIRTUAL TABLE view USING fts5 (words, content='', tokenize='ascii');
CREATE VIRTUAL TABLE shape USING fts5 (word, content='', tokenize='trigram');
CREATE TABLE vector (
  fact INTEGER NOT NULL REFERENCES fact, model TEXT NOT NULL, numbers BLOB NOT NULL, UNIQUE (fact, model)
);
CREATE TABLE operation (
  id TEXT PRIMARY KEY, document TEXT NOT NULL, facts INTEGER NOT NULL, created_at TEXT NOT NULL
) WITHOUT ROWID;
"""
MIGRATIONS: tuple[str, ...] = (_FIRST,)
"""Step n brings a file of version n to n + 1. Steps are only ever added."""


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _statements(script: str) -> list[str]:
    return [statement for statement in script.split(";\n") if statement.strip()]


def check_version(connection: sqlite3.Connection, newest: int) -> int:
    """The version of a file, 0 where it is empty; nothing is written.

    Raises:
        StoreNewerError: a newer hindbrain wrote the file.
        StoreCorruptError: the file is an SQLite database of somebody else.
    """
    used = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    if used and _number(connection, "application_id") != APPLICATION_ID:
        raise StoreCorruptError
    version = _number(connection, "user_version")
    if version > newest:
        raise StoreNewerError
    return version


def migrate(connection: sqlite3.Connection, steps: tuple[str, ...] = MIGRATIONS) -> None:
    """Bring a file to the newest version, all steps or none.

    Raises:
        StoreError: as :func:`check_version`.
    """
    if check_version(connection, len(steps)) == len(steps):
        return
    with writing(connection):
        for step in steps[check_version(connection, len(steps)) :]:
            for statement in _statements(step):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")
