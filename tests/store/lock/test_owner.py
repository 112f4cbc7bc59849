"""The record beside a lock."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.store._lock import Owner
from hindbrain.store._lock._owner import is_running

OWNER = Owner(42, "a-host", datetime(2030, 1, 2, 3, 4, 5, 678000, tzinfo=UTC), "8c2b-token")


def test_its_line_has_the_field_names_of_the_format() -> None:
    assert OWNER.to_bytes() == (
        b'{"pid": 42, "host": "a-host", "acquiredAt": "2030-01-02T03:04:05.678Z", "token": "8c2b-token"}\n'
    )


def test_it_is_written_in_universal_time() -> None:
    there = OWNER.renewed(OWNER.acquired_at.astimezone(timezone(timedelta(hours=5))))
    assert there.to_bytes() == OWNER.to_bytes()
    assert Owner.parse(there.to_bytes()) == OWNER


def test_another_programs_record_has_no_host() -> None:
    found = Owner.parse(b'{"pid":7,"acquiredAt":"2030-01-02T03:04:05.678Z","token":"t"}')
    assert found == Owner(7, "", OWNER.acquired_at, "t")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"7",
        b"{",
        b"{}",
        b"\xff\xfe",
        b"[" * 4000,
        b'{"pid":7,"acquiredAt":"yesterday","token":"t"}',
        b'{"pid":7,"acquiredAt":"2030-01-02T03:04:05","token":"t"}',
        b'{"pid":7,"acquiredAt":5,"token":"t"}',
        b'{"pid":null,"acquiredAt":"2030-01-02T03:04:05Z","token":"t"}',
        b'{"pid":1e999,"acquiredAt":"2030-01-02T03:04:05Z","token":"t"}',
        b'{"pid":7,"acquiredAt":"2030-01-02T03:04:05Z"}',
    ],
)
def test_what_is_no_record_reads_as_none(data: bytes) -> None:
    assert Owner.parse(data) is None


@given(st.binary())
def test_no_bytes_at_all_break_the_reading(data: bytes) -> None:
    assert Owner.parse(data) is None or isinstance(Owner.parse(data), Owner)


def test_a_process_is_running_until_it_has_ended() -> None:
    assert is_running(os.getpid())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert is_running(process.pid)
    assert not is_running(process.pid)


@pytest.mark.parametrize("pid", [10**30, -(10**30), 0, -1])
def test_a_number_that_no_process_has_is_not_running(pid: int) -> None:
    assert not is_running(pid)


def test_another_users_process_is_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(_pid: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", kill)
    assert is_running(1)


def test_on_windows_every_process_counts_as_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hindbrain.store._lock._owner._CAN_ASK", False)
    assert is_running(10**30)
