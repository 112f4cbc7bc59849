"""Which chain of forks a session belongs to: forks share entry ids, so they must share a cursor.

Source: spec/pi-host.md section 4 (a fork keeps entry ids); decisions.md, "Durability" (cursors are per lineage).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from attrs import frozen

from hindbrain.memory.sessions._errors import SessionFileError
from hindbrain.memory.sessions._reader import iter_session
from hindbrain.memory.sessions._values import SessionHeader

_MOST_HOPS = 64
_ID_IN_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=\.jsonl$)")


@frozen
class SessionNames:
    """A session's own id, and that of the root of its chain of forks. They are equal where it was not forked."""

    session_id: str
    lineage: str


def names_of(path: str | os.PathLike[str]) -> SessionNames | None:
    """The names of the session in a file; None where the file is not there yet or has no header.

    The chain is followed from file to file. Where a parent is gone, the id in its file name stands for it, else its
    path; a chain that bites its tail ends there.
    """
    header = _header(Path(path))
    return None if header is None else names_of_new(header.id, header.parent_session)


def names_of_new(session_id: str, parent: str | None) -> SessionNames:
    """The names of a session that is in no file yet. ``parent`` is the path or id of what it was forked from."""
    lineage, seen = session_id, {session_id}
    while parent and len(seen) < _MOST_HOPS:
        above = _header(Path(parent))
        name = above.id if above else _named(parent)
        if name in seen:
            break
        seen.add(name)
        lineage, parent = name, above.parent_session if above else None
    return SessionNames(session_id, lineage)


def _header(path: Path) -> SessionHeader | None:
    try:
        return next((item for item, _ in iter_session(path) if isinstance(item, SessionHeader)), None)
    except (SessionFileError, OSError, ValueError):
        return None


def _named(parent: str) -> str:
    found = _ID_IN_NAME.search(parent)
    return found[0] if found else parent
