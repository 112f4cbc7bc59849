"""The record file as a value and back. Whatever is not exactly its form is not believed.

``{"version": 1, "seal": hex, "retained", "recallMode", "retainMode", "nextRetainMode", "mode", "tags", "createdAt",
"updatedAt"}``.

Source: spec/memory.md section 9; version and seal are ours (decisions.md, "Durability").
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from hindbrain.contracts import JsonValue
from hindbrain.store._records._errors import RecordValueError
from hindbrain.store._records._record import Mode, SessionRecord, Switch
from hindbrain.store._records._tags import check_tag
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import Distrust, Sealed, open_document, seal_document

VERSION = 1
_FIELDS = {"retained", "recallMode", "retainMode", "nextRetainMode", "mode", "tags", "createdAt", "updatedAt"}


@frozen
class Newer:
    """A record that a newer version of this store sealed."""

    version: int


def encode(sid: str, record: SessionRecord, key: SealKey) -> bytes:
    """The bytes of the file; the seal holds for this session alone."""
    body = {
        "retained": record.retained,
        "recallMode": record.recall_mode,
        "retainMode": record.retain_mode,
        "nextRetainMode": record.next_retain_mode,
        "mode": record.mode,
        "tags": list(record.tags),
        "createdAt": record.created_at,
        "updatedAt": record.updated_at,
    }
    return seal_document(key, _place(sid), VERSION, body)


def decode(sid: str, data: bytes, key: SealKey) -> SessionRecord | Newer | Distrust:
    """The record in the bytes of a file, or why it is not believed. Any bytes may be given."""
    found = open_document(key, _place(sid), data)
    if not isinstance(found, Sealed):
        return found.reason
    if found.version > VERSION:
        return Newer(found.version)
    try:
        return _record(found.body)
    except (AttributeError, KeyError, TypeError, ValueError, RecordValueError):
        return Distrust.MALFORMED


def _place(sid: str) -> str:
    return f"session-meta/{sid}"


def _record(body: Mapping[str, JsonValue]) -> SessionRecord:
    if set(body) != _FIELDS or not isinstance(body["retained"], bool):
        raise ValueError
    return SessionRecord(
        retained=body["retained"],
        recall_mode=Switch(body["recallMode"]),
        retain_mode=Switch(body["retainMode"]),
        next_retain_mode=Switch(body["nextRetainMode"]),
        mode=Mode(body["mode"]),
        tags=tuple(dict.fromkeys(check_tag(tag) for tag in body["tags"])),
        created_at=_time(body["createdAt"]),
        updated_at=_time(body["updatedAt"]),
    )


def _time(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
