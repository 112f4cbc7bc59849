"""What is installed where, and what else of its kind is there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from hindbrain.generic.hosts._kinds import NAME, HostKind
from hindbrain.generic.hosts._shim import marked_version

_OTHERS = re.compile(r"hindsight|mem0|memory|mnemo|honcho|supermemory", re.IGNORECASE)
_OWN_MEMORY = re.compile(r"^\s*backend\s*:\s*[\"']?(\w+)", re.MULTILINE)
_SECTION = re.compile(r"^memory\s*:(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_INLINE = re.compile(
    r"^memory\.backend\s*:\s*[\"']?(\w+)|^memory\s*:\s*\{[^}\n]*backend\s*:\s*[\"']?(\w+)", re.MULTILINE
)
_MOST_BYTES = 1_000_000


@frozen(kw_only=True)
class Installed:
    """One folder where our shim may lie.

    Attributes:
        host: whose it is.
        folder: where.
        version: of the shim there; None where there is none.
        problems: a sentence each, with what to do.
    """

    host: str
    folder: Path
    version: str | None = None
    problems: tuple[str, ...] = ()


def survey(kind: HostKind, folder: Path, *, settings: Path | None = None) -> Installed:
    """Look at a folder of ours and its neighbours. Changes nothing.

    Args:
        kind: the host.
        folder: ours.
        settings: the host's own settings file, to see whether it has a memory of its own.
    """
    version = None if folder.is_symlink() else marked_version(folder)
    problems = [*_broken(kind, folder, version), *_neighbours(folder), *_own_memory(settings)]
    return Installed(host=kind.name, folder=folder, version=version, problems=tuple(problems))


def _broken(kind: HostKind, folder: Path, version: str | None) -> list[str]:
    if version is None:
        return []
    again = f"run `hindbrain install {kind.name}` again."
    found = []
    if version != kind.version:
        found.append(f"The shim is of version {version}, this is {kind.version}; {again}")
    try:
        command: Mapping[str, object] = json.loads((folder / "shim.json").read_bytes())
        argv = command["command"]
        python = Path(argv[0]) if isinstance(argv, list) and argv and isinstance(argv[0], str) else None
    except (OSError, ValueError, KeyError, TypeError):
        python = None
    if python is None:
        found.append(f"shim.json cannot be read; {again}")
    elif not python.exists():
        found.append(f"The interpreter {python} is gone, so that memory is off; {again}")
    return found


def _neighbours(folder: Path) -> list[str]:
    try:
        names = sorted(each.name for each in folder.parent.iterdir() if each.name != NAME)
    except OSError:
        return []
    return [
        f"Another extension looks like a memory: {folder.parent / name}. Two of them retain everything twice."
        for name in names
        if _OTHERS.search(name)
    ]


def _own_memory(settings: Path | None) -> list[str]:
    backend = None if settings is None else _backend(settings)
    if backend in {None, "off"}:
        return []
    return [f"The host's own memory is on (memory.backend: {backend}). Set it to off, or uninstall this one."]


def _backend(settings: Path) -> str | None:
    """``memory.backend`` of a YAML file, as far as it can be told without reading YAML."""
    try:
        with settings.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    inline = _INLINE.search(text)
    if inline:
        return inline[1] or inline[2]
    section = _SECTION.search(text)
    found = _OWN_MEMORY.search(section[1]) if section else None
    return found[1] if found else None
