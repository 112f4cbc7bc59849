"""JSON as JavaScript writes it. The expected texts were taken from Node.js."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import JsonValue
from hindbrain.store._cursors._js import stringify


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (1700000000000, "1700000000000"),
        (1.7e12, "1700000000000"),
        (2**53 + 1, "9007199254740992"),
        (123456789012345680000, "123456789012345680000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.25e25, "1.25e+25"),
        (1e-6, "0.000001"),
        (1.5e-7, "1.5e-7"),
        (0.1, "0.1"),
        (123.456, "123.456"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (10**400, "null"),
        (math.inf, "null"),
        (math.nan, "null"),
        ('héllo\n\t"\\\x7f\u2028', '"héllo\\n\\t\\"\\\\\x7f\u2028"'),
        ("\x00\x1f", '"\\u0000\\u001f"'),
        ("a\ud83d", '"a\\ud83d"'),
        ("\ud83d\ude00", '"😀"'),
        ([], "[]"),
        ({}, "{}"),
        ([1, "a", None], '[1,"a",null]'),
        ({"b": 1, "2": 2, "a": 3, "10": 4, "01": 5, "-1": 6}, '{"2":2,"10":4,"b":1,"a":3,"01":5,"-1":6}'),
        ({"4294967295": 1, "4294967294": 2}, '{"4294967294":2,"4294967295":1}'),
    ],
)
def test_values_are_written_as_javascript_writes_them(value: JsonValue, text: str) -> None:
    assert stringify(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_itself(number: float) -> None:
    assert float(stringify(number)) == number


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_JSON)
def test_what_is_written_is_json_of_the_same_value(value: JsonValue) -> None:
    assert json.loads(stringify(value)) == value
