"""The zone a live session's ledger begins with."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hindbrain.generic._observe import _zone, local_zone


@pytest.mark.parametrize(
    ("told", "linked", "zone"),
    [
        ("Europe/Berlin", "/usr/share/zoneinfo/Asia/Tokyo", "Europe/Berlin"),
        (":Europe/Berlin", None, "Europe/Berlin"),
        ("", "/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
        ("", "/usr/share/zoneinfo/Etc/UTC", "UTC"),
        ("XYZ-02", None, "+02:00"),
        ("../../etc/passwd", None, "UTC"),
        ("UTC0", None, "UTC"),
    ],
)
def test_it_is_the_one_of_the_environment_then_of_the_machine_then_the_present_offset(
    told: str, linked: str | None, zone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "localtime"
    if linked is not None:
        link.symlink_to(linked)
    monkeypatch.setattr(_zone, "_LINK", link)
    monkeypatch.setenv("TZ", told)
    time.tzset()
    try:
        assert local_zone(told) == zone
    finally:
        monkeypatch.undo()
        time.tzset()
