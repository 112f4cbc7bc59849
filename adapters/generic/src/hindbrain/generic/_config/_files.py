"""Settings from files: JSON with comments and trailing commas. Reading never raises; what fails becomes a warning."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from hindbrain.generic._config._merge import Layer

_MOST_BYTES = 100_000
"""No settings are that long, and the reader of comments takes 7 s for a megabyte that came with a repository."""


@frozen(kw_only=True)
class FileRead:
    """What was found at a path. ``values`` None: nothing that can be used; ``problem`` says why, if there is a file."""

    path: Path
    values: Mapping[str, Any] | None = field(default=None, repr=False)
    raw: bytes = field(default=b"", repr=False)
    """The bytes that ``values`` were read from."""
    problem: str | None = None

    @property
    def sha256(self) -> str:
        """What the bytes are known by."""
        return hashlib.sha256(self.raw).hexdigest()

    def layer(self, origin: str, *, trusted: bool = True, way: str = "hindbrain trust") -> Layer | None:
        """The file as a layer, if it can be used; ``way`` is the command by which it is trusted."""
        if self.values is None:
            return None
        return Layer(origin=f"{origin} {self.path}", values=self.values, trusted=trusted, way=way)

    def warning(self, origin: str) -> str | None:
        """The problem, for the user."""
        return self.problem and f"{origin}: {self.problem}"


def parse(raw: bytes) -> dict[str, Any] | None:
    """The JSON object that bytes spell, with comments and trailing commas; None where they spell none."""
    import json5

    text = raw.decode("utf-8-sig", "replace")
    for loads in (json.loads, json5.loads):
        try:
            value = loads(text)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else None
    return None


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for its other end


def _bytes(path: Path) -> bytes | None:
    """The file up to one byte beyond the most, or None where it is not a regular one: a project may bring any link.

    Raises:
        OSError: it cannot be opened or read.
    """
    with open(path, "rb", opener=_at_once) as file:
        return file.read(_MOST_BYTES + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None


def read(path: Path) -> FileRead:
    """Read one settings file; a file that is not there is no problem."""
    try:
        raw = _bytes(path)
    except FileNotFoundError:
        return FileRead(path=path)
    except OSError:
        problem = f"the file {path} could not be read and was passed over. Check its permissions."
        return FileRead(path=path, problem=problem)
    if raw is None:
        problem = f"{path} is not a regular file and was passed over. Put a plain file there."
        return FileRead(path=path, problem=problem)
    if len(raw) > _MOST_BYTES:
        problem = f"{path} is longer than {_MOST_BYTES} bytes and was passed over. Shorten it."
        return FileRead(path=path, problem=problem)
    values = parse(raw)
    if values is None:
        problem = f"{path} is not a JSON object and was passed over. Mend its syntax."
        return FileRead(path=path, problem=problem)
    return FileRead(path=path, values=values, raw=raw)


def first_of(folder: Path) -> Path:
    """The settings file of a folder: ``hindbrain.json`` before ``hindbrain.jsonc``."""
    plain, commented = folder / "hindbrain.json", folder / "hindbrain.jsonc"
    return commented if commented.exists() and not plain.exists() else plain


def ecosystem_layer(path: Path) -> tuple[Layer | None, str | None]:
    """``~/.hindsight/coding-agent.json`` of the official integrations: its address and bank.

    A token in it is not taken over: name the variable or file that holds it in ``hindsight.apiKeyRef``.
    """
    found = read(path)
    if found.values is None:
        return None, found.warning("ecosystem file")
    names = {"apiUrl": "hindsight.baseUrl", "bankId": "banks.project.bankId"}
    values = {ours: found.values[theirs] for theirs, ours in names.items() if found.values.get(theirs)}
    warning = None
    if found.values.get("apiToken"):
        warning = f"ecosystem file {path}: apiToken is not taken from a file; name its place in hindsight.apiKeyRef."
    return Layer(origin=f"ecosystem file {path}", values=values), warning
