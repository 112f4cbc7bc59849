"""Whether anybody made, removed or renamed something in a folder, for the price of one look."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from hindbrain.store._files import FileLayer

Look: TypeAlias = tuple[int, int, float]
_SETTLED = 1.0
"""Seconds. A change right after a look may bear the same time as the one before it, for as long as a clock's tick."""


class Watch:
    """Remembers how a folder was when its names were found in order."""

    def __init__(self, layer: FileLayer, folder: Path) -> None:
        self._layer = layer
        self._folder = folder
        self._in_order: Look | None = None

    def look(self) -> Look:
        """How the folder is now: to be taken before its names are looked at. A signal may interrupt it."""
        found = self._layer.lstat(self._folder)
        return found.st_dev, found.st_ino, found.st_mtime

    def is_as_it_was(self, now: Look) -> bool:
        """Whether its names are those that were found in order."""
        return now == self._in_order

    def found_in_order(self, before: Look, now: datetime) -> None:
        """Its names were in order after that look; it counts only where the folder had been at rest by then."""
        self._in_order = before if now.timestamp() - before[2] > _SETTLED else None
