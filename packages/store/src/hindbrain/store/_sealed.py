"""A JSON file under a seal: whole, written by this user's store, and in the place it was written for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum

from attrs import frozen

from hindbrain.contracts import JsonValue
from hindbrain.store._seal import SealKey, check, seal

_FORM = re.compile(rb'\{"version":([1-9][0-9]{0,8}),"seal":"([0-9a-f]{32})",(.*)\}\n', re.DOTALL)


class Distrust(StrEnum):
    """Why the content of a file is not believed."""

    MALFORMED = "malformed"
    """It is no JSON object."""
    UNSEALED = "unsealed"
    """It is JSON, and its seal is missing, or is not that of these bytes, this user and this place."""


@frozen
class Sealed:
    """A file's content that its seal vouches for."""

    version: int
    body: Mapping[str, JsonValue]


@frozen
class Distrusted:
    """Content without a seal that fits. ``body`` is what it says, for readers of older formats."""

    reason: Distrust
    body: JsonValue = None


def seal_document(key: SealKey, place: str, version: int, body: Mapping[str, JsonValue]) -> bytes:
    """The bytes of a sealed file: compact JSON with ``version`` and ``seal`` first, then at least one field more.

    ``place`` names what the file is for, so that a copy elsewhere is not believed.
    """
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    rest = text[1:-1].encode("utf-8", "surrogatepass")
    mark = seal(key, _sealed_bytes(place, str(version).encode(), rest))
    return b'{"version":%d,"seal":"%s",%s}\n' % (version, mark.encode(), rest)


def open_document(key: SealKey, place: str, data: bytes) -> Sealed | Distrusted:
    """What the bytes of a file say, and whether that can be believed. Any bytes may be given."""
    form = _FORM.fullmatch(data)
    body = _object(data)
    if form and body is not None and check(key, _sealed_bytes(place, form[1], form[3]), form[2].decode()):
        fields = {name: value for name, value in body.items() if name not in {"version", "seal"}}
        return Sealed(int(form[1]), fields)
    return Distrusted(Distrust.MALFORMED) if body is None else Distrusted(Distrust.UNSEALED, body)


def _sealed_bytes(place: str, version: bytes, rest: bytes) -> bytes:
    return b"\n".join((place.encode(), version, rest))


def _object(data: bytes) -> dict[str, JsonValue] | None:
    try:
        found = json.loads(data.decode("utf-8-sig", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
