"""Settings from environment variables: the ecosystem's shared names, the seeds' and our own.

Source: decisions.md, "Configuration and trust"; spec/memory.md section 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindbrain.generic._config._keys import KEYS, Key
from hindbrain.generic._config._merge import Layer

_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off"})
_KEY_VARIABLES = ("HINDSIGHT_API_KEY", "HINDSIGHT_API_TOKEN")


def _parse(key: Key, text: str) -> object:
    """A variable's text as the JSON value it stands for; what does not parse stays text and is refused by the key."""
    low = text.strip().lower()
    if isinstance(key.default, bool):
        return True if low in _YES else False if low in _NO else text
    if isinstance(key.default, int):
        return int(low) if low.isascii() and low.isdecimal() else text
    if isinstance(key.default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text.strip()


def _layers(environ: Mapping[str, str], names: Mapping[str, Key]) -> list[Layer]:
    found: list[Layer] = []
    for name, key in names.items():
        text = environ.get(name, "")
        if text.strip():
            values: dict[str, Any] = {key.path: _parse(key, text)}
            found.append(Layer(origin=f"environment {name}", values=values))
    return found


def shared_layers(environ: Mapping[str, str]) -> list[Layer]:
    """The ``HINDSIGHT_*`` names that other tools of the ecosystem read too. A key's variable is named, never read."""
    names = {name: key for key in KEYS for name in key.env if name.startswith("HINDSIGHT_")}
    refs = [
        Layer(origin=f"environment {name}", values={"hindsight.apiKeyRef": f"env:{name}"})
        for name in _KEY_VARIABLES
        if environ.get(name, "").strip()
    ]
    return [*_layers(environ, names), *refs]


def own_layers(environ: Mapping[str, str]) -> list[Layer]:
    """The seeds' ``PI_*`` names and our own ``HINDBRAIN_*`` ones, which win over every file."""
    seeds = {name: key for key in KEYS for name in key.env if not name.startswith("HINDSIGHT_")}
    return _layers(environ, seeds) + _layers(environ, {key.own_env: key for key in KEYS})
