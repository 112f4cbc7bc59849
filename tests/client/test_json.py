import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.client import _json as js
from hindbrain.contracts import FactType

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html></html>",
        b'{"a": ',
        b"[]",
        b"null",
        b"true",
        b'"text"',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": -Infinity}',
        b'{"a": "\\ud83d"}',
        b'{"\\uDE00": 1}',
        b'{"a": 1} {"b": 2}',
        b"\xff\xfe{\x00}\x00",
        b'\xef\xbb\xbf{"a": 1}',
        b'{"a": "\xff"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a": ' + b"9" * 100_000 + b"}",
    ],
    ids=lambda body: f"{body[:16]!r}-{len(body)}",
)
def test_what_is_not_one_strict_object_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (its text is never used)
        js.read_object(body)


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert js.read_object(b'{"a": "\\ud83d\\ude00"}') == {"a": "😀"}


@given(st.dictionaries(st.text(), json_values))
def test_any_object_reads_back(value: dict[str, Any]) -> None:
    assert js.read_object(json.dumps(value).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_give_an_object_or_a_value_error(body: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(js.read_object(body), dict)


@given(json_values)
def test_each_reader_gives_its_type_for_any_value(value: Any) -> None:
    assert js.text(value) is None or isinstance(value, str)
    assert (js.visible(value) is not None) == (isinstance(value, str) and bool(value.strip()))
    assert all(isinstance(v, str) for v in js.texts(value))
    assert all(isinstance(v, str) for v in js.text_map(value).values())
    assert isinstance(js.mapping(value), dict)
    whole = js.count(value)
    assert whole is None or (type(whole) is int and whole >= 0)
    real = js.number(value)
    assert real is None or (type(real) is float and math.isfinite(real))


@pytest.mark.parametrize(
    ("value", "count", "number"),
    [(True, None, None), (3, 3, 3.0), (-1, None, -1.0), (1.5, None, 1.5), ("3", None, None), (10**400, 10**400, None)],
)
def test_a_bool_and_a_text_are_no_numbers(value: object, count: int | None, number: float | None) -> None:
    assert js.count(value) == count
    assert js.number(value) == number


def test_a_number_beyond_every_float_is_none() -> None:
    assert js.number(json.loads("1e999")) is None


def test_a_member_is_known_or_none() -> None:
    assert js.member(FactType, "world") is FactType.WORLD
    assert js.member(FactType, "opinion") is None
    assert js.member(FactType, ["world"]) is None
