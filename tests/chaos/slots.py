"""A store part as slots that hold values: what may stand in each after faults, and what was seen there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from attrs import define, field, frozen

from hindbrain.store._files import FileLayer

Value: TypeAlias = Any
"""What stands in a slot; None for nothing."""
FOLDER = Path("/state")


@frozen
class Step:
    """One call, and what stands in the slots once it has returned. Undone, the old values stand, or ``perhaps``."""

    act: Callable[[Any], object]
    then: Mapping[str, Value] = field(factory=dict)
    perhaps: Mapping[str, tuple[Value, ...]] = field(factory=dict)


class Subject(Protocol):
    """One part of the store, opened on a disk, and its script.

    ``files`` are on the disk before, durably. ``after`` is the step that shows that life goes on.
    """

    name: str

    def files(self) -> Mapping[Path, bytes]: ...

    def open(self, layer: FileLayer) -> Any: ...

    def steps(self) -> Sequence[Step]: ...

    def after(self) -> Step: ...

    def observe(self, opened: Any) -> Mapping[str, Value]: ...


@define
class Slots:
    """The values that may stand in each slot; a slot that is not here is empty."""

    allowed: dict[str, frozenset[Value]] = field(factory=dict)

    def may(self, slot: str) -> frozenset[Value]:
        return self.allowed.get(slot, frozenset({None}))

    def promised(self, step: Step) -> Slots:
        """After the step has returned."""
        return Slots({**self.allowed, **{slot: frozenset({value}) for slot, value in step.then.items()}})

    def doubtful(self, step: Step) -> Slots:
        """While the step runs, or after it failed."""
        allowed = dict(self.allowed)
        for slot, value in step.then.items():
            allowed[slot] = self.may(slot) | {value, *step.perhaps.get(slot, ())}
        return Slots(allowed)

    def broken(self, seen: Mapping[str, Value]) -> list[str]:
        """What was seen and may not be: lost, invented or altered."""
        found = []
        for slot in sorted({*seen, *self.allowed}):
            value = seen.get(slot)
            if value not in self.may(slot):
                found.append(f"{slot} holds {value!r}, not one of {sorted(map(repr, self.may(slot)))}")
        return found
