"""The cursor file, version 4: the book as JSON and back.

``{"version": 4, "seal": hex, "lineages": {lineage: {"documents": {session id: key}, "banks": {bank: cursor}}}}``, a
cursor being ``{"heads": [{"lastId", "chain", "count"}], "tail": [[entry id, fingerprint]], "trail": text}``. Versions 1
to 3 are the older formats'.

Source: decisions.md, "Durability" (cursors, seal).
"""

from __future__ import annotations

from attrs import frozen

from hindbrain.contracts import JsonValue
from hindbrain.store._cursors._book import Book, Lineage
from hindbrain.store._cursors._cursor import Cursor, Head, Identity
from hindbrain.store._cursors._migrate import is_older
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import Distrust, Sealed, open_document, seal_document

VERSION = 4
_PLACE = "retain-cursors"


@frozen
class Older:
    """A file of an older format, not yet read further: without a seal, so only a hint."""

    body: JsonValue


@frozen
class Newer:
    """A file that a newer version of this store sealed."""

    version: int


def encode(book: Book, key: SealKey) -> bytes:
    """The bytes of the file."""
    lineages = {
        name: {
            "documents": dict(each.documents),
            "banks": {bank: _cursor_json(cursor) for bank, cursor in each.banks.items()},
        }
        for name, each in book.lineages.items()
    }
    return seal_document(key, _PLACE, VERSION, {"lineages": lineages})


def _cursor_json(cursor: Cursor) -> JsonValue:
    return {
        "heads": [{"lastId": head.last_id, "chain": head.chain, "count": head.count} for head in cursor.heads],
        "tail": [[each.entry_id, each.fingerprint] for each in cursor.tail],
        "trail": cursor.trail,
    }


def decode(data: bytes, key: SealKey) -> Book | Older | Newer | Distrust:
    """The book in the bytes of a file, or what else they are. Any bytes may be given.

    Only the seal makes a book: an unsealed or foreign file came with a cloned repository, or was changed.
    """
    found = open_document(key, _PLACE, data)
    if isinstance(found, Sealed):
        if found.version > VERSION:
            return Newer(found.version)
        try:
            return _book(found.body["lineages"])
        except (AttributeError, KeyError, TypeError, ValueError):
            return Distrust.MALFORMED
    if found.reason is Distrust.UNSEALED and is_older(found.body):
        return Older(found.body)
    return found.reason


def _book(lineages: JsonValue) -> Book:
    return Book(
        {
            name: Lineage(
                {bank: _cursor(cursor) for bank, cursor in each["banks"].items()},
                {str(session): str(key) for session, key in each["documents"].items()},
            )
            for name, each in lineages.items()
        }
    )


def _cursor(value: JsonValue) -> Cursor:
    return Cursor(
        heads=tuple(Head(str(each["lastId"]), str(each["chain"]), int(each["count"])) for each in value["heads"]),
        tail=tuple(Identity(str(entry_id), str(fingerprint)) for entry_id, fingerprint in value["tail"]),
        trail=str(value["trail"]),
    )
