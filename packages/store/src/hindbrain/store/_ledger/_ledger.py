"""All receipts as one value: what may be kept, what has to go, who is next. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, field, frozen

from hindbrain.contracts import JsonValue
from hindbrain.store._ledger._generation import Generation
from hindbrain.store._ledger._key import Document, Scope, Target
from hindbrain.store._ledger._receipt import Receipt, is_over
from hindbrain.store._ledger._state import State

CAPACITY = 500
"""Receipts of all targets and projects together. Source: seed 002, "Receipts"."""
CHECKS = 3
"""How many receipts one recall refreshes. Source: seed 002, "Status checks are bounded"."""


@frozen
class Ledger:
    """The receipts in the order of the file, and the generations by ``Document.key`` of what was pruned or moved on.

    ``other`` holds fields of other writers of the format, kept as they are.
    """

    receipts: tuple[Receipt, ...] = ()
    generations: Mapping[str, Generation] = field(factory=dict)
    other: Mapping[str, JsonValue] = field(factory=dict, repr=False)

    def get(self, key: str) -> Receipt | None:
        """The receipt under a key, or None."""
        return next((receipt for receipt in self.receipts if receipt.key == key), None)

    def of(self, document: Document) -> tuple[Receipt, ...]:
        """The receipts of a document."""
        return tuple(receipt for receipt in self.receipts if receipt.document == document)

    def open_of(self, scope: Scope) -> tuple[Receipt, ...]:
        """What is open in a scope."""
        return tuple(receipt for receipt in self.receipts if receipt.state.is_open and receipt.scope == scope)

    def generation(self, document: Document) -> Generation:
        """How often the document was deleted and failed, whatever was pruned since.

        Source: S2-ids-010.
        """
        counted = Generation.counted(receipt.state for receipt in self.of(document))
        return self.generations.get(document.key, Generation()).at_least(counted)

    def newest(self, document: Document) -> int | None:
        """When the document was last sent, or None for never."""
        return max((receipt.sent_at for receipt in self.of(document)), default=None)

    def settles(self, key: str) -> bool:
        """Whether a save under this key needs no request: completed, and nothing of the document was sent since.

        Source: decisions.md, "Durability"; spec/facts.md F4.
        """
        receipt = self.get(key)
        if receipt is None or receipt.state is not State.COMPLETED:
            return False
        return all(each.sent_at < receipt.sent_at for each in self.of(receipt.document) if each.key != key)

    def due(self, scope: Scope, limit: int = CHECKS) -> tuple[Receipt, ...]:
        """The open receipts of a scope to check now: those whose last check is longest ago.

        One that was never checked waits since its last change. Source: decisions.md, "Durability"; spec/facts.md F6.
        """
        return tuple(sorted(self.open_of(scope), key=_last_looked_at)[:limit])

    @property
    def has_room(self) -> bool:
        """Whether a new receipt finds a slot, with or without pruning."""
        return sum(receipt.state.is_open for receipt in self.receipts) < CAPACITY

    def with_new(self, receipt: Receipt) -> Ledger | None:
        """With a receipt that is not there yet, or None where it finds no slot.

        At the cap terminal receipts go, the oldest change first, just as many as have to; open ones never.

        Source: seed 002, "Receipts"; spec/facts.md section 4.
        """
        if not self.has_room:
            return None
        pruned = self._pruned(len(self.receipts) - CAPACITY + 1)
        return evolve(pruned, receipts=(*pruned.receipts, receipt))

    def with_changed(self, receipts: Iterable[Receipt]) -> Ledger:
        """With these in place of those under the same keys; the generations move on with them. Needs no slot."""
        changed = {receipt.key: receipt for receipt in receipts}
        generations = dict(self.generations)
        for before in self.receipts:
            after = changed.get(before.key, before)
            if after.state is not before.state and after.state.is_terminal and after.state is not State.COMPLETED:
                document = before.document
                known = generations.get(document.key, Generation()).at_least(self.generation(document))
                generations[document.key] = known.after(after.state)
        kept = tuple(changed.get(receipt.key, receipt) for receipt in self.receipts)
        return evolve(self, receipts=kept, generations=generations)

    def foreign(self, target: Target, now: int) -> tuple[Receipt, ...]:
        """Open receipts of other servers and banks that are over the 24 hours.

        Source: seed 002, "Receipts".
        """
        return tuple(receipt for receipt in self._of_others(target) if is_over(receipt.updated_at, now))

    def from_the_future(self, target: Target, now: int) -> tuple[Receipt, ...]:
        """Open receipts of other targets that a wrong clock stamped: their 24 hours would never be over."""
        return tuple(receipt for receipt in self._of_others(target) if receipt.updated_at > now)

    def _of_others(self, target: Target) -> Iterable[Receipt]:
        return (receipt for receipt in self.receipts if receipt.state.is_open and receipt.target != target)

    def _pruned(self, count: int) -> Ledger:
        terminal = (receipt for receipt in self.receipts if receipt.state.is_terminal)
        gone = sorted(terminal, key=lambda receipt: receipt.updated_at)[: max(count, 0)]
        generations = dict(self.generations)
        for receipt in gone:
            generation = self.generation(receipt.document)
            if generation != Generation():
                generations[receipt.document.key] = generation
        keys = {receipt.key for receipt in gone}
        return evolve(self, receipts=tuple(r for r in self.receipts if r.key not in keys), generations=generations)


def _last_looked_at(receipt: Receipt) -> int:
    return receipt.updated_at if receipt.last_checked_at is None else receipt.last_checked_at
