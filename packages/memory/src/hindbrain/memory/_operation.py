"""Operation ids that say the same again when the same work is tried again. Source: spec/facts.md section 3."""

from __future__ import annotations

import hashlib


def digest(*parts: str) -> str:
    """SHA-256 in hex over the parts, joined by U+0000."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def operation_id(*, origin: str, bank: str, project: str, document: str, revision: str) -> str:
    """A UUID (version 5 in shape) that stands for one retain of one revision to one place."""
    h = digest("op", origin, bank, project, document, revision)
    variant = format((int(h[16], 16) & 3) | 8, "x")
    return f"{h[0:8]}-{h[8:12]}-5{h[13:16]}-{variant}{h[17:20]}-{h[20:32]}"
