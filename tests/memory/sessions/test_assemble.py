"""Values filled directly are the values their classes make."""

from __future__ import annotations

import attrs
import pytest

from hindbrain.contracts import Entry, Message, TextPart
from hindbrain.memory.sessions import _assemble

ENTRY = ("a", "b", "message", 7, Message(role="user"), "custom", "summary", "kept", "{}", 3)
MESSAGE = ("user", (TextPart("t"),), 7, "call", "tool", True, "model", "stop", 9)


def test_an_entry_equals_one_made_by_its_class() -> None:
    made = _assemble.entry(*ENTRY)

    assert made == Entry(**dict(zip(_assemble._ENTRY, ENTRY, strict=True)))  # type: ignore[arg-type]  # mixed values
    assert attrs.asdict(made, recurse=False) == dict(zip(_assemble._ENTRY, ENTRY, strict=True))


def test_a_message_equals_one_made_by_its_class() -> None:
    made = _assemble.message(*MESSAGE)

    assert made == Message(**dict(zip(_assemble._MESSAGE, MESSAGE, strict=True)))  # type: ignore[arg-type]  # as above
    assert hash(made) == hash(Message(**dict(zip(_assemble._MESSAGE, MESSAGE, strict=True))))  # type: ignore[arg-type]


def test_they_are_as_frozen() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        _assemble.entry(*ENTRY).id = "other"  # type: ignore[misc]  # the point


def test_a_field_that_is_not_named_gets_its_default() -> None:
    others = _assemble._others(Entry, "id", "parent_id", "kind", "at", "message", "custom_type", "summary")

    assert [default for _, default in others] == [None, None, 0]


def test_a_default_is_filled_into_every_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_assemble, "_e_others", [(_assemble._e_line, 0)])
    monkeypatch.setattr(_assemble, "_m_others", [(_assemble._m_stop, None)])

    assert _assemble.entry(*ENTRY) == attrs.evolve(_assemble.entry(*ENTRY), line=0)
    assert _assemble.message(*MESSAGE).stop_reason is None
