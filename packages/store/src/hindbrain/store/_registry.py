"""Which bank an operation id belongs to: one small database beside the banks.

An id is claimed here before the bank is written. A crash in between leaves a claim without an operation, which the
same retain fills when it is tried again.
"""

from __future__ import annotations

import sqlite3

from hindbrain.contracts import OperationConflictError
from hindbrain.store._connect import writing

STEPS = ("CREATE TABLE claim (id TEXT PRIMARY KEY, bank TEXT NOT NULL) WITHOUT ROWID",)
"""The registry's own migrations; see :func:`hindbrain.store._schema.migrate`."""


def claim(connection: sqlite3.Connection, operation_id: str, bank: str) -> None:
    """Claim an id for a bank; claiming it again for the same bank changes nothing.

    Raises:
        OperationConflictError: another bank has it.

    Source: spec/hindsight-server.md section 4.1 (409, captures a052 and a054).
    """
    find = "SELECT bank FROM claim WHERE id = ?"
    owner = connection.execute(find, (operation_id,)).fetchone()
    if owner is None:
        with writing(connection):
            connection.execute("INSERT OR IGNORE INTO claim VALUES (?, ?)", (operation_id, bank))
            owner = connection.execute(find, (operation_id,)).fetchone()
    if owner[0] != bank:
        raise OperationConflictError(
            "The operation id was already used in another bank; nothing was stored.",
            next_step="Use a new operation id.",
        )
