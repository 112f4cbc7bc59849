"""Small checks that the values of the four verbs share. Each refusal comes before anything is sent or stored."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from enum import Enum
from typing import TypeVar

from hindbrain.contracts._errors import BackendRequestError

E = TypeVar("E", bound=Enum)
_PLACEHOLDER_YEARS = {1, 9999}


def refusal(field: str, expected: str) -> BackendRequestError:
    """Build the error for a value that does not have its form; the value itself is never shown."""
    return BackendRequestError(f"{field} is refused and nothing was sent or stored.", next_step=f"Use {expected}.")


def choice(kind: type[E], value: object, field: str) -> E:
    """Return the member of ``kind`` that ``value`` names."""
    try:
        return kind(value)
    except ValueError:
        words = ", ".join(str(member.value) for member in kind)
        raise refusal(field, f"one of: {words}") from None


def clean_text(value: str, field: str) -> str:
    """Return text that UTF-8 can carry: paired surrogates are joined, lone ones become U+FFFD."""
    if not isinstance(value, str):
        raise refusal(field, "text")
    if value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_plain(text: str) -> bool:
    """Whether an identifier or tag has no control character and no lone surrogate."""
    return text.isprintable() or not any(unicodedata.category(c) in {"Cc", "Cs"} for c in text)


def clean_tags(tags: Iterable[str], field: str = "tags") -> tuple[str, ...]:
    """Return the tags without repetitions, in order.

    Raises:
        BackendRequestError: ``tags`` is no list (a string is none), or a tag is no string, is blank or holds a control
            character.
    """
    is_list = isinstance(tags, Iterable) and not isinstance(tags, str)
    kept = tuple(dict.fromkeys(tags)) if is_list else ()
    if not is_list or not all(isinstance(tag, str) and tag.strip() and is_plain(tag) for tag in kept):
        raise refusal(field, "a list of tags, each with a visible character and without control characters")
    return kept


def check_bound(value: int | None, field: str) -> None:
    """Refuse anything that is not a whole number from 1 up, or None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise refusal(field, "a whole number from 1 up")


def check_floor(value: float | None, field: str) -> None:
    """Refuse anything that is not a finite number, or None."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise refusal(field, "a finite number")


def check_time(value: str | None, field: str) -> None:
    """Refuse anything that is not ISO 8601 with a zone, or None.

    Source: captures a082, a083 (the years 1 and 9999 are placeholders) and a161.
    """
    if value is None:
        return
    from datetime import datetime

    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        at = None
    if at is None or at.tzinfo is None or at.year in _PLACEHOLDER_YEARS:
        raise refusal(field, "ISO 8601 with a zone, such as 2026-03-01T10:00:00Z")
