"""What one part of the chaos proof tried and what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import TypeAlias

from attrs import define, field, frozen


@frozen
class Scale:
    """How much is tried. ``quick`` fits into continuous integration, ``full`` is the proof."""

    is_full: bool

    def pick(self, quick: int, full: int) -> int:
        return full if self.is_full else quick


QUICK = Scale(is_full=False)


@define
class Finding:
    """Counts of what was tried, sentences about what was broken, figures to look at."""

    tried: Counter[str] = field(factory=Counter)
    violations: list[str] = field(factory=list)
    figures: dict[str, str] = field(factory=dict)

    def expect(self, holds: object, otherwise: str) -> bool:
        """Note a violation where something does not hold."""
        if not holds:
            self.violations.append(otherwise)
        return bool(holds)

    def row(self) -> str:
        tried = ", ".join(f"{count} {what}" for what, count in self.tried.items())
        figures = "".join(f"; {name} {value}" for name, value in self.figures.items())
        return f"{tried}{figures}; {len(self.violations)} violations"


Part: TypeAlias = Callable[[Random, Scale], Finding]
