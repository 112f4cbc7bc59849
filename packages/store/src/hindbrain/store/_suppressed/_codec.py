"""The list as values and back: ``{"version": 1, "seal": hex, "suppressed": [{"id", "at"}, oldest first]}``."""

from __future__ import annotations

from attrs import frozen

from hindbrain.contracts import InvalidValueError, JsonValue
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import Distrust, Sealed, open_document, seal_document
from hindbrain.store._suppressed._errors import MemoryIdError, SuppressedNewerError

VERSION = 1
_PLACE = "suppressed"
_LONGEST = 512


@frozen(kw_only=True)
class Suppression:
    """One memory that is not shown, by its id, and since when (ISO 8601)."""

    id: str
    at: str


def check_memory_id(memory_id: str) -> str:
    """The id without the white space around it.

    Raises:
        MemoryIdError: it is empty, longer than 512 characters, or holds what cannot be printed; it is not repeated.
    """
    trimmed = memory_id.strip()
    if not 1 <= len(trimmed) <= _LONGEST or not trimmed.isprintable():
        raise MemoryIdError(
            "The memory id",
            f"1 to {_LONGEST} printable characters",
            next_step="The list of suppressed memories was not changed; ids stand in `hindbrain last-recall`.",
        )
    return trimmed


def encode(suppressed: tuple[Suppression, ...], key: SealKey) -> bytes:
    """The bytes of the file."""
    rows = [{"id": each.id, "at": each.at} for each in suppressed]
    return seal_document(key, _PLACE, VERSION, {"suppressed": rows})


def decode(data: bytes, key: SealKey) -> tuple[Suppression, ...] | Distrust:
    """The list in the bytes of a file, or why it is not believed. Any bytes may be given.

    Raises:
        SuppressedNewerError: a newer version of this store sealed it.
    """
    found = open_document(key, _PLACE, data)
    if not isinstance(found, Sealed):
        return found.reason
    if found.version > VERSION:
        raise SuppressedNewerError
    try:
        return tuple(_row(each) for each in found.body["suppressed"])
    except (AttributeError, KeyError, TypeError, InvalidValueError):
        return Distrust.MALFORMED


def _row(value: JsonValue) -> Suppression:
    if not isinstance(value["at"], str):
        raise TypeError
    return Suppression(id=check_memory_id(value["id"]), at=value["at"])
