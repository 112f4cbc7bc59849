"""The schema for editors says what the settings say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.generic._config import ALIASES, BY_PATH, KEYS, FormError, Key, plain, schema

ROOT = Path(__file__).parents[2]
SCHEMA = schema()
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
KNOWN = {"type", "enum", "const", "anyOf", "$ref", "properties", "required", "additionalProperties", "items", "pattern"}
KNOWN |= {
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "$defs",
    "$schema",
}
KNOWN |= {"title", "description", "default", "deprecated", "x-projectSafe", "x-projectBounds", "x-env"}


def fits(value: Any, said: dict[str, Any]) -> bool:
    """Whether a value is what a schema says; of the language only what ours uses."""
    assert set(said) <= KNOWN, said
    if "$ref" in said:
        return fits(value, SCHEMA["$defs"][said["$ref"].rpartition("/")[2]])
    if "anyOf" in said:
        return any(fits(value, one) for one in said["anyOf"])
    if "type" in said and not is_a(value, said["type"]):
        return False
    if "enum" in said and value not in said["enum"]:
        return False
    if "const" in said and value != said["const"]:
        return False
    return all(inner(value, said))


def is_a(value: Any, type_: str) -> bool:
    return isinstance(value, TYPES[type_]) and (type_ == "boolean" or not isinstance(value, bool))


def inner(value: Any, said: dict[str, Any]) -> Iterator[bool]:
    if isinstance(value, str):
        yield said.get("minLength", 0) <= len(value) <= said.get("maxLength", 10**9)
        yield re.search(said.get("pattern", ""), value) is not None
    elif isinstance(value, list):
        yield said.get("minItems", 0) <= len(value) <= said.get("maxItems", 10**9)
        yield all(fits(item, said.get("items", {})) for item in value)
    elif isinstance(value, dict):
        yield set(said.get("required", ())) <= set(value)
        for name, item in value.items():
            inside = said.get("properties", {}).get(name)
            yield fits(item, inside) if inside is not None else said.get("additionalProperties") is not False
    elif isinstance(value, int | float):
        yield said.get("minimum", -1e18) <= value <= said.get("maximum", 1e18)
        yield said.get("exclusiveMinimum", -1e18) < value < said.get("exclusiveMaximum", 1e18)


def nested(path: str, value: Any) -> dict[str, Any]:
    head, _, rest = path.partition(".")
    return {head: nested(rest, value) if rest else value}


VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    8,
    1000,
    10**7,
    0.5,
    "",
    "x",
    "env:A",
    "local",
    "mid",
    "always",
    "low",
]
VALUES += ["user", "append", "remote", "immediate", "explicit-only", [], ["x"], ["x", 1], ["text"], ["world"], [["a"]]]
VALUES += [
    [[]],
    {},
    {"command": ["x"]},
    {"command": []},
    {"command": ["x"], "timeoutMs": 0},
    [{"id": "a"}],
    [{"id": 1}],
]
VALUES += ["https://h.example", "/x", "2026-01-01", "k" * 5000]
STRICTER = {
    "dataDir",
    "hindsight.baseUrl",
    "embedder.baseUrl",
    "observe.endpoint.baseUrl",
    "recall.queryTimestamp",
    "scope.unscopedRecallBanks",
}
"""What is checked by more than a schema can say, and reads as text there."""


def reads(key: Key, value: Any) -> bool:
    try:
        key.read(value)
    except FormError:
        return False
    return True


@pytest.mark.parametrize("key", BY_PATH.values(), ids=lambda key: key.path)
def test_the_schema_takes_what_the_settings_take(key: Key) -> None:
    for value in VALUES:
        if key.path == "banks" and isinstance(value, dict):
            continue  # the slots below it
        taken, fitting = reads(key, value), fits(nested(key.path, value), SCHEMA)
        if key.path in STRICTER or key.path.endswith("bankId"):
            assert fitting or not taken, value
        else:
            assert taken is fitting, value


def test_all_defaults_together_are_a_file_that_fits() -> None:
    tree: dict[str, Any] = {"$schema": "./hindbrain.schema.json", "observe": {"passive": True}}
    for key in KEYS:
        node = tree
        *above, last = key.path.split(".")
        for name in above:
            node = node.setdefault(name, {})
        if key.path != "banks":
            node[last] = plain(key.default)
    assert fits(tree, SCHEMA)
    assert not fits({"recall": {"topk": 3}}, SCHEMA)


def leaf(path: str) -> dict[str, Any]:
    node = SCHEMA
    for name in path.split("."):
        node = next((form for form in node.get("anyOf", ()) if "properties" in form), node)["properties"][name]
    return node


@pytest.mark.parametrize("key", [*KEYS, *ALIASES], ids=lambda key: key.path)
def test_the_schema_says_what_each_setting_is_about(key: Key) -> None:
    said = leaf(key.path)
    assert said["description"] == key.about + (" Nothing reads it yet." if key.waits else "")
    assert said["x-projectSafe"] is key.project_safe
    assert said.get("x-projectBounds") == (key.project_bounds and list(key.project_bounds))
    if key.alias_of is None:
        assert key.own_env in said["x-env"]
        assert key.nullable or said["default"] == plain(key.default)


def test_the_copy_that_editors_are_given_is_the_schema() -> None:
    assert json.loads((ROOT / "docs/hindbrain.schema.json").read_text("utf-8")) == SCHEMA


def test_the_page_of_settings_has_one_row_for_each() -> None:
    text = (ROOT / "docs/settings.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w.]+)` \| [^|]+ \| [^|]+ \|", text, re.MULTILINE)
    assert [path for path in rows if "." in path or path in BY_PATH][-len(BY_PATH) :] == [
        key.path for key in (*KEYS, *ALIASES)
    ]
