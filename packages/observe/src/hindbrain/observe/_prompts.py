"""The workers' instructions, which lie beside this module as text, and the one tool that each of them has.

The schemas use types, lists and words only: servers that bind a model's output to a grammar know no more.

Source: spec/observe.md sections 3.3, 3.4 and 3.6, and I-16 there.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from hindbrain.contracts import JsonValue, Tool
from hindbrain.observe._records import Kind, Relevance


@cache
def instructions(worker: str) -> str:
    """The instructions of a worker: ``observer``, ``reflector`` or ``dropper``."""
    return (files("hindbrain.observe") / "prompts" / f"{worker}.md").read_text(encoding="utf-8").strip()


def _object(required: tuple[str, ...], **properties: JsonValue) -> dict[str, JsonValue]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _list(items: JsonValue, about: str) -> dict[str, JsonValue]:
    return {"type": "array", "items": items, "description": about}


_TEXT: dict[str, JsonValue] = {"type": "string"}

RECORD_OBSERVATIONS = Tool(
    name="record_observations",
    description="Record observations of the passages. Each cites the passages it was seen in.",
    parameters=_object(
        ("observations",),
        observations=_list(
            _object(
                ("content", "relevance", "kind", "sourceEntryIds"),
                content={**_TEXT, "description": "What was observed, on one line."},
                relevance={**_TEXT, "enum": [each.value for each in Relevance]},
                kind={**_TEXT, "enum": [each.value for each in Kind]},
                sourceEntryIds=_list(_TEXT, "The ids of the passages, at least one."),
            ),
            "At least one observation.",
        ),
    ),
)

RECORD_REFLECTIONS = Tool(
    name="record_reflections",
    description="Record reflections, and name those that each takes the place of.",
    parameters=_object(
        ("reflections",),
        reflections=_list(
            _object(
                ("content",),
                content={**_TEXT, "description": "The statement, on one line."},
                supportingObservationIds=_list(_TEXT, "The ids of the observations it rests on."),
                supersedes=_list(_TEXT, "The ids of the reflections that it replaces."),
            ),
            "At least one reflection.",
        ),
    ),
)

DROP_OBSERVATIONS = Tool(
    name="drop_observations",
    description="Take observations out of active memory. Each can still be recalled.",
    parameters=_object(
        ("ids",),
        ids=_list(_TEXT, "The ids of the observations, at least one."),
        reason={**_TEXT, "description": "Why they can be spared, in a few words."},
    ),
)
