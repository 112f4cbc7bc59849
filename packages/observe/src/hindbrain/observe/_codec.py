"""Ledger entries to events. A record that is broken costs itself; whatever else is strange costs the entry.

Read by hand: 5 000 records are read when a long session is opened, and the checks are a handful of comparisons.

Source: spec/observe.md sections 1.1, 1.2 and 1.5; faults F-4 and F-8 there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from hindbrain.contracts import Entry
from hindbrain.observe import _events as events
from hindbrain.observe._records import Kind, Observation, Reflection, Relevance, is_record_id
from hindbrain.observe._times import instant

Times = Callable[[str], int | None]
"""The moment of an entry by its id, None where it is unknown."""
_R = TypeVar("_R")
_RELEVANCE = {str(each.value): each for each in Relevance}
_KIND = {str(each.value): each for each in Kind}
_BUDGET = ("maxTokens", "renderedTokens", "tailTokens", "softLimit", "trimmedObservations", "trimmedReflections")


def read_event(entry: Entry, times: Times = lambda _id: None) -> events.Event | None:
    """What a custom entry says; None where it is none of ours or holds nothing that is sound.

    Args:
        entry: any entry.
        times: the moments of the entries before it; a record that has none takes the earliest of its sources.
    """
    reader = _READERS.get(entry.custom_type or "") if entry.kind == "custom" else None
    data = _object(entry.data) if reader is not None else None
    return reader(data, times) if reader is not None and data is not None else None


def read_folded(entry: Entry, times: Times = lambda _id: None) -> events.Folded | None:
    """The memory that a compaction put in place; None for one that was made in another way.

    A budget that is broken is left out and the rest still counts.
    """
    if entry.kind != "compaction" or entry.data is None or events.FOLDED not in entry.data:
        return None
    data = _object(entry.data)
    if data is None or data.get("type") != events.FOLDED or data.get("version") != 1:
        return None
    observations, reflections = data.get("observations"), data.get("reflections")
    if not (
        isinstance(data.get("fullFold"), bool) and isinstance(observations, list) and isinstance(reflections, list)
    ):
        return None
    return events.Folded(
        full_fold=data["fullFold"],
        observations=_each(observations, lambda raw: _observation(raw, times)),
        reflections=_each(reflections, _reflection),
        budget=_budget(data.get("budget")),
        unobserved=_unobserved(data.get("unobserved")),
    )


def _object(text: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(text or "null")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _each(raws: list[Any], read: Callable[[Any], _R | None]) -> tuple[_R, ...]:
    return tuple(record for raw in raws if (record := read(raw)) is not None)


def _word(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _ids(value: object) -> tuple[str, ...]:
    """The ids of a list; none where it is no list or one of them is no id."""
    return tuple(value) if isinstance(value, list) and all(map(_word, value)) else ()


def _observation(raw: Any, times: Times) -> Observation | None:
    if not isinstance(raw, dict):
        return None
    content, timestamp, sources = raw.get("content"), raw.get("timestamp"), _ids(raw.get("sourceEntryIds"))
    relevance, count = raw.get("relevance"), raw.get("tokenCount")
    sound = is_record_id(raw.get("id")) and _word(content) and _word(timestamp) and sources and _count(count)
    if not sound or not isinstance(relevance, str) or relevance not in _RELEVANCE:
        return None
    kind = raw.get("kind")
    return Observation(
        id=raw["id"],
        content=raw["content"],
        timestamp=raw["timestamp"],
        relevance=_RELEVANCE[relevance],
        kind=_KIND.get(kind, Kind.FACT) if isinstance(kind, str) else Kind.FACT,
        source_ids=sources,
        token_count=raw["tokenCount"],
        at=_moment(raw, sources, times),
    )


def _moment(raw: Mapping[str, Any], sources: tuple[str, ...], times: Times) -> int | None:
    at = raw.get("at")
    if isinstance(at, int) and not isinstance(at, bool):
        return at
    known = [moment for source in sources if (moment := times(source)) is not None]
    return min(known) if known else instant(raw["timestamp"])


def _reflection(raw: Any) -> Reflection | None:
    if not isinstance(raw, dict):
        return None
    content, supports = raw.get("content"), _ids(raw.get("supportingObservationIds"))
    if not (is_record_id(raw.get("id")) and isinstance(content, str) and content and supports):
        return None
    if not _count(raw.get("tokenCount")) or "\n" in content or "\r" in content:
        return None
    return Reflection(id=raw["id"], content=content, support_ids=supports, token_count=raw["tokenCount"])


def _budget(raw: Any) -> events.RenderBudget | None:
    if not isinstance(raw, dict) or not all(_count(raw.get(name)) for name in _BUDGET):
        return None
    return events.RenderBudget(
        max_tokens=raw["maxTokens"],
        rendered_tokens=raw["renderedTokens"],
        tail_tokens=raw["tailTokens"],
        soft_limit=raw["softLimit"],
        trimmed_observations=raw["trimmedObservations"],
        trimmed_reflections=raw["trimmedReflections"],
    )


def _unobserved(raw: Any) -> events.Unobserved | None:
    if not isinstance(raw, dict) or not (is_record_id(raw.get("id")) and _word(raw.get("first"))):
        return None
    if not (_word(raw.get("last")) and isinstance(raw.get("entries"), int) and isinstance(raw.get("tokens"), int)):
        return None
    return events.Unobserved(
        id=raw["id"], first=raw["first"], last=raw["last"], entries=raw["entries"], tokens=raw["tokens"]
    )


def _observed(data: dict[str, Any], times: Times) -> events.Observed | None:
    raws, covers, zone = data.get("observations"), data.get("coversUpToId"), data.get("zone")
    if not isinstance(raws, list) or not isinstance(covers, str) or not covers:
        return None
    found = _each(raws, lambda raw: _observation(raw, times))
    if not found and (raws or data.get("verdict") != "empty"):
        return None
    return events.Observed(observations=found, covers=covers, zone=zone if isinstance(zone, str) and zone else None)


def _reflected(data: dict[str, Any], _times: Times) -> events.Reflected | None:
    raws, covers = data.get("reflections"), data.get("coversUpToId")
    if not isinstance(raws, list) or not isinstance(covers, str) or not covers:
        return None
    found = _each(raws, _reflection)
    if not found and (raws or data.get("verdict") != "empty"):
        return None
    return events.Reflected(reflections=found, covers=covers)


def _dropped(data: dict[str, Any], _times: Times) -> events.Dropped | None:
    ids, covers = _ids(data.get("observationIds")), data.get("coversUpToId")
    return events.Dropped(ids=ids, covers=covers) if ids and isinstance(covers, str) and covers else None


def _superseded(data: dict[str, Any], _times: Times) -> events.Superseded | None:
    ids, covers = _ids(data.get("reflectionIds")), data.get("coversUpToId")
    return events.Superseded(ids=ids, covers=covers) if ids and isinstance(covers, str) and covers else None


def _gate(data: dict[str, Any], _times: Times) -> events.Gate | None:
    enabled = data.get("enabled")
    return events.Gate(enabled=enabled) if isinstance(enabled, bool) else None


_READERS: dict[str, Callable[[dict[str, Any], Times], events.Event | None]] = {
    events.OBSERVED: _observed,
    events.REFLECTED: _reflected,
    events.DROPPED: _dropped,
    events.SUPERSEDED: _superseded,
    events.GATE: _gate,
}
