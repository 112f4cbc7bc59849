"""Whether a file is still the one that was read, for the price of one look and without the disk's thread."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from hindbrain.store._files._layer import FileLayer

Mark: TypeAlias = tuple[int, int, float, int] | None
"""Device, number, change time and size in bytes; None where there is no file."""


def mark_of(layer: FileLayer, path: Path) -> Mark:
    """What lies at the path. State files are replaced and never written in place, so that a new one has a new number.

    Raises:
        OSError: the disk's own.
    """
    try:
        found = layer.lstat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime, found.st_size
