"""Which files of projects the user trusts: a folder of small files, one for each, that only the user may write.

A project's file is trusted by its path and the hash of its bytes together, so that a change, by a pull or by anyone,
ends it. One file for each means that no two commands can undo each other's word. Source: decisions.md, "Configuration
and trust".
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from enum import Enum
from pathlib import Path

from attrs import frozen

from hindbrain.generic._config._files import FileRead
from hindbrain.generic._config._private import remove, write_private

_MOST_BYTES = 10_000


class Trust(Enum):
    """What the user has said about a file."""

    NEVER = "never"
    CHANGED = "changed"
    """It was trusted, and is not what it was."""
    TRUSTED = "trusted"


@frozen
class TrustStore:
    """The files the user trusts, kept in ``folder``."""

    folder: Path

    def of(self, found: FileRead) -> Trust:
        """What was said about the bytes that were read. Nothing that is wrong with the store makes a file trusted."""
        said = self._said(found.path)
        if said is None or found.values is None:
            return Trust.NEVER
        return Trust.TRUSTED if said == found.sha256 else Trust.CHANGED

    def trust(self, found: FileRead) -> None:
        """Trust exactly the bytes that were read.

        Raises:
            OSError: it could not be recorded.
        """
        record = {"version": 1, "path": _name(found.path), "sha256": found.sha256}
        write_private(self._record(found.path), json.dumps(record, indent=2).encode() + b"\n")

    def forget(self, path: Path) -> bool:
        """Trust a file no more; False where it was not trusted.

        Raises:
            OSError: it could not be removed.
        """
        return remove(self._record(path))

    def _record(self, path: Path) -> Path:
        return self.folder / f"{hashlib.sha256(_name(path).encode('utf-8', 'surrogateescape')).hexdigest()[:32]}.json"

    def _said(self, path: Path) -> str | None:
        try:
            with self._record(path).open("rb") as file:
                if not _only_ours(os.fstat(file.fileno())):
                    return None
                record = json.loads(file.read(_MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(record, dict) or record.get("version") != 1 or record.get("path") != _name(path):
            return None
        said = record.get("sha256")
        return said if isinstance(said, str) else None


def _name(path: Path) -> str:
    """The path that is trusted: real folders, and the file's own name even where it is a link."""
    return str(path.parent.resolve() / path.name)


def _only_ours(found: os.stat_result) -> bool:
    """Whether nobody else could have written it; true where the system knows no owners."""
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
