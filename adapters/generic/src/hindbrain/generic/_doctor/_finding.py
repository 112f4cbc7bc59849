"""What one check found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


@frozen(kw_only=True)
class Finding:
    """One check. ``level`` is ok, warning or problem; a problem makes the command fail.

    ``advice`` says what to do about it. ``data`` is the same for programs. Nothing of it holds content or a secret.
    """

    check: str
    level: str
    text: str
    advice: str = ""
    data: Mapping[str, Any] = field(factory=dict)


def ok(check: str, text: str, **data: Any) -> Finding:
    """All is well, or there is nothing to say against it."""
    return Finding(check=check, level="ok", text=text, data=data)


def warning(check: str, text: str, advice: str = "", **data: Any) -> Finding:
    """Memory works, and not as one might think."""
    return Finding(check=check, level="warning", text=text, advice=advice, data=data)


def problem(check: str, text: str, advice: str = "", **data: Any) -> Finding:
    """Memory, or a part of it, does not work."""
    return Finding(check=check, level="problem", text=text, advice=advice, data=data)
