"""The disk's errors in our words."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hindbrain.store import StoreError, StoreFullError, StoreReadOnlyError, StoreUnavailableError
from hindbrain.store._files import disk_errors, uninterrupted

PATH = Path("/state/retain-queue.jsonl")


@pytest.mark.parametrize(
    ("number", "kind", "symbol"),
    [
        (errno.ENOSPC, StoreFullError, "ENOSPC"),
        (errno.EDQUOT, StoreFullError, "EDQUOT"),
        (errno.EFBIG, StoreFullError, "EFBIG"),
        (errno.EROFS, StoreReadOnlyError, "EROFS"),
        (errno.EACCES, StoreReadOnlyError, "EACCES"),
        (errno.EPERM, StoreReadOnlyError, "EPERM"),
        (errno.EIO, StoreUnavailableError, "EIO"),
        (None, StoreUnavailableError, "an unnamed error"),
    ],
)
def test_each_kind_has_its_error_that_names_the_file_and_the_symbol(
    number: int | None, kind: type[StoreError], symbol: str
) -> None:
    original = OSError(number, "its own text") if number else OSError("its own text")
    with pytest.raises(kind) as caught, disk_errors(PATH):
        raise original
    assert type(caught.value) is kind
    assert str(PATH) in str(caught.value)
    assert symbol in str(caught.value)
    assert "its own text" not in str(caught.value)
    assert caught.value.__cause__ is original


def test_our_own_errors_and_success_pass() -> None:
    with disk_errors(PATH):
        pass
    with pytest.raises(StoreFullError, match="mine"), disk_errors(PATH):
        raise StoreFullError("mine")


def test_a_call_is_repeated_for_as_long_as_signals_cut_it_short() -> None:
    signals = [InterruptedError(), OSError(errno.EINTR, os.strerror(errno.EINTR))]

    def call(value: int, *, more: int) -> int:
        if signals:
            raise signals.pop()
        return value + more

    assert uninterrupted(call, 1, more=2) == 3
