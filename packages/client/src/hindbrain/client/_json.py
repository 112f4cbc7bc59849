"""JSON from outside, read strictly, and fields of it that are what they should be or None. Pure.

Written by hand because pydantic alone costs more to import than a fifth of the official client, and four small answers
do not need it.
"""

from __future__ import annotations

import json
import math
import re
from enum import Enum
from typing import Any, NoReturn, TypeVar

_LARGEST = 2**53
E = TypeVar("E", bound=Enum)
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def read_object(body: bytes) -> dict[str, Any]:
    """The object that the bytes are.

    Raises:
        ValueError: they are not UTF-8, not one JSON object, nested beyond reason, or hold ``NaN``, ``Infinity``, an
            integer of thousands of digits or half a surrogate pair.

    Source: spec/facts.md, F41.
    """
    text = body.decode()
    try:
        value = json.loads(text, parse_constant=_refuse)
        if _HALF_PAIR.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        value = None
    if not isinstance(value, dict):
        raise ValueError  # noqa: TRY004  (one error for whatever is not the object)
    return value


def _refuse(_word: str) -> NoReturn:
    raise ValueError


def text(value: object) -> str | None:
    """The string, if it is one."""
    return value if isinstance(value, str) else None


def visible(value: object) -> str | None:
    """The string, if it is one with a visible character."""
    return value if isinstance(value, str) and value.strip() else None


def texts(value: object) -> tuple[str, ...]:
    """The strings of a list; what is not a string is left out."""
    return tuple([v for v in value if isinstance(v, str)]) if isinstance(value, list) else ()


def text_map(value: object) -> dict[str, str]:
    """The entries of an object whose values are strings."""
    return {k: v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}


def mapping(value: object) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def count(value: object) -> int | None:
    """The whole number from 0 up, if it is one. A bool is not a number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def number(value: object) -> float | None:
    """The finite number, if it is one. A bool is not a number."""
    if type(value) is int:
        value = float(value) if abs(value) <= _LARGEST else None
    return value if type(value) is float and math.isfinite(value) else None


def member(kind: type[E], value: object) -> E | None:
    """The member of an enum of strings, if it is one."""
    return kind._value2member_map_.get(value) if isinstance(value, str) else None  # type: ignore[return-value]  # its members
