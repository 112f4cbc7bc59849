"""How often a document was deleted and how often it failed: part of every operation id."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import evolve, frozen

from hindbrain.store._ledger._state import State

_FORM = re.compile(r"(0|[1-9][0-9]{0,8}):(0|[1-9][0-9]{0,8})")


@frozen
class Generation:
    """``deleted:failed`` as text. Neither number ever goes down.

    Source: spec/facts.md section 3; decisions.md, "Durability" (counted outside the receipts that are pruned).
    """

    deleted: int = 0
    failed: int = 0

    def __str__(self) -> str:
        return f"{self.deleted}:{self.failed}"

    @classmethod
    def parse(cls, text: str) -> Generation:
        """The generation in its text form.

        Raises:
            ValueError: it is none.
        """
        found = _FORM.fullmatch(text)
        if found is None:
            raise ValueError
        return cls(int(found[1]), int(found[2]))

    @classmethod
    def counted(cls, states: Iterable[State]) -> Generation:
        """As the seed's tool counts it: over the receipts that are there."""
        found = list(states)
        return cls(found.count(State.DELETED), found.count(State.FAILED))

    def at_least(self, other: Generation) -> Generation:
        """The greater of both numbers."""
        return Generation(max(self.deleted, other.deleted), max(self.failed, other.failed))

    def after(self, state: State) -> Generation:
        """One further where a receipt came to such a state."""
        if state is State.DELETED:
            return evolve(self, deleted=self.deleted + 1)
        if state is State.FAILED:
            return evolve(self, failed=self.failed + 1)
        return self
