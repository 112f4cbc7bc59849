"""Events to what a host appends. Nothing empty is ever written, save the verdict that there was nothing to say."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen

from hindbrain.contracts import JsonValue
from hindbrain.observe import _events as events
from hindbrain.observe._records import Observation, Reflection


@frozen
class Append:
    """A custom entry to append: its type and its data."""

    custom_type: str
    data: dict[str, JsonValue] = field(repr=False)


def append_of(event: events.Event) -> Append | None:
    """The entry that says this; None where there is nothing to say.

    Source: spec/observe.md section 1.1. ``zone`` and ``at`` are ours; older readers pass over them, and over a verdict.
    """
    made: Append | None = None
    match event:
        case events.Gate():
            made = Append(events.GATE, {"enabled": event.enabled})
        case events.Observed() if event.covers:
            made = Append(events.OBSERVED, _observed(event))
        case events.Reflected() if event.covers:
            made = Append(events.REFLECTED, _reflected(event))
        case events.Dropped() if event.covers and event.ids:
            made = Append(events.DROPPED, {"observationIds": list(event.ids), "coversUpToId": event.covers})
        case events.Superseded() if event.covers and event.ids:
            made = Append(events.SUPERSEDED, {"reflectionIds": list(event.ids), "coversUpToId": event.covers})
    return made


def _observed(event: events.Observed) -> dict[str, Any]:
    data: dict[str, Any] = {
        "observations": [observation_data(each) for each in event.observations],
        "coversUpToId": event.covers,
    }
    if event.zone is not None:
        data["zone"] = event.zone
    if not event.observations:
        data["verdict"] = "empty"
    return data


def _reflected(event: events.Reflected) -> dict[str, Any]:
    data = {"reflections": [reflection_data(each) for each in event.reflections], "coversUpToId": event.covers}
    return data if event.reflections else {**data, "verdict": "empty"}


def observation_data(record: Observation) -> dict[str, JsonValue]:
    """An observation as JSON."""
    data: dict[str, JsonValue] = {
        "id": record.id,
        "content": record.content,
        "timestamp": record.timestamp,
        "relevance": record.relevance.value,
        "kind": record.kind.value,
        "sourceEntryIds": list(record.source_ids),
        "tokenCount": record.token_count,
    }
    return data if record.at is None else {**data, "at": record.at}


def reflection_data(record: Reflection) -> dict[str, JsonValue]:
    """A reflection as JSON."""
    return {
        "id": record.id,
        "content": record.content,
        "supportingObservationIds": list(record.support_ids),
        "tokenCount": record.token_count,
    }


def folded_details(folded: events.Folded) -> dict[str, JsonValue]:
    """The details of a compaction entry."""
    details: dict[str, JsonValue] = {
        "type": events.FOLDED,
        "version": 1,
        "fullFold": folded.full_fold,
        "observations": [observation_data(each) for each in folded.observations],
        "reflections": [reflection_data(each) for each in folded.reflections],
    }
    if (budget := folded.budget) is not None:
        details["budget"] = {
            "maxTokens": budget.max_tokens,
            "renderedTokens": budget.rendered_tokens,
            "tailTokens": budget.tail_tokens,
            "softLimit": budget.soft_limit,
            "trimmedObservations": budget.trimmed_observations,
            "trimmedReflections": budget.trimmed_reflections,
        }
    if (gap := folded.unobserved) is not None:
        details["unobserved"] = {
            "id": gap.id,
            "first": gap.first,
            "last": gap.last,
            "entries": gap.entries,
            "tokens": gap.tokens,
        }
    return details
