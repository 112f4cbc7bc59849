"""The debug log of a session: one JSON object a line, of ids and counts only.

Source: 004_d1a6c9e182f889a8.txt, "Debug log"; spec/observe.md section 7.3.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from hindbrain.contracts import JsonValue

_LARGEST = 10 * 1024 * 1024
_STRANGE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 128


class DebugLog:
    """Appends to ``observational-memory/debug/<session>.ndjson`` below a folder; a failure changes nothing.

    Args:
        folder: the host's agent directory.
        session: the host's id of the session; without one that names a file, ``observational-memory/debug.ndjson``.
    """

    def __init__(self, folder: Path, session: str | None) -> None:
        self._session = session
        name = _file_name(session or "")
        home = folder / "observational-memory"
        self.path = home / "debug" / f"{name}.ndjson" if name else home / "debug.ndjson"

    def write(self, event: str, data: Mapping[str, JsonValue], *, at: str, run: str | None = None) -> None:
        """Write a row.

        Args:
            event: what happened.
            data: ids and counts.
            at: the moment, ISO 8601.
            run: the id of the run that it belongs to.
        """
        row = {"ts": at, "event": event, "sessionId": self._session, "runId": run, "data": dict(data)}
        with contextlib.suppress(OSError, ValueError, TypeError):
            line = json.dumps(row, ensure_ascii=False) + "\n"
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                if self.path.stat().st_size >= _LARGEST:
                    self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
            with os.fdopen(os.open(self.path, flags, 0o600), "a", encoding="utf-8") as file:
                file.write(line)


def _file_name(session: str) -> str:
    """The id as a file's name, empty where nothing of it can be one."""
    name = _STRANGE.sub("_", session)[:_LONGEST].strip("._-")
    return name if any(each.isalnum() for each in name) else ""
