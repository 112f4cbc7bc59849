"""The settings as a JSON schema, for editors that complete and check ``hindbrain.json``."""

from __future__ import annotations

from typing import Any

from hindbrain.generic._config._key import Key
from hindbrain.generic._config._keys import ALIASES, KEYS
from hindbrain.generic._config._plain import plain

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of a settings file: types, bounds, words, defaults and descriptions.

    ``x-projectSafe`` says whether a project's file may set the key before it is trusted, ``x-projectBounds`` from what
    to what, ``x-env`` which variables set it. A checker can find less than hindbrain does: addresses and banks are
    checked when they are read.
    """
    definitions: dict[str, Any] = {}
    root = _object()
    root["properties"]["$schema"] = {"type": "string"}
    for key in (*KEYS, *ALIASES):
        _place(root, key.path.split("."), _leaf(key, definitions))
    head = {"$schema": DRAFT, "title": "Settings of hindbrain"}
    return {**head, **root, "$defs": definitions}


def _object() -> dict[str, Any]:
    return {"type": "object", "properties": {}, "additionalProperties": False}


def _place(node: dict[str, Any], names: list[str], leaf: dict[str, Any]) -> None:
    """Put a key's schema where its path says. Where a key has others below it, an object is one more form of it."""
    name, *rest = names
    inside = node["properties"]
    if not rest:
        inside[name] = leaf
        return
    below = inside.setdefault(name, _object())
    if "anyOf" in below:
        forms = below["anyOf"]
        below = next((form for form in forms if "properties" in form), None) or _object()
        if below not in forms:
            forms.append(below)
    _place(below, rest, leaf)


def _leaf(key: Key, definitions: dict[str, Any]) -> dict[str, Any]:
    said = key.form.adapter.json_schema()
    definitions.update(said.pop("$defs", {}))
    form = {"anyOf": [said, {"type": "null"}]} if key.nullable else said
    about = f"{key.about} Nothing reads it yet." if key.waits else key.about
    leaf = {**form, "description": about, "x-projectSafe": key.project_safe, "x-env": [*key.env, key.own_env]}
    if key.project_bounds is not None:
        leaf["x-projectBounds"] = list(key.project_bounds)
    if key.alias_of is not None:
        return {**form, "description": key.about, "x-projectSafe": key.project_safe, "deprecated": True}
    return leaf if key.nullable else {**leaf, "default": plain(key.default)}
