"""The seal tells our own lines from any other."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.store._seal import SEAL_LENGTH, SealKey, check, seal

KEY = SealKey(bytes(range(32)))
LINE = b'{"id":"6f0c","bankId":"bank"}'


def test_it_is_the_first_half_of_an_hmac_sha256_in_hex() -> None:
    assert seal(KEY, LINE) == hmac.new(bytes(range(32)), LINE, hashlib.sha256).hexdigest()[:32]
    assert len(seal(KEY, LINE)) == SEAL_LENGTH


def test_its_own_line_passes_and_no_other_key_does() -> None:
    assert check(KEY, LINE, seal(KEY, LINE))
    assert not check(SealKey(bytes(32)), LINE, seal(KEY, LINE))


@given(st.integers(0, len(LINE) * 8 - 1))
def test_every_flipped_bit_is_noticed(bit: int) -> None:
    flipped = bytearray(LINE)
    flipped[bit // 8] ^= 1 << bit % 8
    assert not check(KEY, bytes(flipped), seal(KEY, LINE))


@given(st.text())
def test_any_text_may_be_given_for_a_seal(text: str) -> None:
    assert not check(KEY, LINE, text)


@pytest.mark.parametrize("text", ["", "é", "\ud800", "0" * 31, seal(KEY, LINE).upper(), seal(KEY, LINE) + "0"])
def test_what_is_nearly_a_seal_is_none(text: str) -> None:
    assert not check(KEY, LINE, text)


def test_the_key_is_never_shown() -> None:
    assert repr(KEY) == "SealKey()"
