"""A seal tells a line that this user's store wrote, whole, from any other."""

from __future__ import annotations

import hashlib
import hmac

from attrs import field, frozen

KEY_BYTES = 32
SEAL_LENGTH = 32
"""Hex digits: 128 bits of the HMAC."""


@frozen
class SealKey:
    """The per-user secret, 32 random bytes; never shown."""

    secret: bytes = field(repr=False)


def seal(key: SealKey, line_bytes: bytes) -> str:
    """The seal of these bytes: HMAC-SHA256, the first 32 hex digits.

    Source: decisions.md, "Durability".
    """
    return hmac.digest(key.secret, line_bytes, hashlib.sha256).hex()[:SEAL_LENGTH]


def check(key: SealKey, line_bytes: bytes, seal_text: str) -> bool:
    """Whether the seal is that of these bytes. Any text may be given; the time taken tells nothing of the key."""
    return hmac.compare_digest(seal(key, line_bytes).encode(), seal_text.encode("utf-8", "surrogatepass"))
