"""What was read of a file, for as long as the file stays the same.

Before each model call a session asks what the user has decided. The disk's thread may be busy with a flush then, and
the model waits; so the file is looked at, and read again only where it has changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Seen(Generic[T]):
    """The content of a file.

    Args:
        mark: changes whenever the content may have; called before ``read``, so that no change is missed.
        read: reads it.
        sure: whether it was read at all: what only stands for a file that cannot be read is not kept.
    """

    def __init__(self, mark: Callable[[], object], read: Callable[[], Awaitable[T]], sure: Callable[[T], bool]) -> None:
        self._mark = mark
        self._read = read
        self._sure = sure
        self._known: tuple[object, T] | None = None

    async def now(self) -> T:
        """The content as it is now. Where the file cannot be looked at it is read, which says what is wrong."""
        try:
            mark = self._mark()
        except OSError:
            return await self._read()
        if self._known is not None and self._known[0] == mark:
            return self._known[1]
        found = await self._read()
        self._known = (mark, found) if self._sure(found) else None
        return found
