"""The passages a record rests on, by the record's id.

Source: 004_d1a6c9e182f889a8.txt, "Commands and agent tool"; spec/observe.md section 6, faults F-11 (no bound) and F-12
(evidence withheld); decisions.md, "Observational memory".
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from attrs import frozen

from hindbrain.contracts import Entry
from hindbrain.observe._events import Unobserved
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._records import Observation, Reflection, is_record_id
from hindbrain.observe._tokens import is_source

_R = TypeVar("_R", Observation, Reflection)


class Found(StrEnum):
    """What came of a recall."""

    OK = "ok"
    PARTIAL = "partial"
    """Some of the evidence is not on this branch; the rest is given."""
    NO_SOURCE = "no-source"
    """The record is here, but nothing it rests on."""
    NOT_FOUND = "not-found"
    DISABLED = "disabled"
    INVALID_ID = "invalid-id"


@frozen(kw_only=True)
class Recalled:
    """What an id leads to on this branch.

    ``dropped`` and ``superseded`` name those of the records that are no longer in force. ``missing`` are sources that
    are not on the branch, ``no_source`` entries that are none, ``missing_support`` observations that are not there.
    """

    id: str
    found: Found
    reflections: tuple[Reflection, ...] = ()
    observations: tuple[Observation, ...] = ()
    sources: tuple[Entry, ...] = ()
    gap: Unobserved | None = None
    dropped: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    no_source: tuple[str, ...] = ()
    missing_support: tuple[str, ...] = ()
    collision: bool = False


def recall(index: LedgerIndex, record_id: str) -> Recalled:
    """Look up a record of this branch, and what it rests on. Changes nothing and raises nothing.

    The id is that of an observation, of a reflection, or of a stretch that a compaction cut away unobserved. A record
    that was dropped or superseded is found all the same, and said to be so.
    """
    if not is_record_id(record_id):
        return Recalled(id="", found=Found.INVALID_ID)
    if not index.gate_on:
        return Recalled(id=record_id, found=Found.DISABLED)
    records = index.records(record_id)
    if not records:
        gap = next((each for each in index.gaps if each.id == record_id), None)
        return Recalled(id=record_id, found=Found.NOT_FOUND) if gap is None else _stretch(index, gap)
    return _evidence(index, record_id, records)


def _stretch(index: LedgerIndex, gap: Unobserved) -> Recalled:
    first, last = index.place(gap.first), index.place(gap.last)
    if first is None or last is None:
        missing = tuple(each for each, place in ((gap.first, first), (gap.last, last)) if place is None)
        return Recalled(id=gap.id, found=Found.NO_SOURCE, gap=gap, missing=missing)
    sources = tuple(entry for entry in index.entries[first : last + 1] if is_source(entry))
    return Recalled(id=gap.id, found=Found.OK if sources else Found.NO_SOURCE, gap=gap, sources=sources)


def _evidence(index: LedgerIndex, record_id: str, records: tuple[Observation | Reflection, ...]) -> Recalled:
    reflections = _unique(each for each in records if isinstance(each, Reflection))
    observations = [each for each in records if isinstance(each, Observation)]
    lost: list[str] = []
    for support in dict.fromkeys(each for reflection in reflections for each in reflection.support_ids):
        found = [each for each in index.records(support) if isinstance(each, Observation)]
        observations += found[-1:]
        lost += [] if found else [support]
    own = any(isinstance(each, Observation) for each in records)
    shown = _unique(observations)
    sources, missing, strange = _sources(index, observations)
    short = missing or strange or lost
    return Recalled(
        id=record_id,
        found=Found.NO_SOURCE if not sources else Found.PARTIAL if short else Found.OK,
        reflections=reflections,
        observations=shown,
        sources=sources,
        dropped=tuple(each.id for each in shown if each.id in index.fold.dropped),
        superseded=tuple(each.id for each in reflections if each.id in index.fold.superseded),
        missing=missing,
        no_source=strange,
        missing_support=tuple(lost),
        collision=own and bool(reflections),
    )


def _unique(records: Iterable[_R]) -> tuple[_R, ...]:
    """Each id once, with its newest record."""
    return tuple({each.id: each for each in records}.values())


def _sources(
    index: LedgerIndex, observations: Iterable[Observation]
) -> tuple[tuple[Entry, ...], tuple[str, ...], tuple[str, ...]]:
    """The sources there are in branch order, those that are gone, and entries that are no sources."""
    places: set[int] = set()
    missing: list[str] = []
    strange: list[str] = []
    for source in dict.fromkeys(each for record in observations for each in record.source_ids):
        place = index.place(source)
        if place is None:
            missing.append(source)
        elif is_source(index.entries[place]):
            places.add(place)
        else:
            strange.append(source)
    return tuple(index.entries[place] for place in sorted(places)), tuple(missing), tuple(strange)
