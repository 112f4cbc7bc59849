"""Memory as a person reads it: two lists, and what was superseded marked as such.

Source: 004_d1a6c9e182f889a8.txt, "Commands and agent tool"; spec/observe.md section 7.1.
"""

from __future__ import annotations

from attrs import field, frozen

from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._projection import Projection, full, visible
from hindbrain.observe._render import record_lines


@frozen(kw_only=True)
class View:
    """The lines of both lists. ``whole`` says that all of the branch's memory was asked for, not what a model sees."""

    reflections: tuple[str, ...] = field(repr=False)
    observations: tuple[str, ...] = field(repr=False)
    whole: bool

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not self.reflections and not self.observations

    @property
    def text(self) -> str:
        """Both lists under their headings."""
        named = "recorded" if self.whole else "visible"
        blocks = []
        for title, lines in (("Reflections", self.reflections), ("Observations", self.observations)):
            blocks.append("\n".join([f"## {title}", *(lines or [f"No {named} {title.lower()}"])]))
        return "\n\n".join(blocks)


def view(index: LedgerIndex, *, whole: bool = False) -> View:
    """What a model sees of memory, or with ``whole`` all that is in force on the branch.

    The whole memory lists superseded reflections, too, each with a mark; dropped observations are in neither.
    """
    projection = full(index) if whole else visible(index)
    reflections, observations = record_lines(projection.observations, projection.reflections)
    if whole:
        reflections = _with_superseded(index, projection)
    return View(reflections=tuple(reflections), observations=tuple(observations), whole=whole)


def _with_superseded(index: LedgerIndex, projection: Projection) -> list[str]:
    held = {each.id for each in projection.reflections}
    known = index.fold.reflections.values()
    return [each.line if each.id in held else f"{each.line} (superseded)" for each in known]
