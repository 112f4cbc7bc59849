"""Where the last recall may be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.store._last_recall import LastRecallPathError, place_of

ROOT = Path("/repo")
FOLDER = ROOT / ".pi" / "hindsight"


@pytest.mark.parametrize(
    ("named", "path", "within", "is_ours"),
    [
        (None, FOLDER / "last-recall.json", ROOT, True),
        ("a/b.json", ROOT / "a/b.json", ROOT, False),
        ("./b.json", ROOT / "b.json", ROOT, False),
        ("/repo/a/b.json", ROOT / "a/b.json", ROOT, False),
        ("/var/x/b.json", Path("/var/x/b.json"), Path("/var/x"), False),
        (".pi/hindsight/last-recall.json", FOLDER / "last-recall.json", ROOT, True),
        (".pi/hindsight/last-recall-debug.json", FOLDER / "last-recall-debug.json", ROOT, False),
    ],
)
def test_a_place_may_be_named(named: str | None, path: Path, within: Path, *, is_ours: bool) -> None:
    place = place_of(FOLDER, root=ROOT, named=named)
    assert (place.path, place.within, place.is_ours) == (path, within, is_ours)


@pytest.mark.parametrize(
    "named",
    [
        "",
        ".",
        "..",
        ".json",
        "a.txt",
        "a",
        "../a.json",
        "a/../b.json",
        "/var/../etc/a.json",
        "a\0.json",
        ".pi/hindsight/suppressed.json",
        ".pi/hindsight/session-meta/last-recall.json",
        "/repo/.pi/hindsight/retain-cursors.json",
    ],
)
def test_or_is_refused(named: str) -> None:
    with pytest.raises(LastRecallPathError) as caught:
        place_of(FOLDER, root=ROOT, named=named)
    assert "lastRecallPath" in caught.value.next_step


def test_without_a_project_a_relative_path_begins_in_the_state_folder() -> None:
    assert place_of(FOLDER).within == FOLDER
    assert place_of(FOLDER, named="last-recall-2.json").path == FOLDER / "last-recall-2.json"
    with pytest.raises(LastRecallPathError):
        place_of(FOLDER, named="other.json")
