"""Writing one bank: retain and delete, each inside one transaction of the caller."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterable

from attrs import frozen

from hindbrain.contracts import UpdateMode
from hindbrain.store._facts import Prepared, Row
from hindbrain.store._words import coded

_INSERT_FACT = """
INSERT INTO fact (
  id, document, seq, turn, type, role, tagset, scope, key, text, context, origin, at, moment, size, words, about
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SHAPED = 5
"""Words shorter than this have no shape worth indexing."""
_DOCUMENT = """
INSERT INTO document (name, digest, tagset, scope, metadata, facts, created_at) VALUES (?, ?, ?, ?, ?, 0, ?)
ON CONFLICT (name) DO UPDATE SET
  digest = excluded.digest, tagset = excluded.tagset, scope = excluded.scope, metadata = excluded.metadata
"""
_WHOLE = 20_000
"""Up to this many facts, a delete rewrites the index so that no erased word stays in it."""


@frozen
class Document:
    """A document's row."""

    id: int
    digest: bytes
    facts: int
    tags: tuple[int, int]
    """The numbers of its tag set and of its scope."""


def find_document(connection: sqlite3.Connection, name: str) -> Document | None:
    """The document of this name."""
    sql = "SELECT id, digest, facts, tagset, scope FROM document WHERE name = ?"
    row = connection.execute(sql, (name,)).fetchone()
    return Document(row[0], row[1], row[2], (row[3], row[4])) if row is not None else None


def find_operation(connection: sqlite3.Connection, operation_id: str) -> int | None:
    """How many facts an operation stored; None where this bank does not know it."""
    row = connection.execute("SELECT facts FROM operation WHERE id = ?", (operation_id,)).fetchone()
    return None if row is None else int(row[0])


def _tagset(connection: sqlite3.Connection, tags: str) -> int:
    connection.execute("INSERT OR IGNORE INTO tagset (tags) VALUES (?)", (tags,))
    return int(connection.execute("SELECT id FROM tagset WHERE tags = ?", (tags,)).fetchone()[0])


def _scope(connection: sqlite3.Connection, scopes: Iterable[str]) -> int:
    tagsets = json.dumps(sorted(_tagset(connection, tags) for tags in scopes))
    connection.execute("INSERT OR IGNORE INTO scope (tagsets) VALUES (?)", (tagsets,))
    return int(connection.execute("SELECT id FROM scope WHERE tagsets = ?", (tagsets,)).fetchone()[0])


def _count(connection: sqlite3.Connection, facts: int, words: int) -> None:
    connection.executemany("UPDATE stat SET value = value + ? WHERE name = ?", [(facts, "facts"), (words, "words")])


def _add_terms(connection: sqlite3.Connection, counts: Counter[str]) -> None:
    newest = connection.execute("SELECT coalesce(max(id), 0) FROM term").fetchone()[0]
    connection.executemany(
        "INSERT INTO term (word, facts) VALUES (?, ?) ON CONFLICT (word) DO UPDATE SET facts = facts + excluded.facts",
        sorted(counts.items()),
    )
    connection.execute(
        "INSERT INTO shape (rowid, word) SELECT id, word FROM term WHERE id > ? AND length(word) >= ?",
        (newest, _SHAPED),
    )


def _drop_terms(connection: sqlite3.Connection, counts: Counter[str]) -> None:
    connection.executemany(
        "UPDATE term SET facts = facts - ? WHERE word = ?", [(count, word) for word, count in counts.items()]
    )
    connection.execute(
        "INSERT INTO shape (shape, rowid, word) "
        "SELECT 'delete', id, word FROM term WHERE facts <= 0 AND length(word) >= ?",
        (_SHAPED,),
    )
    connection.execute("DELETE FROM term WHERE facts <= 0")


def _columns(row: Row, document: Document) -> tuple[object, ...]:
    kind = (row.type, row.role, *document.tags, row.key)
    return (*kind, row.text, row.context, row.origin, row.at, row.moment, row.size, row.words, row.about)


def _add_facts(connection: sqlite3.Connection, document: Document, prepared: Prepared) -> None:
    newest = connection.execute("SELECT coalesce(max(id), 0) FROM fact").fetchone()[0]
    last = "SELECT turn FROM fact WHERE document = ? ORDER BY seq DESC LIMIT 1"
    before = connection.execute(last, (document.id,)).fetchone()
    turn = 0 if before is None else before[0] + 1
    connection.executemany(
        _INSERT_FACT,
        (
            (newest + n, document.id, document.facts + n, turn + r.turn, *_columns(r, document))
            for n, r in enumerate(prepared.rows, 1)
        ),
    )
    connection.executemany(
        "INSERT INTO view (rowid, words) VALUES (?, ?)",
        ((newest + n, coded(f"{row.words} {row.about}")) for n, row in enumerate(prepared.rows, 1)),
    )
    _add_terms(connection, prepared.counts)
    _count(connection, len(prepared.rows), sum(row.size for row in prepared.rows))
    connection.execute("UPDATE document SET facts = facts + ? WHERE id = ?", (len(prepared.rows), document.id))


def _drop_facts(connection: sqlite3.Connection, document: Document) -> int:
    rows = connection.execute("SELECT id, words, about, size FROM fact WHERE document = ?", (document.id,)).fetchall()
    connection.executemany(
        "INSERT INTO view (view, rowid, words) VALUES ('delete', ?, ?)", ((r[0], coded(f"{r[1]} {r[2]}")) for r in rows)
    )
    _drop_terms(connection, Counter(word for r in rows for word in {*r[1].split(), *r[2].split()}))
    connection.executemany("DELETE FROM vector WHERE fact = ?", ((row[0],) for row in rows))
    connection.execute("DELETE FROM fact WHERE document = ?", (document.id,))
    connection.execute("UPDATE document SET facts = 0 WHERE id = ?", (document.id,))
    _count(connection, -len(rows), -sum(row[3] for row in rows))
    return len(rows)


def _tidy_tags(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM scope WHERE id NOT IN (SELECT scope FROM document)")
    used = "SELECT tagset FROM document UNION SELECT value FROM scope, json_each(scope.tagsets)"
    connection.execute(f"DELETE FROM tagset WHERE id NOT IN ({used})")  # noqa: S608  (our own words)


def retain(connection: sqlite3.Connection, prepared: Prepared, *, operation_id: str, now: str) -> int:
    """Store an item and its operation; the number of facts this added.

    Replacing a document by the same text keeps its facts. Tags and metadata are the new item's in every case, for the
    document and all its facts.

    Source: spec/hindsight-server.md section 4.1 (captures a064 to a070).
    """
    item = prepared.item
    known = find_document(connection, item.document_id)
    digest, keep = prepared.digest, known is not None and known.digest == prepared.digest
    if known is not None and item.update_mode is UpdateMode.APPEND:
        digest, keep = hashlib.sha256(known.digest + digest).digest(), False
    elif known is not None and not keep:
        _drop_facts(connection, known)
    tags = (_tagset(connection, prepared.tags), _scope(connection, prepared.scopes))
    connection.execute(_DOCUMENT, (item.document_id, digest, *tags, prepared.metadata, now))
    document = find_document(connection, item.document_id)
    if document is None:  # pragma: no cover  (it was written in this transaction)
        raise AssertionError
    if known is not None and known.tags != tags:
        connection.execute("UPDATE fact SET tagset = ?, scope = ? WHERE document = ?", (*tags, document.id))
    if not keep:
        _add_facts(connection, document, prepared)
    if known is not None and known.tags != tags:
        _tidy_tags(connection)
    added = 0 if keep else len(prepared.rows)
    connection.execute("INSERT INTO operation VALUES (?, ?, ?, ?)", (operation_id, item.document_id, added, now))
    return added


def delete(connection: sqlite3.Connection, name: str) -> int | None:
    """Remove a document and its facts; how many there were, None where there is no such document.

    An observation has no row of its own, so one without another source goes with it.
    """
    document = find_document(connection, name)
    if document is None:
        return None
    facts = _drop_facts(connection, document)
    connection.execute("DELETE FROM document WHERE id = ?", (document.id,))
    _tidy_tags(connection)
    left = connection.execute("SELECT value FROM stat WHERE name = 'facts'").fetchone()[0]
    if left <= _WHOLE:
        connection.execute("INSERT INTO view (view) VALUES ('optimize')")
        connection.execute("INSERT INTO shape (shape) VALUES ('optimize')")
    return facts


def lacking_vectors(connection: sqlite3.Connection, model: str, limit: int) -> list[tuple[int, str]]:
    """Facts that have no vector of this model yet, oldest first: number and text."""
    rows = connection.execute(
        "SELECT id, text FROM fact "
        "WHERE NOT EXISTS (SELECT 1 FROM vector WHERE vector.fact = fact.id AND model = ?) ORDER BY id LIMIT ?",
        (model, limit),
    )
    return [(int(row[0]), str(row[1])) for row in rows]


def add_vectors(connection: sqlite3.Connection, model: str, vectors: Iterable[tuple[int, bytes]]) -> None:
    """Store vectors of facts that are still there."""
    connection.executemany(
        "INSERT OR REPLACE INTO vector (fact, model, numbers) SELECT id, ?, ? FROM fact WHERE id = ?",
        ((model, numbers, fact) for fact, numbers in vectors),
    )
