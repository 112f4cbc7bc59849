"""The banks on this machine: SQLite, their folder, and each database."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from hindbrain.generic._doctor._case import Case
from hindbrain.generic._doctor._finding import Finding, ok, problem
from hindbrain.generic._open import data_dir


def local(case: Case) -> Iterator[Finding]:
    """Whether the embedded banks can be used. Each is opened to be read only."""
    yield _fts5()
    banks = data_dir(case.settings) / "banks"
    databases = sorted(banks.glob("*.sqlite"))
    yield _folder(banks, len(databases))
    yield from filter(None, map(_database, databases))


def _fts5() -> Finding:
    version = sqlite3.sqlite_version
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='trigram')")
    except sqlite3.Error:
        advice = "Use a Python whose SQLite is 3.34 or newer with FTS5."
        return problem("sqlite", f"SQLite {version} has no FTS5 with trigrams.", advice)
    return ok("sqlite", f"SQLite {version} with FTS5", version=version)


def _folder(banks: Path, databases: int) -> Finding:
    if not banks.exists():
        return ok("store", f"{banks} does not exist yet; the first retain makes it", path=str(banks), databases=0)
    mode = stat.S_IMODE(banks.stat().st_mode)
    if mode & 0o077:
        return problem("store", f"{banks} can be read by others (mode {mode:04o}).", f"Run: chmod 700 {banks}")
    return ok("store", f"{banks}, {databases} databases", path=str(banks), databases=databases)


def _database(path: Path) -> Finding | None:
    """What is wrong with a database, or None."""
    # Without a log beside it nobody writes, and SQLite need not make files of its own to read it.
    how = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=1)) as connection:
            sound = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
    except sqlite3.OperationalError:
        advice = "Look for a process that holds it, and check the rights and the disk."
        return problem("database", f"{path.name} could not be opened and read.", advice)
    except sqlite3.DatabaseError:
        sound = False
    if sound:
        return None
    advice = "Move it away to begin anew, or restore a copy; hindbrain never deletes it."
    return problem("database", f"{path.name} is damaged, or no database.", advice)
