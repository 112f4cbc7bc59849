"""What one message of the user found, shown again for as long as it is the same question.

A host's context hook fires for every model call. What one user message found is shown again, byte for byte.

Source: seed 000, "Automatic recall" (the cache); decisions.md, "Recall and injection" (one attempt a message).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from attrs import define, frozen

from hindbrain.contracts import Message

T = TypeVar("T")
_MOST_REMEMBERED = 16


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
class Turn:
    """One message of the user: the question, and its place among the messages."""

    key: TurnKey
    place: int


@frozen
class Shown(Generic[T]):
    """A result, and the moment it was first seen, in milliseconds since 1970 UTC."""

    value: T
    at: int


@define
class _Remembered(Generic[T]):
    turn: Turn
    shown: Shown[T]
    whole: bool


class Turns(Generic[T]):
    """Remembers the newest answers. Times are milliseconds since 1970 UTC.

    Args:
        ttl: the age up to which an answer is shown again to the same question.
    """

    def __init__(self, ttl: int) -> None:
        self._ttl = ttl
        self._remembered: list[_Remembered[T]] = []

    def recall(self, turn: Turn, now: int, *, goes_on: bool = False) -> Shown[T] | None:
        """The answer to the same question, if it is young enough.

        An answer that some bank is missing from is shown again to the message that found it, and to no other. Where a
        turn ``goes_on`` behind the message, with tool results, it keeps what it was shown however long it takes.
        """
        known = next((each for each in self._remembered if each.turn.key == turn.key), None)
        if known is None:
            return None
        same = known.turn == turn
        young = 0 <= now - known.shown.at <= self._ttl and (known.whole or same)
        if not (young or (goes_on and same)):
            return None
        known.turn = turn
        return known.shown

    def found(self, turn: Turn, value: T, now: int, *, whole: bool = True) -> Shown[T]:
        """An answer came: show it from now on. ``whole`` says whether every bank is in it."""
        others = [each for each in self._remembered if each.turn.key != turn.key]
        new = _Remembered(turn, Shown(value, now), whole)
        self._remembered = [new, *others[: _MOST_REMEMBERED - 1]]
        return new.shown
