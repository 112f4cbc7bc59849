"""Patterns that cost nothing until they are used: an import must not pay for what most processes never match."""

from __future__ import annotations

import re
from functools import cache


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled when it is first asked for. For constants only: nothing is ever forgotten."""
    return re.compile(pattern)
