"""Waiting without spinning: a bounded time, in pauses that grow."""

from __future__ import annotations

import time
from collections.abc import Callable

from attrs import frozen

_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.025


@frozen
class Patience:
    """The clock and the sleep of a wait, in seconds; a test passes its own."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def until(self, attempt: Callable[[], bool], wait: float) -> bool:
        """Try until it succeeds (True) or ``wait`` seconds are over (False); once at least, and once at the end.

        Pauses go from 1 ms to 25 ms, doubling. Source: 25 ms is spec/memory.md section 7.3.
        """
        if attempt():
            return True
        end = self.clock() + wait
        pause = _FIRST_PAUSE
        while True:
            left = end - self.clock()
            if left <= 0:
                return False
            self.sleep(min(pause, left))
            pause = min(pause * 2, _LONGEST_PAUSE)
            if attempt():
                return True
