"""When automatic recall asks, when it repeats what it found, and when it waits.

A host's context hook fires for every model call. What one user message found is shown again, byte for byte, and an
outage is not asked about at every turn.

Source: seed 000, "Automatic recall" (the cache); decisions.md, "Recall and injection" (one attempt, the waiting).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from attrs import frozen

from hindbrain.contracts import Message

T = TypeVar("T")
_MOST_SKIPPED = 32


def last_user(messages: Sequence[Message]) -> int | None:
    """The place of the last message of the user; None where there is none."""
    return next((i for i in range(len(messages) - 1, -1, -1) if messages[i].role == "user"), None)


@frozen
class TurnKey:
    """What makes two calls of the hook the same question.

    ``asked`` is all that changes the answer (banks, filters, budgets, floors, identity) and ``said`` the content of the
    last user message. How long the transcript is does not count, so an identical nudge finds what the first one found.
    """

    asked: tuple[object, ...]
    said: tuple[object, ...]


@frozen
class Shown(Generic[T]):
    """A result, and the moment it was first seen, in milliseconds since 1970 UTC."""

    value: T
    at: int


class Turns(Generic[T]):
    """Remembers the last answer, and how many turns to leave the backend alone.

    Times are milliseconds since 1970 UTC; ``ttl`` is the age up to which an answer is shown again.
    """

    def __init__(self, ttl: int) -> None:
        self._ttl = ttl
        self._key: TurnKey | None = None
        self._shown: Shown[T] | None = None
        self._failed: tuple[TurnKey, int] | None = None
        self._pause = 0
        self._left = 0
        self._skipped: tuple[TurnKey, int] | None = None

    def recall(self, key: TurnKey, now: int) -> Shown[T] | None:
        """The answer to the same question, if it is young enough."""
        if self._shown is None or self._key != key or not 0 <= now - self._shown.at <= self._ttl:
            return None
        return self._shown

    def may_ask(self, key: TurnKey, turn: int) -> bool:
        """Whether to ask now. ``turn`` counts the user's messages, so that a turn is skipped once however often asked.

        After an outage the next 1, 2, 4 and so on to 32 turns are skipped; a turn that failed is not asked again.
        """
        if self._failed == (key, turn) or self._skipped == (key, turn):
            return False
        if self._left:
            self._left -= 1
            self._skipped = (key, turn)
            return False
        return True

    def found(self, key: TurnKey, value: T, now: int) -> Shown[T]:
        """An answer came: show it from now on, and be patient no longer."""
        self._pause = self._left = 0
        self._key, self._shown = key, Shown(value, now)
        return self._shown

    def failed(self, key: TurnKey, turn: int) -> None:
        """No answer came: leave the backend alone for a while. Nothing is remembered as an answer."""
        self._failed = (key, turn)
        self._pause = min(_MOST_SKIPPED, self._pause * 2 or 1)
        self._left = self._pause
