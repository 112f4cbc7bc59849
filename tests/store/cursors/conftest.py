"""Short words for sessions: messages that follow one another, and branches over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import pytest

from hindbrain.contracts import Branch, Entry, Message, TextPart
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._seal import SealKey

Say: TypeAlias = Callable[..., Entry]
Talk: TypeAlias = Callable[..., list[Entry]]
Ids: TypeAlias = Callable[[Iterable[Entry]], list[str]]


def _say(entry_id: str, parent_id: str | None, text: str | None = None, *, at: int | None = None) -> Entry:
    words = f"words of {entry_id}" if text is None else text
    message = Message(role="user", parts=(TextPart(words),), at=at)
    return Entry(id=entry_id, parent_id=parent_id, kind="message", message=message)


def _talk(count: int, *, prefix: str = "m", after: str | None = None, first: int = 1, same: str = "") -> list[Entry]:
    """``count`` messages m1, m2, … one after the other; with ``same`` their words are those of another prefix."""
    found: list[Entry] = []
    for number in range(first, first + count):
        found.append(_say(f"{prefix}{number}", after, f"words of {same or prefix}{number}", at=1_000 + number))
        after = found[-1].id
    return found


@pytest.fixture
def say() -> Say:
    return _say


@pytest.fixture
def talk() -> Talk:
    return _talk


@pytest.fixture
def ids() -> Ids:
    return lambda entries: [entry.id for entry in entries]


@pytest.fixture
def key() -> SealKey:
    return SealKey(bytes(range(32)))


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir.open(OsFileLayer(), tmp_path / ".pi" / "hindsight")


def branch_of(*parts: list[Entry], leaf: str | None = None) -> Branch:
    return Branch.of([entry for part in parts for entry in part], leaf)


@pytest.fixture
def branch() -> Callable[..., Branch]:
    return branch_of
