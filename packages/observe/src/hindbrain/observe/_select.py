"""Which records a model is shown when not all of them fit. Nothing is deleted: what is left out can be recalled.

Source: 004_d1a6c9e182f889a8.txt, "Memory budget"; spec/observe.md section 5.2; decisions.md (a line that does not fit
is skipped, and the selection goes on).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from attrs import frozen

from hindbrain.observe._coverage import coverage
from hindbrain.observe._projection import Projection
from hindbrain.observe._records import Observation, Reflection

ANCHORS = 8
"""The session's first reflections, which are kept ahead of all others."""
_STRONG = 2
_R = TypeVar("_R", Observation, Reflection)
_FAR = 1 << 62


@frozen(kw_only=True)
class Selection:
    """What is shown, in ledger order. ``reflection_room`` is what the observations left for reflections, in tokens."""

    observations: tuple[Observation, ...]
    reflections: tuple[Reflection, ...]
    trimmed_observations: int
    trimmed_reflections: int
    tokens: int
    reflection_room: int

    @property
    def trimmed(self) -> int:
        """How many lines were left out."""
        return self.trimmed_observations + self.trimmed_reflections


def select(projection: Projection, *, room: int, target: int) -> Selection:
    """Choose the lines of a projection that fit.

    Observations may use their target and what reflections leave; reflections the rest and what observations leave.
    The same projection and numbers give the same lines.

    Args:
        projection: what there is.
        room: tokens for all lines.
        target: the share of observations.
    """
    room = max(0, room)
    of_observations = sum(each.cost for each in projection.observations)
    of_reflections = sum(each.cost for each in projection.reflections)
    if of_observations + of_reflections <= room:
        return _selection(projection, projection.observations, projection.reflections, room)
    share = min(of_observations, target, room)
    ordered = [projection.reflections[place] for place in _reflection_order(len(projection.reflections))]
    known: dict[str, Reflection] = {}
    left = _fill(ordered, min(of_reflections, room - share), known)
    used = min(of_reflections, room - share) - left
    seen: dict[str, Observation] = {}
    unused = _fill(_observation_order(projection.observations, known.values()), room - used, seen)
    _fill([each for each in ordered if each.id not in known], unused, known)
    return _selection(
        projection,
        [each for each in projection.observations if each.id in seen],
        [each for each in projection.reflections if each.id in known],
        room,
    )


def _fill(records: Iterable[_R], room: int, into: dict[str, _R]) -> int:
    """Take what fits, in order; return the room that is left."""
    for record in records:
        if record.cost <= room:
            into[record.id] = record
            room -= record.cost
    return room


def _reflection_order(count: int) -> list[int]:
    anchors = min(ANCHORS, count)
    return [*range(anchors), *range(count - 1, anchors - 1, -1)]


def _observation_order(observations: Sequence[Observation], reflections: Iterable[Reflection]) -> list[Observation]:
    """Least covered first, then by kind, relevance, and the newest."""
    covered = {each: min(count, _STRONG) for each, count in coverage(reflections).items()}
    keys = [
        (
            covered.get(each.id, 0),
            each.rank,
            -(each.at if each.at is not None else _FAR),
            -place,
        )
        for place, each in enumerate(observations)
    ]
    return [observations[place] for place in sorted(range(len(keys)), key=keys.__getitem__)]


def _selection(
    projection: Projection, observations: Sequence[Observation], reflections: Sequence[Reflection], room: int
) -> Selection:
    of_observations = sum(each.cost for each in observations)
    of_reflections = sum(each.cost for each in reflections)
    return Selection(
        observations=tuple(observations),
        reflections=tuple(reflections),
        trimmed_observations=len(projection.observations) - len(observations),
        trimmed_reflections=len(projection.reflections) - len(reflections),
        tokens=of_observations + of_reflections,
        reflection_room=max(0, room - of_observations),
    )
