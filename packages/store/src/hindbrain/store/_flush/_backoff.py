"""When to try again."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from attrs import evolve, frozen

from hindbrain.store._flush._policy import FlushPolicy

_MOST_DOUBLINGS = 32


@frozen
class _Wait:
    failures: int
    until: float
    asked: float
    """Until when the server itself asked to be left alone."""


class Backoff:
    """Waits that double with every failure, each cut by up to a half at random so that many clients spread out.

    ``clock`` gives seconds, ``random`` a number from 0 up to 1.
    """

    def __init__(self, policy: FlushPolicy, clock: Callable[[], float], random: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._random = random
        self._waits: dict[Hashable, _Wait] = {}

    def failed(self, key: Hashable, *, at_least: float | None = None) -> None:
        """It failed once more. ``at_least`` is what the server asked for, in seconds."""
        failures = self._failures(key) + 1
        longest = self._policy.base_backoff * 2.0 ** min(failures - 1, _MOST_DOUBLINGS)
        pause = min(longest, self._policy.max_backoff) * (0.5 + self._random() / 2)
        now, asked = self._clock(), at_least or 0.0
        self._waits[key] = _Wait(failures, now + max(pause, asked), now + asked)

    def answered(self, key: Hashable) -> None:
        """It was seen to answer something else: only what it asked for is waited out; failures stay counted."""
        if (wait := self._waits.get(key)) is not None:
            self._waits[key] = evolve(wait, until=wait.asked)

    def worked(self, key: Hashable) -> None:
        """It works again."""
        self._waits.pop(key, None)

    def left(self, key: Hashable) -> float:
        """Seconds to wait yet, 0 where there are none."""
        wait = self._waits.get(key)
        return max(0.0, wait.until - self._clock()) if wait else 0.0

    def _failures(self, key: Hashable) -> int:
        wait = self._waits.get(key)
        return wait.failures if wait else 0
