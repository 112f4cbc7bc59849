"""From layers to effective settings. Pure: layers come in as values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import Factory, define, field, frozen

from hindbrain.generic._config._form import FormError
from hindbrain.generic._config._key import Key
from hindbrain.generic._config._keys import BY_PATH, KEYS

_MOST_UNKNOWN = 10
_SCHEMA = "$schema"
_DESTINATIONS = ("hindsight.baseUrl", "hindsight.apiKeyRef", "banks", "embedder.", "observe.endpoint.")
_NAME_SHOWN = 80


@frozen(kw_only=True)
class Layer:
    """Raw values of one source. ``origin`` is shown to the user; ``trusted`` False admits project-safe keys only.

    ``way`` is the command by which the user trusts it.
    """

    origin: str
    values: Mapping[str, Any] = field(repr=False)
    trusted: bool = True
    way: str = "hindbrain trust"


@frozen(kw_only=True)
class Setting:
    """An effective value and the layer it came from."""

    value: Any
    origin: str = "default"


@frozen(kw_only=True)
class Settings:
    """All effective settings by key path, and what had to be said while reading them.

    ``refused`` are the keys whose last word, from a layer that may say it, had the wrong form, and the origin of that
    word: the value of the layer below stands, which is not what was asked for.
    """

    values: Mapping[str, Setting]
    warnings: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(factory=dict)

    @property
    def doubtful(self) -> Mapping[str, str]:
        """Of the refused keys those by which memory would go somewhere else than was meant: nothing may be sent."""
        return {path: origin for path, origin in self.refused.items() if path.startswith(_DESTINATIONS)}

    def __getitem__(self, path: str) -> Any:
        """The effective value of a key."""
        return self.values[path].value


def flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Key paths and values of a nested object.

    A known key ends the descent, whatever its value is, unless other keys lie below it and its value is an object.
    """
    for name, value in tree.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping) and (path not in BY_PATH or path in _HAS_KEYS_BELOW):
            yield from flatten(value, f"{path}.")
        elif path != _SCHEMA:
            yield path, value


_HAS_KEYS_BELOW = frozenset(a for a in BY_PATH for b in BY_PATH if b.startswith(f"{a}."))


def merge(layers: Iterable[Layer]) -> Settings:
    """Merge layers, later ones winning key by key; lists are replaced whole.

    A value of the wrong form is dropped with a warning that names key and form, never the value, and the layer below
    keeps the word. A list of banks takes the place of the two slots that lower layers filled.
    """
    merging = _Merging()
    for layer in layers:
        merging.take(layer)
    return Settings(values=merging.values, warnings=tuple(merging.warnings), refused=merging.refused)


@define
class _Merging:
    values: dict[str, Setting] = Factory(lambda: {key.path: Setting(value=key.default) for key in KEYS})
    warnings: dict[str, None] = Factory(dict)
    refused: dict[str, str] = Factory(dict)

    def take(self, layer: Layer) -> None:
        unknown: list[str] = []
        closed: list[str] = []
        for key, path, raw in _in_order(layer):
            if key is None:
                unknown.append(path)
            elif layer.trusted or key.project_safe:
                self._set(key, raw, layer)
            else:
                closed.append(key.path)
        if closed:
            self._say(
                f"{layer.origin}: passed over, since these count in a project's file only after `{layer.way}`:"
                f" {', '.join(closed)}."
            )
        for path in unknown[:_MOST_UNKNOWN]:
            self._say(_unknown(path, layer.origin))
        if len(unknown) > _MOST_UNKNOWN:
            self._say(f"{layer.origin}: {len(unknown) - _MOST_UNKNOWN} more keys are not known and were passed over.")

    def _set(self, key: Key, raw: object, layer: Layer) -> None:
        origin = layer.origin
        try:
            value, said = key.read_leniently(raw)
        except FormError:
            self.refused[key.target] = origin
            self._say(f"{origin}: {key.path} was dropped: expected {key.form.words}.")
            return
        if not layer.trusted and not key.admits(value):
            self._say(f"{origin}: {key.path} was dropped: {_bounds(key)}")
            return
        if key.waits and value != key.default:
            self._say(f"{origin}: {key.path} is understood, but nothing reads it yet: it has no effect.")
        for text in said:
            self._say(f"{origin}: {text}")
        for path in self.values if key.target in _HAS_KEYS_BELOW else ():
            if path.startswith(f"{key.target}."):
                self.values[path] = Setting(value=BY_PATH[path].default)
                self.refused.pop(path, None)
        self.values[key.target] = Setting(value=value, origin=origin)
        self.refused.pop(key.target, None)

    def _say(self, text: str) -> None:
        self.warnings[text] = None


def _in_order(layer: Layer) -> list[tuple[Key | None, str, object]]:
    """A layer's keys: older names first, then keys that others lie below, so that the closer word is the last."""
    found = [(BY_PATH.get(path), path, raw) for path, raw in flatten(layer.values)]
    return sorted(found, key=lambda item: _rank(item[0]))


def _bounds(key: Key) -> str:
    least, most = key.project_bounds or (None, None)
    return f"a project's file may set it from {least} to {most} only, until you have looked at it: `hindbrain trust`."


def _rank(key: Key | None) -> int:
    if key is None:
        return 2
    return 0 if key.alias_of else 1 if key.path in _HAS_KEYS_BELOW else 2


def _unknown(path: str, origin: str) -> str:
    if any(known.startswith(f"{path}.") for known in BY_PATH):
        return f"{origin}: {path} was dropped: expected an object with its keys."
    shown = path[:_NAME_SHOWN]
    near = difflib.get_close_matches(shown, BY_PATH, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"{origin}: the key {shown!r} is not known and was passed over.{hint}"
