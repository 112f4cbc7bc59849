"""What the real disk does where a system lacks a call."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hindbrain.store._files import OsFileLayer, _layer


def test_without_pread_a_read_at_an_offset_leaves_the_position_alone(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abcdef")
    fd = os.open(tmp_path / "f", os.O_RDONLY)
    assert (os.read(fd, 1), _layer._seek_and_read(fd, 2, 3), os.read(fd, 1)) == (b"a", b"de", b"b")
    os.close(fd)


def test_without_fchmod_the_mode_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fd = os.open(tmp_path / "f", os.O_CREAT, 0o640)
    monkeypatch.delattr(os, "fchmod")
    OsFileLayer().fchmod(fd, 0o600)
    assert os.fstat(fd).st_mode & 0o777 == 0o640
    os.close(fd)


def test_on_windows_names_are_durable_without_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_layer, "_SYNCS_FOLDERS", False)
    asked: list[object] = []
    monkeypatch.setattr(os, "open", lambda *args: asked.append(args))
    OsFileLayer().sync_dir(tmp_path / "not there")
    assert asked == []
