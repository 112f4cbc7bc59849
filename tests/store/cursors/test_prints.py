"""Fingerprints that are computed once an entry."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from hindbrain.contracts import Branch, Entry, Message, TextPart
from hindbrain.store import HostState
from hindbrain.store._cursors import Fingerprints, fingerprint
from hindbrain.store._cursors._prints import LIMIT


def said(number: int, text: str = "") -> Entry:
    message = Message(role="user", parts=(TextPart(text or f"turn {number}"),))
    return Entry(id=f"e{number}", parent_id=f"e{number - 1}" if number else None, kind="message", message=message)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the entries whose fingerprint was computed."""
    ids: list[str] = []

    def counting(entry: Entry) -> str:
        ids.append(entry.id)
        return fingerprint(entry)

    monkeypatch.setattr("hindbrain.store._cursors._prints.fingerprint", counting)
    return ids


def test_an_entry_is_computed_once_and_an_edited_one_again(counted: list[str]) -> None:
    prints, entry = Fingerprints(), said(1)
    edited = evolve(entry, message=Message(role="user", parts=(TextPart("something else"),)))
    assert [prints(each) for each in (entry, entry, edited, edited)] == [
        fingerprint(each) for each in (entry, entry, edited, edited)
    ]
    assert counted == ["e1", "e1"]


def test_what_was_not_asked_for_in_a_long_time_is_let_go_of(counted: list[str]) -> None:
    prints, entries = Fingerprints(), [said(n) for n in range(LIMIT + 1)]
    for entry in (*entries, entries[-1], entries[0]):
        prints(entry)
    assert counted == [*(entry.id for entry in entries), "e0"]


@pytest.mark.parametrize("history", [10, 1_000])
async def test_a_turn_computes_its_new_entries_only(tmp_path: Path, counted: list[str], history: int) -> None:
    state = await HostState.open(tmp_path / "state", seal_file=tmp_path / "seal.key")
    entries = {entry.id: entry for entry in map(said, range(history))}
    for _ in range(3):
        counted.clear()
        number = len(entries)
        entries[f"e{number}"] = said(number)
        branch = Branch(entries, f"e{number}")
        fresh = await state.new_entries("lineage", "bank", branch)
        moved = await state.plan("lineage", "bank", branch, fresh)
        assert moved is not None
        await state.keep("lineage", "bank", moved, None)
    assert counted == [f"e{history + 2}"]
    await state.close()
