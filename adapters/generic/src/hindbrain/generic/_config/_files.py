"""Settings from files: JSON with comments and trailing commas. Reading never raises; what fails becomes a warning."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from hindbrain.generic._config._merge import Layer

_MOST_BYTES = 100_000
"""No settings are that long, and the reader of comments takes 7 s for a megabyte that came with a repository."""


def _object(text: str) -> dict[str, Any] | None:
    import json5

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


def read_file(path: Path, *, origin: str, trusted: bool = True) -> tuple[Layer | None, str | None]:
    """One settings file as a layer, or a warning; a file that is not there is neither."""
    try:
        raw = _bytes(path)
    except FileNotFoundError:
        return None, None
    except OSError:
        return None, f"{origin}: the file {path} could not be read and was passed over. Check its permissions."
    if raw is None:
        return None, f"{origin}: {path} is not a regular file and was passed over. Put a plain file there."
    if len(raw) > _MOST_BYTES:
        return None, f"{origin}: {path} is longer than {_MOST_BYTES} bytes and was passed over. Shorten it."
    values = _object(raw.decode("utf-8-sig", "replace"))
    if values is None:
        return None, f"{origin}: {path} is not a JSON object and was passed over. Mend its syntax."
    return Layer(origin=f"{origin} {path}", values=values, trusted=trusted), None


def first_of(folder: Path) -> Path:
    """The settings file of a folder: ``hindbrain.json`` before ``hindbrain.jsonc``."""
    plain = folder / "hindbrain.json"
    return plain if plain.exists() else folder / "hindbrain.jsonc"


def ecosystem_layer(path: Path) -> tuple[Layer | None, str | None]:
    """``~/.hindsight/coding-agent.json`` of the official integrations: its address and bank.

    A token in it is not taken over: name the variable or file that holds it in ``hindsight.apiKeyRef``.
    """
    layer, warning = read_file(path, origin="ecosystem file")
    if layer is None:
        return None, warning
    names = {"apiUrl": "hindsight.baseUrl", "bankId": "banks.project.bankId"}
    values = {ours: layer.values[theirs] for theirs, ours in names.items() if layer.values.get(theirs)}
    if layer.values.get("apiToken"):
        warning = f"{layer.origin}: apiToken is not taken from a file; name its place in hindsight.apiKeyRef."
    return Layer(origin=layer.origin, values=values), warning
