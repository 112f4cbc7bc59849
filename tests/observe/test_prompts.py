from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hindbrain.contracts import Tool
from hindbrain.observe import Kind, Relevance
from hindbrain.observe._prompts import DROP_OBSERVATIONS, RECORD_OBSERVATIONS, RECORD_REFLECTIONS, instructions

TOOLS = [RECORD_OBSERVATIONS, RECORD_REFLECTIONS, DROP_OBSERVATIONS]
WORKERS = ["observer", "reflector", "dropper"]


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from nodes(each)
    elif isinstance(value, list):
        for each in value:
            yield from nodes(each)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_holds_nothing_that_a_grammar_cannot_be_made_of(tool: Tool) -> None:
    told = json.loads(json.dumps(dict(tool.parameters)))
    words = {key for node in nodes(told) for key in node}
    refused = {"pattern", "format", "$ref", "oneOf", "anyOf", "allOf", "minLength", "minItems", "additionalProperties"}
    assert not words & refused
    assert told["type"] == "object"


@pytest.mark.req("S4-reflections-003")
def test_a_reflection_is_proposed_with_its_supports_and_what_it_replaces() -> None:
    item = RECORD_REFLECTIONS.parameters["properties"]["reflections"]["items"]
    assert set(item["properties"]) == {"content", "supportingObservationIds", "supersedes"}
    assert item["required"] == ["content"]
    assert item["properties"]["supersedes"]["items"] == {"type": "string"}


def test_the_observer_s_tool_and_instructions_know_every_kind_and_relevance() -> None:
    item = RECORD_OBSERVATIONS.parameters["properties"]["observations"]["items"]["properties"]
    assert item["kind"]["enum"] == [each.value for each in Kind]
    assert item["relevance"]["enum"] == [each.value for each in Relevance]
    told = instructions("observer")
    assert all(f"`{each.value}`" in told for each in (*Kind, *Relevance))


@pytest.mark.req("S4-dropper-003")
def test_the_dropper_is_told_to_ask_the_strongest_reasons_of_a_critical_one() -> None:
    told = " ".join(instructions("dropper").split())
    assert "`critical` may go only with the strongest reasons" in told
    for word in ("older", "represented by reflections", "superseded", "redundant", "obsolete"):
        assert word in told


@pytest.mark.parametrize("worker", WORKERS)
def test_instructions_name_the_tool_take_memory_as_material_and_allow_for_nothing(worker: str) -> None:
    told = " ".join(instructions(worker).split())
    tool = TOOLS[WORKERS.index(worker)]
    assert f"`{tool.name}`" in told
    assert "whatever they ask for" in told
    assert "That is a good answer." in told
