"""Events, in ledger order, to what is remembered.

An observation that is recorded again is renewed: it counts with its newest record, and becomes active again where it
was dropped. A reflection that was superseded stays out, whatever is recorded later.

Source: spec/observe.md section 1.3, with the changes of decisions.md, "Observational memory".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from attrs import define, field, frozen

from hindbrain.observe._records import Observation, Reflection


@frozen
class Seen:
    """An observation was recorded. ``place`` is where its newest source stands on the branch; None: nowhere."""

    record: Observation
    place: int | None


@frozen
class Thought:
    """A reflection was recorded. ``place`` is where its marker stands."""

    record: Reflection
    place: int | None


@frozen
class Gone:
    """Observations were dropped by the ledger entry that stands at ``entry``; ``place`` is where its marker stands."""

    ids: tuple[str, ...]
    place: int | None
    entry: int


@frozen
class Replaced:
    """Reflections were superseded."""

    ids: tuple[str, ...]
    place: int | None
    entry: int


Op: TypeAlias = Seen | Thought | Gone | Replaced


@define
class Fold:
    """What is remembered after some events. ``active_*`` hold what is in force, in ledger order, by id."""

    observations: dict[str, Observation] = field(factory=dict)
    reflections: dict[str, Reflection] = field(factory=dict)
    active_observations: dict[str, Observation] = field(factory=dict)
    active_reflections: dict[str, Reflection] = field(factory=dict)
    dropped: set[str] = field(factory=set)
    superseded: set[str] = field(factory=set)
    observation_tokens: int = 0
    reflection_tokens: int = 0

    @classmethod
    def of(cls, ops: Iterable[Op]) -> Fold:
        """Fold events in order."""
        fold = cls()
        for op in ops:
            fold.apply(op)
        return fold

    def apply(self, op: Op) -> None:
        """Take in the next event."""
        match op:
            case Seen():
                self._see(op.record)
            case Thought():
                self._think(op.record)
            case Gone():
                self._drop(op.ids)
            case Replaced():
                self._replace(op.ids)

    def _see(self, record: Observation) -> None:
        key, active = record.id, self.active_observations
        if key in active:
            self.observation_tokens -= active.pop(key).cost
        elif key in self.dropped:
            self.dropped.remove(key)
        self.observation_tokens += record.cost
        self.observations[key] = active[key] = record

    def _think(self, record: Reflection) -> None:
        if record.id in self.reflections:
            return
        self.reflections[record.id] = record
        if record.id not in self.superseded:
            self.active_reflections[record.id] = record
            self.reflection_tokens += record.cost

    def _drop(self, ids: tuple[str, ...]) -> None:
        self.dropped.update(ids)
        for each in ids:
            if (gone := self.active_observations.pop(each, None)) is not None:
                self.observation_tokens -= gone.cost

    def _replace(self, ids: tuple[str, ...]) -> None:
        self.superseded.update(ids)
        for each in ids:
            if (gone := self.active_reflections.pop(each, None)) is not None:
                self.reflection_tokens -= gone.cost
