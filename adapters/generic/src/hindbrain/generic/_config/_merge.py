"""From layers to effective settings. Pure: layers come in as values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import field, frozen
from pydantic import ValidationError

from hindbrain.generic._config._keys import BY_PATH, KEYS, Key


@frozen(kw_only=True)
class Layer:
    """Raw values of one source. ``origin`` is shown to the user; ``trusted`` False admits project-safe keys only."""

    origin: str
    values: Mapping[str, Any] = field(repr=False)
    trusted: bool = True


@frozen(kw_only=True)
class Setting:
    """An effective value and the layer it came from."""

    value: Any
    origin: str = "default"


@frozen(kw_only=True)
class Settings:
    """All effective settings by key path, and what had to be said while reading them."""

    values: Mapping[str, Setting]
    warnings: tuple[str, ...] = ()

    def __getitem__(self, path: str) -> Any:
        """The effective value of a key."""
        return self.values[path].value


def flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Key paths and values of a nested object; a known key ends the descent, whatever its value is."""
    for name, value in tree.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping) and path not in BY_PATH:
            yield from flatten(value, f"{path}.")
        else:
            yield path, value


def _unknown(path: str, origin: str) -> str:
    if any(known.startswith(f"{path}.") for known in BY_PATH):
        return f"{origin}: {path} was dropped: expected an object with its keys."
    near = difflib.get_close_matches(path, BY_PATH, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"{origin}: the key {path[:80]!r} is not known and was passed over.{hint}"


def _read(key: Key, value: object, layer: Layer) -> Setting | str:
    if not layer.trusted and not key.project_safe:
        return f"{layer.origin}: {key.path} may not be set by a project's file and was passed over."
    try:
        return Setting(value=key.read(value), origin=layer.origin)
    except ValidationError:
        return f"{layer.origin}: {key.path} was dropped: expected {key.form}."


def merge(layers: Iterable[Layer]) -> Settings:
    """Merge layers, later ones winning key by key; lists are replaced whole.

    A value of the wrong form is dropped with a warning that names key and form, never the value, and the layer below
    keeps the word.
    """
    values = {key.path: Setting(value=key.default) for key in KEYS}
    warnings: dict[str, None] = {}
    for layer in layers:
        for path, raw in flatten(layer.values):
            key = BY_PATH.get(path)
            got = _unknown(path, layer.origin) if key is None else _read(key, raw, layer)
            if isinstance(got, Setting):
                values[path] = got
            else:
                warnings[got] = None
    return Settings(values=values, warnings=tuple(warnings))
