"""How well reflections cover an observation: counted, never judged.

Source: 004_d1a6c9e182f889a8.txt, "Defaults" (coverage evidence); spec/observe.md section 3.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from hindbrain.observe._records import Reflection


class Tier(StrEnum):
    """No reflection rests on the observation, one does, or several do."""

    NONE = "none"
    PARTIAL = "partial"
    STRONG = "strong"


def coverage(reflections: Iterable[Reflection]) -> Counter[str]:
    """How many different reflections rest on each observation, by its id."""
    counted: Counter[str] = Counter()
    for reflection in {each.id: each for each in reflections}.values():
        counted.update(set(reflection.support_ids))
    return counted


def tier(count: int) -> Tier:
    """The tier of an observation on which so many reflections rest."""
    if count <= 0:
        return Tier.NONE
    return Tier.PARTIAL if count == 1 else Tier.STRONG
