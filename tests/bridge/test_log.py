"""The log: ids and counts, never content; bounded; and nothing that goes wrong with it stops anything."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hindbrain.bridge import ConnectionLostError, Peer
from hindbrain.bridge._log import Log, line
from hindbrain.bridge._peer import EARLY

if TYPE_CHECKING:
    from bridge.conftest import Start


def test_a_line_shows_ids_and_counts_and_no_other_text() -> None:
    figures: dict[str, str | int] = {
        "method": "tool/call",
        "ms": 12,
        "text": "what the user said",
        "long": "x" * 81,
        "lines": "a\nb",
        "none": "",
    }
    told = line(1_700_000_000.25, "failed", figures)
    process = os.getpid()
    assert told == f"2023-11-14T22:13:20.250Z {process} failed method=tool/call ms=12 text=? long=? lines=? none=?\n"


def test_what_was_noted_before_the_folder_was_known_is_in_the_log(start: Start, tmp_path: Path) -> None:
    sidecar = start("log")
    sidecar.initialize()
    sidecar.write(b"nonsense\n")
    assert sidecar.next()["error"]["code"] == -32700
    sidecar.ask(1, "shutdown")
    sidecar.end()
    text = (tmp_path / "bridge.log").read_text("utf-8")
    events = [told.split(" ", 2)[2] for told in text.splitlines()]
    assert {"early count=1 text=? path=a/b.c", "refused code=not-json", "shut-down count=1", "ended"} <= set(events)
    assert re.search(r"^loaded methods=\d+$", "\n".join(events), re.MULTILINE)


def test_the_log_is_for_its_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Log(tmp_path).write("one\n")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "bridge.log").stat().st_mode) == 0o600


def test_the_log_is_bounded(tmp_path: Path) -> None:
    logs = [Log(tmp_path, largest=1000), Log(tmp_path, largest=1000)]
    for number in range(500):
        logs[number % 2].write(f"line {number:04d}\n")
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert set(sizes) == {"bridge.log", "bridge.log.1"}
    assert max(sizes.values()) <= 1010
    kept = [(tmp_path / name).read_text().splitlines() for name in ("bridge.log.1", "bridge.log")]
    lines = [told for part in kept for told in part]
    assert lines == [f"line {number:04d}" for number in range(500 - len(lines), 500)]


@pytest.mark.parametrize("trap", ["link", "pipe", "folder", "nowhere"])
def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path, trap: str) -> None:
    folder, path = tmp_path, tmp_path / "bridge.log"
    victim = tmp_path / "victim"
    victim.write_text("as it was")
    if trap == "link":
        path.symlink_to(victim)
    elif trap == "pipe":
        os.mkfifo(path)
    elif trap == "folder":
        path.mkdir()
    else:
        folder = tmp_path / "not-there"
    peer = Peer()
    peer.log_to(folder)
    peer.note("event", count=1)
    assert victim.read_text() == "as it was"
    assert not (tmp_path / "not-there").exists()


def test_notes_without_a_folder_are_bounded() -> None:
    peer = Peer()
    for number in range(EARLY * 3):
        peer.note("event", number=number)
    assert len(peer._early) == EARLY


async def test_a_peer_without_a_connection_can_be_told_and_not_asked() -> None:
    peer = Peer()
    peer.notify("host/status", {})
    with pytest.raises(ConnectionLostError):
        await peer.call("host/usage", {}, timeout=1)
