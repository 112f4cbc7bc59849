"""In place of a lock, for those who only look."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Self

from hindbrain.store._lock._lock import Hold, Lock


class Unlocked(Lock):
    """Keeps nobody out and touches no file. What is read beside a writer may be a moment old."""

    def held(self, wait: float = 5.0) -> AbstractContextManager[Hold]:
        """Hold nothing."""
        return _NoHold(self, wait, recorded=True)

    def light(self, wait: float = 5.0) -> AbstractContextManager[Hold]:
        """Hold nothing."""
        return _NoHold(self, wait, recorded=False)


class _NoHold(Hold):
    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass
