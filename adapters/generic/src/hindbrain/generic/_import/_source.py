"""Finding session files, and what they say about themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from hindbrain.contracts import Entry
from hindbrain.memory import session_key
from hindbrain.memory.sessions import HostName, SessionFileError, SessionHeader, iter_session, names_of

_ID_IN_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=\.jsonl$)")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@frozen(kw_only=True)
class Source:
    """A session file. ``parent`` is the session it was forked from, or whose subagent it is; None where there is none.

    ``lineage`` is the id of the first session of its chain of forks, as cursors know it; None where the header is
    broken. ``size`` is in bytes and ``mtime`` in nanoseconds, as they were when the file was found.
    """

    path: Path
    size: int
    mtime: int
    session: str
    host: HostName
    cwd: str | None
    at: int | None
    parent: str | None
    lineage: str | None


@frozen(kw_only=True)
class PassedOver:
    """A file that is not imported, and why: ``missing``, ``not-a-session``, ``no-project`` and the like."""

    path: Path
    reason: str


def session_files(places: Iterable[Path]) -> Iterator[Path]:
    """Every file that was named, and every ``.jsonl`` file below a folder that was, each once and in order of name.

    Links to folders are not followed: a tree has an end.
    """
    seen: set[Path] = set()
    for place in places:
        for path in _below(place) if place.is_dir() else (place,):
            real = path.resolve()
            if real not in seen:
                seen.add(real)
                yield real


def _below(folder: Path) -> Iterator[Path]:
    for at, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(at, name) for name in sorted(names) if name.endswith(".jsonl"))


def clean_id(text: str) -> str:
    """An id for documents and tags: the host's own where it has the usual form, else a digest of it."""
    return text if _ID.fullmatch(text) else session_key(text)


def _parent_of(header: SessionHeader) -> str | None:
    """The host writes a path or an id; the path's name holds the id."""
    if not header.parent_session:
        return None
    named = _ID_IN_NAME.search(header.parent_session)
    return clean_id(named[0] if named else header.parent_session)


def read_source(path: Path) -> Source | PassedOver:
    """What a file says about itself, from its first lines."""
    try:
        first = next((item for item, _ in iter_session(path) if isinstance(item, SessionHeader | Entry)), None)
        status = path.stat()
    except SessionFileError as error:
        return PassedOver(path=path, reason=error.reason.value)
    except OSError:
        return PassedOver(path=path, reason="no-access")
    if first is None:
        return PassedOver(path=path, reason="not-a-session")
    named = _ID_IN_NAME.search(path.name)
    lineage = first.id if isinstance(first, SessionHeader) else None
    if isinstance(first, SessionHeader) and first.parent_session:
        names = names_of(path)
        lineage = names.lineage if names else lineage
    header = first if isinstance(first, SessionHeader) else SessionHeader(id=named[0] if named else str(path))
    return Source(
        path=path,
        size=status.st_size,
        mtime=status.st_mtime_ns,
        session=clean_id(header.id),
        host=header.host,
        cwd=header.cwd,
        at=header.at,
        parent=_parent_of(header),
        lineage=lineage,
    )


def without_copies(sources: Sequence[Source]) -> tuple[list[Source], list[PassedOver]]:
    """One file a session: the longest, which the others are older copies of. Parents come before their forks."""
    best: dict[str, Source] = {}
    for source in sources:
        if source.session not in best or source.size > best[source.session].size:
            best[source.session] = source
    copies = [PassedOver(path=s.path, reason="copy") for s in sources if best[s.session] is not s]
    return _parents_first(best), copies


def _parents_first(sources: dict[str, Source]) -> list[Source]:
    ordered: dict[str, Source] = {}
    for source in sources.values():
        line = [source]
        while (above := sources.get(line[-1].parent or "")) is not None and above not in line:
            line.append(above)
        ordered.update((each.session, each) for each in reversed(line) if each.session not in ordered)
    return list(ordered.values())
