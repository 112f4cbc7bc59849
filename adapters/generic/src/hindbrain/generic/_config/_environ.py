"""Settings from environment variables: the ecosystem's shared names, the seeds' and our own.

Source: decisions.md, "Configuration and trust"; spec/memory.md section 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindbrain.generic._config._key import Key
from hindbrain.generic._config._keys import KEYS
from hindbrain.generic._config._merge import Layer

_REFERENCE = "HINDSIGHT_API_KEY_REF"
_KEY_VARIABLES = ("HINDSIGHT_API_KEY", "HINDSIGHT_API_TOKEN")
_SWITCHES_ON = {"banks.user.bankId": "banks.user.enabled"}
"""The seeds' variables that name a bank switch it on as well."""


def _layers(environ: Mapping[str, str], names: Mapping[str, Key]) -> list[Layer]:
    found: list[Layer] = []
    for name, key in names.items():
        text = environ.get(name, "")
        if text.strip():
            values: dict[str, Any] = {key.path: key.form.parse(text)}
            if name in key.env and key.path in _SWITCHES_ON:
                values[_SWITCHES_ON[key.path]] = True
            found.append(Layer(origin=f"environment {name}", values=values))
    return found


def shared_layers(environ: Mapping[str, str]) -> list[Layer]:
    """The ``HINDSIGHT_*`` names that other tools of the ecosystem read too. A key's variable is named, never read."""
    names = {name: key for key in KEYS for name in key.env if name.startswith("HINDSIGHT_")}
    named = environ.get(_REFERENCE, "").strip()
    references = [(_REFERENCE, named)] if named else []
    references += [(name, name) for name in _KEY_VARIABLES if environ.get(name, "").strip()]
    refs = [
        Layer(origin=f"environment {name}", values={"hindsight.apiKeyRef": f"env:{variable}"})
        for name, variable in references
    ]
    return [*_layers(environ, names), *refs]


def own_layers(environ: Mapping[str, str]) -> list[Layer]:
    """The seeds' ``PI_*`` names and our own ``HINDBRAIN_*`` ones, which win over every file."""
    seeds = {name: key for key in KEYS for name in key.env if not name.startswith("HINDSIGHT_")}
    return _layers(environ, seeds) + _layers(environ, {key.own_env: key for key in KEYS})
