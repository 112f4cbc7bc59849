"""Secrets out of any text that goes to disk or wire.

Source: spec/memory.md section 6.8 and spec/facts.md section 5.4 (the seed's families); spec/anchors.md section 2e.
"""

from __future__ import annotations

import re

_RULES = (
    ("github-token", re.compile(r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})")),
    ("api-key", re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}")),
)


def scrub(text: str) -> str:
    """Replace each secret by a placeholder that names its kind, such as ``[REDACTED:github-token]``. Idempotent."""
    for kind, pattern in _RULES:
        text = pattern.sub(f"[REDACTED:{kind}]", text)
    return text
