"""A log of ids and counts that a user can send to anybody: no content, no path, no words of another library.

Several processes may write to the same file. It is rotated at a size; one older file is kept. Imported late.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Final

NAME: Final = "bridge.log"
LARGEST: Final = 256 * 1024
"""Bytes after which a new file is begun; the last one is kept beside it as ``bridge.log.1``."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:/$+-]{1,80}", re.ASCII)
_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_CAREFUL: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def line(now: float, event: str, figures: dict[str, str | int]) -> str:
    """One line: UTC time, process, event, and the figures by name. A text that is no plain id is shown as ``?``."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"
    told = [f"{name}={value if _PLAIN.fullmatch(str(value)) else '?'}" for name, value in figures.items()]
    return " ".join([stamp, str(os.getpid()), event, *told]) + "\n"


class Log:
    """``bridge.log`` in a folder that is there. Never raises: a log must not stop anything."""

    def __init__(self, folder: Path, largest: int = LARGEST) -> None:
        self._path = folder / NAME
        self._largest = largest

    def write(self, text: str) -> None:
        """Append whole lines, and begin a new file when this one is long enough."""
        try:
            descriptor = os.open(self._path, _FLAGS | _CAREFUL, 0o600)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)
            if self._path.stat().st_size > self._largest:
                self._path.replace(self._path.with_name(f"{NAME}.1"))
        except OSError:
            return
