from __future__ import annotations

import json
from pathlib import Path

from hindbrain.memory.sessions import names_of

EXAMPLES = Path(__file__).parents[3] / "examples" / "sessions"


def session(folder: Path, name: str, parent: str | None = None) -> Path:
    header = {"type": "session", "version": 3, "id": name, "cwd": "/w"}
    path = folder / f"{name}.jsonl"
    path.write_text(json.dumps({**header, **({"parentSession": parent} if parent else {})}) + "\n", "utf-8")
    return path


def test_a_session_that_was_not_forked_is_its_own_root(tmp_path: Path) -> None:
    names = names_of(session(tmp_path, "a"))
    assert names is not None
    assert (names.session_id, names.lineage) == ("a", "a")


def test_a_fork_of_a_fork_belongs_to_the_first_session(tmp_path: Path) -> None:
    root = session(tmp_path, "a")
    middle = session(tmp_path, "b", str(root))
    names = names_of(session(tmp_path, "c", str(middle)))
    assert names is not None
    assert (names.session_id, names.lineage) == ("c", "a")


def test_a_parent_that_is_gone_is_known_by_the_id_in_its_name() -> None:
    names = names_of(EXAMPLES / "pi-1.6.0-fork.jsonl")
    whole = names_of(EXAMPLES / "pi-1.6.0.jsonl")
    assert names is not None
    assert whole is not None
    assert names.lineage == whole.session_id != names.session_id


def test_a_parent_without_an_id_in_its_name_is_known_by_its_path(tmp_path: Path) -> None:
    names = names_of(session(tmp_path, "a", "/gone/old.jsonl"))
    assert names is not None
    assert names.lineage == "/gone/old.jsonl"


def test_a_chain_that_bites_its_tail_ends(tmp_path: Path) -> None:
    session(tmp_path, "b", str(tmp_path / "a.jsonl"))
    names = names_of(session(tmp_path, "a", str(tmp_path / "b.jsonl")))
    assert names is not None
    assert names.lineage == "b"


def test_a_file_that_is_not_there_or_no_session_has_no_names(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("not a session\n", "utf-8")
    (tmp_path / "d.jsonl").mkdir()
    assert [names_of(tmp_path / name) for name in ("x.jsonl", "none.jsonl", "d.jsonl")] == [None, None, None]
