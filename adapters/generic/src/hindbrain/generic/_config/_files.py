"""Settings from files: JSON with comments and trailing commas. Reading never raises; what fails becomes a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hindbrain.generic._config._merge import Layer

_MOST_BYTES = 1_000_000


def _object(text: str) -> dict[str, Any] | None:
    import json5

    try:
        value = json5.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_file(path: Path, *, origin: str, trusted: bool = True) -> tuple[Layer | None, str | None]:
    """One settings file as a layer, or a warning; a file that is not there is neither."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None, None
    except OSError:
        return None, f"{origin}: the file {path} could not be read and was passed over. Check its permissions."
    values = _object(raw.decode("utf-8-sig", "replace")) if len(raw) <= _MOST_BYTES else None
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
