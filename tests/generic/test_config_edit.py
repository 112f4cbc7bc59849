from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.generic._config import FileRead, SettingsFileError, changed, flatten, parse, read, save


def file(value: object) -> FileRead:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return FileRead(path=Path("hindbrain.json"), values=parse(raw), raw=raw)


def test_a_key_is_set_and_all_else_keeps_its_value_and_place() -> None:
    data = changed(file({"b": 1, "recall": {"topK": 3, "x": [1]}, "ä": None}), {"recall.topK": 5})
    assert data.decode() == (
        '{\n  "b": 1,\n  "recall": {\n    "topK": 5,\n    "x": [\n      1\n    ]\n  },\n  "ä": null\n}\n'
    )


def test_a_file_is_made_where_there_is_none() -> None:
    assert json.loads(changed(FileRead(path=Path("x")), {"recall.topK": 5, "enabled": False})) == {
        "recall": {"topK": 5},
        "enabled": False,
    }


@pytest.mark.parametrize("tree", [{"recall.topK": 3}, {"recall": {"topK": 3}}, {"recall": {}}, {"recall.min": {}}])
def test_a_key_is_changed_where_it_stands_however_its_path_is_split(tree: dict[str, Any]) -> None:
    after = json.loads(changed(file(tree), {"recall.topK": 5}))
    assert dict(flatten(after))["recall.topK"] == 5
    assert sum(path == "recall.topK" for path, _ in flatten(after)) == 1


@pytest.mark.parametrize(
    "raw",
    [b'// mine\n{"recall": {}}', b'{"recall": {},}', b'{"a": 1, "a": 2}', b'{"a": {"b": 1, "b": 2}}', b"{a: 1}"],
)
def test_a_file_that_writing_anew_would_rob_is_left(raw: bytes) -> None:
    with pytest.raises(SettingsFileError, match=r"by hand") as caught:
        changed(file(raw), {"recall.topK": 5})
    assert "nothing was written" in str(caught.value)


@pytest.mark.parametrize("tree", [{"recall": 7}, {"recall": []}, {"banks": [], "recall": None}])
def test_a_value_in_the_way_is_not_thrown_away(tree: dict[str, Any]) -> None:
    with pytest.raises(SettingsFileError, match="no object"):
        changed(file(tree), {"recall.topK": 5})


def test_a_broken_file_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{", "utf-8")
    with pytest.raises(SettingsFileError, match="syntax"):
        changed(read(tmp_path / "x"), {"recall.topK": 5})


NAMES = st.sampled_from(["a", "b", "c", "recall"])
TREES = st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.dictionaries(NAMES, inner))


@given(tree=st.dictionaries(NAMES, TREES), path=st.lists(NAMES, min_size=1, max_size=3).map(".".join))
def test_only_the_key_that_was_meant_changes(tree: dict[str, Any], path: str) -> None:
    try:
        after = json.loads(changed(file(tree), {path: "new"}))
    except SettingsFileError:
        return
    before, now = dict(flatten(tree)), dict(flatten(after))
    assert now.pop(path) == "new"
    kept = {p: v for p, v in before.items() if p != path and not p.startswith(f"{path}.")}
    assert now == kept


def test_a_file_keeps_its_mode_and_a_link_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.json", tmp_path / "hindbrain.json"
    real.write_bytes(b"{}")
    real.chmod(0o644)
    link.symlink_to(real)
    save(link, b'{"a": 1}')
    assert link.is_symlink()
    assert real.read_bytes() == b'{"a": 1}'
    assert stat.S_IMODE(real.stat().st_mode) == 0o644
    save(tmp_path / "new" / "hindbrain.json", b"{}")
    assert stat.S_IMODE((tmp_path / "new" / "hindbrain.json").stat().st_mode) == 0o600


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SettingsFileError, match="as it was"):
        save(tmp_path / "file" / "hindbrain.json", b"{}")
