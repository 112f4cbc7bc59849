"""JSON as JavaScript's ``JSON.stringify`` writes it, byte for byte.

The older cursor files hold digests of such text: one character that differs, and a whole session would be sent again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal

from hindbrain.contracts import JsonValue

_SURROGATE = re.compile("[\ud800-\udfff]")
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST_INDEX = 2**32 - 2
_EXACT = 2**53
_FIXED_DIGITS = 21
_FIXED_ZEROS = -6


def stringify(value: JsonValue) -> str:
    """Compact JSON of a value that came from JSON.

    Raises:
        RecursionError: it is nested too deeply.

    Source: ECMA-262, JSON.stringify, Number::toString and OrdinaryOwnPropertyKeys.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _string(value)
        case int() | float():
            return _number(value)
        case Mapping():
            return f"{{{','.join(f'{_string(key)}:{stringify(value[key])}' for key in _ordered(value))}}}"
        case _:
            return f"[{','.join(map(stringify, value))}]"


def _string(text: str) -> str:
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", json.dumps(joined, ensure_ascii=False))


def _ordered(value: Mapping[str, JsonValue]) -> list[str]:
    """Keys that are array indices come first, in their order; the others as they were inserted."""
    indices = [key for key in value if _INDEX.fullmatch(key) and int(key) <= _LAST_INDEX]
    if not indices:
        return list(value)
    first = set(indices)
    return sorted(indices, key=int) + [key for key in value if key not in first]


def _number(value: float) -> str:
    if isinstance(value, int) and abs(value) <= _EXACT:
        return str(value)
    try:
        double = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(double):
        return "null"
    return f"-{_decimal(-double)}" if double < 0 else _decimal(double)


def _decimal(double: float) -> str:
    """Shortest digits that read back as the same double, placed by JavaScript's rules."""
    if double == 0:
        return "0"
    _, digit_values, exponent = Decimal(repr(double)).as_tuple()
    digits = "".join(map(str, digit_values)).rstrip("0")
    point = len(digit_values) + int(exponent)
    if len(digits) <= point <= _FIXED_DIGITS:
        return digits.ljust(point, "0")
    if 0 < point <= _FIXED_DIGITS:
        return f"{digits[:point]}.{digits[point:]}"
    if _FIXED_ZEROS < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = f"{digits[0]}.{digits[1:]}" if digits[1:] else digits
    return f"{mantissa}e{point - 1:+d}"
