"""The page on the protocol, its schema and the bridge say the same."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hindbrain.bridge import PROTOCOL, Rpc
from hindbrain.bridge import _messages as wire
from hindbrain.bridge._frames import LIMIT
from hindbrain.bridge._messages import Answer, Notice, Request
from hindbrain.bridge._outbox import PATIENCE
from hindbrain.bridge._serving import AT_ONCE, SECONDS
from hindbrain.bridge._sidecar import BOUNDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
SCHEMA: dict[str, Any] = json.loads((ROOT / "docs/protocol.schema.json").read_text(encoding="utf-8"))
METHODS: dict[str, dict[str, Any]] = SCHEMA["methods"]
FROM = {"From the host to the sidecar": "host", "From the sidecar to the host": "sidecar"}


def rows() -> Iterator[tuple[str, str, list[str]]]:
    """Of each line of the page's tables: the heading above, the first cell, and the cells behind it."""
    heading = ""
    for line in PAGE.splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif line.startswith("| `") or re.match(r"\| -\d", line):
            first, *rest = (cell.strip() for cell in line.strip("|").split("|"))
            yield heading, first.strip("`"), rest


def fields(cell: str) -> dict[str, bool]:
    """The names in a cell, and whether each is always there."""
    return {name: not optional for name, optional in re.findall(r"`(\w+)`(\??)", cell)}


def shown(schema: dict[str, Any]) -> dict[str, bool]:
    """The same of a schema."""
    target = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return {name: name in target.get("required", ()) for name in target["properties"]}


def problems(part: Any, value: Any) -> list[str]:
    """What is wrong with a value, by a part of the schema file."""
    whole = {"$schema": SCHEMA["$schema"], "$defs": SCHEMA["$defs"], "allOf": [part]}
    return [error.message for error in Draft202012Validator(whole).iter_errors(value)]


BLOCKS = re.findall(r"^```jsonl\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
FRAMES = [(block, line) for block, text in enumerate(BLOCKS) for line in text.splitlines()]


def test_the_schema_is_one_and_is_of_the_version_that_is_spoken() -> None:
    for method in METHODS.values():
        for part in ("params", "result"):
            Draft202012Validator.check_schema(method.get(part, {}))
    assert SCHEMA["protocol"] == PROTOCOL
    assert f"version {PROTOCOL}\n" in PAGE


def test_each_method_of_the_tables_has_a_schema_and_each_schema_a_row() -> None:
    told: dict[str, set[str]] = {}
    for heading, name, _ in rows():
        if heading in FROM:
            told.setdefault(name, set()).add(FROM[heading])
    both = {"both": {"host", "sidecar"}}
    assert told == {name: both.get(method["from"], {method["from"]}) for name, method in METHODS.items()}


@pytest.mark.parametrize("row", [row for row in rows() if row[0] in FROM], ids=lambda row: f"{FROM[row[0]]}-{row[1]}")
def test_a_row_names_kind_parameters_and_result_as_the_schema_does(row: tuple[str, str, list[str]]) -> None:
    _, name, (kind, params, result) = row
    method = METHODS[name]
    assert kind == method["kind"]
    assert fields(params) == shown(method["params"])
    assert ("result" in method) == (kind == "request")
    assert fields(result) == (shown(method["result"]) if "result" in method else {})


def test_every_method_is_explained() -> None:
    assert [name for name in METHODS if f"**{name}**" not in PAGE and f"`{name}`" not in PAGE.split("|")[0]] == []


def test_each_frame_of_the_page_has_the_form_of_the_schema() -> None:
    asked: dict[tuple[int, object], str] = {}
    for block, line in FRAMES:
        message = wire.read(line.encode())
        if isinstance(message, (Request, Notice)):
            assert problems(METHODS[message.method]["params"], message.params) == [], line
            assert METHODS[message.method]["kind"] == ("request" if isinstance(message, Request) else "notification")
            if isinstance(message, Request):
                asked[block, message.id] = message.method
        else:
            assert isinstance(message, Answer), line
            method = asked.pop((block, message.id))
            part = METHODS[method]["result"] if message.error is None else SCHEMA["error"]
            value = message.result if message.error is None else json.loads(line)["error"]
            assert problems(part, value) == [], line
    assert asked == {}


def test_every_method_is_shown_in_a_frame() -> None:
    shown = {json.loads(line).get("method") for _, line in FRAMES}
    assert set(METHODS) - shown == set()


def test_the_schema_refuses_what_the_page_does_not_tell() -> None:
    good = {"session": "s", "file": None, "leaf": None, "outcome": "completed"}
    part = METHODS["session/settled"]["params"]
    assert problems(part, good) == []
    for wrong in ({"outcome": "done"}, {"leaf": 3}, {"session": ""}, {"more": 1}):
        assert problems(part, {**good, **wrong}) != [], wrong


def test_the_tools_and_commands_that_are_offered_have_the_form_of_the_schema() -> None:
    (path,) = ROOT.glob("adapters/**/surface.json")
    offered = json.loads(path.read_text(encoding="utf-8"))
    assert problems(METHODS["initialize"]["result"], {"protocol": PROTOCOL, "version": "0", **offered}) == []
    for tool in offered["tools"]:
        Draft202012Validator.check_schema(tool["parameters"])


def words_in_the_code() -> set[str]:
    """Each ``code="..."`` that is given to an error."""
    return {
        str(keyword.value.value)
        for path in (ROOT / "packages/bridge/src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "RpcError"
        for keyword in node.keywords
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant)
    }


def test_every_number_and_word_of_an_error_is_told() -> None:
    table = {int(name): set(re.findall(r"`([\w-]+)`", cells[0])) for head, name, cells in rows() if head == "Errors"}
    assert set(table) == {int(number) for number in Rpc}
    words = words_in_the_code()
    assert len(words) > 8
    assert words - set().union(*table.values()) == set()


def test_the_bounds_on_the_page_are_those_of_the_code() -> None:
    text = " ".join(PAGE.split())
    assert f"at most 8 MiB ({LIMIT:,} bytes".replace(",", " ") in text
    assert f"{SECONDS:g} s in the sidecar (`command/run`: {BOUNDS['command/run']:g} s)" in text
    assert f"unread for {PATIENCE:g} s" in text
    assert f"serves {AT_ONCE} requests at once" in text
