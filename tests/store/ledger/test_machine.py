"""Whatever two processes do to one ledger, in whatever order, with kills between: it does what a simple model does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import define
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hindbrain.store import StoreError
from hindbrain.store._files import StateDir
from hindbrain.store._ledger import (
    TRANSITIONS,
    WINDOW,
    Document,
    Event,
    FactLedger,
    LedgerConflictError,
    LedgerFullError,
    LedgerTransitionError,
    State,
    Target,
    key_of,
)
from hindbrain.store.testing import Fault, FaultyLayer, Killed, MemoryLayer

FOLDER = Path("/cache")
SLOTS = 4
HOUR = WINDOW // 24
BANKS, NAMES, REVISIONS = ("b1", "b2"), ("d1", "d2"), ("r1", "r2", "r3")


@define
class Known:
    """What the model knows of a receipt."""

    document: Document
    state: State
    changed: int
    missing: int | None = None

    def take(self, event: Event, now: int) -> bool:
        """Let the event happen if it may."""
        to = TRANSITIONS.get((self.state, event))
        over = {
            Event.SEND: self.state is State.UNKNOWN or self.missing is not None,
            Event.EXPIRED: self.missing is not None and now >= self.missing + WINDOW,
            Event.ABANDONED: now >= self.changed + WINDOW,
        }
        if to is None or not over.get(event, True):
            return False
        first = event is Event.STATUS_MISSING and self.missing is None
        if to is not self.state or event is Event.SEND or first:
            self.changed = now
        if first:
            self.missing = now
        elif event not in {
            Event.STATUS_MISSING,
            Event.STATUS_UNANSWERED,
            Event.EXPIRED,
            Event.DELETED,
            Event.ABANDONED,
        }:
            self.missing = None
        self.state = to
        return True


class LedgerMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr("hindbrain.store._ledger._ledger.CAPACITY", SLOTS)
        self.disk = MemoryLayer()
        self.disk.make_folders(FOLDER)
        self.ledgers = [FactLedger(StateDir(self.disk, FOLDER)) for _ in range(2)]
        self.now = 10 * WINDOW
        self.model: dict[str, Known] = {}
        self.generations: dict[Document, tuple[int, int]] = {}

    def teardown(self) -> None:
        self.patch.undo()

    def count(self, known: Known) -> None:
        deleted, failed = self.generations.get(known.document, (0, 0))
        step = (known.state is State.DELETED, known.state is State.FAILED)
        self.generations[known.document] = (deleted + step[0], failed + step[1])

    @rule(hours=st.sampled_from([0, 1, 13, 24, 25]))
    def wait(self, hours: int) -> None:
        self.now += hours * HOUR + 1

    @rule(
        who=st.integers(0, 1),
        bank=st.sampled_from(BANKS),
        name=st.sampled_from(NAMES),
        revision=st.sampled_from(REVISIONS),
    )
    def insert(self, who: int, bank: str, name: str, revision: str) -> None:
        document = Document(base_url="u", bank_id=bank, project_id="p", document_id=name)
        key = key_of("u", bank, "p", name, revision)
        save: dict[str, Any] = {"revision": revision, "operation_id": "o", "kind": "k", "title": "t", "now": self.now}
        if key in self.model:
            with pytest.raises(LedgerConflictError):
                self.ledgers[who].insert(document, **save)
        elif sum(known.state.is_open for known in self.model.values()) >= SLOTS:
            with pytest.raises(LedgerFullError):
                self.ledgers[who].insert(document, **save)
        else:
            assert self.ledgers[who].insert(document, **save).key == key
            if len(self.model) == SLOTS:
                closed = [(known.changed, k) for k, known in self.model.items() if known.state.is_terminal]
                oldest = min(changed for changed, _ in closed)
                gone = next(k for changed, k in closed if changed == oldest)
                del self.model[gone]
            self.model[key] = Known(document, State.SUBMITTED, self.now)

    @precondition(lambda self: self.model)
    @rule(
        data=st.data(),
        who=st.integers(0, 1),
        event=st.sampled_from([event for event in Event if event is not Event.DELETED]),
        expected=st.none() | st.sampled_from(State),
    )
    def update(self, data: st.DataObject, who: int, event: Event, expected: State | None) -> None:
        key = data.draw(st.sampled_from(list(self.model)))
        known = self.model[key]
        believed = known.state if expected is None else expected
        before = self.disk.files()[FOLDER / "hindsight-receipts.json"]
        was = known.state
        if believed is not was:
            with pytest.raises(LedgerConflictError):
                self.ledgers[who].update(key, believed, event, self.now)
        elif not known.take(event, self.now):
            with pytest.raises(LedgerTransitionError):
                self.ledgers[who].update(key, believed, event, self.now)
        else:
            assert self.ledgers[who].update(key, believed, event, self.now).state is known.state
            if known.state is not was:
                self.count(known)
            return
        assert self.disk.files()[FOLDER / "hindsight-receipts.json"] == before

    @precondition(lambda self: self.model)
    @rule(data=st.data(), fail_at=st.integers(1, 40), fault=st.sampled_from([Fault.KILL, Fault.EIO, Fault.ENOSPC]))
    def break_in_the_middle(self, data: st.DataObject, fail_at: int, fault: Fault) -> None:
        """A process that fails or dies has done all of it or nothing; the next one goes on from there."""
        key = data.draw(st.sampled_from(list(self.model)))
        known = self.model[key]
        dying = FactLedger(StateDir(FaultyLayer(self.disk, fail_at=fail_at, fault=fault), FOLDER))
        succeeded = False
        try:
            dying.update(key, set(State), Event.STATUS_COMPLETED, self.now)
            succeeded = True
        except LedgerTransitionError:
            assert known.state.is_terminal
            return
        except (Killed, StoreError):
            pass
        found = self.ledgers[0].get(key)
        assert found is not None
        if succeeded or (found.state is State.COMPLETED and known.state is not State.COMPLETED):
            assert known.take(Event.STATUS_COMPLETED, self.now)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), who=st.integers(0, 1))
    def delete(self, data: st.DataObject, who: int) -> None:
        keys = data.draw(st.sets(st.sampled_from(list(self.model))))
        receipts = [receipt for receipt in self.ledgers[who].read().receipts if receipt.key in keys]
        stamped = {receipt.key for receipt in self.ledgers[who].stamp_deleted(receipts, self.now)}
        assert stamped == {key for key in keys if self.model[key].state is not State.DELETED}
        for key in stamped:
            self.model[key].take(Event.DELETED, self.now)
            self.count(self.model[key])

    @rule(who=st.integers(0, 1), bank=st.sampled_from(BANKS))
    def drain(self, who: int, bank: str) -> None:
        drained = {r.key for r in self.ledgers[who].drain_foreign(Target(base_url="u", bank_id=bank), self.now)}
        others = {key: known for key, known in self.model.items() if known.document.bank_id != bank}
        due = {key for key, known in others.items() if known.state.is_open and known.take(Event.ABANDONED, self.now)}
        assert drained == due
        for key in due:
            self.count(self.model[key])

    @invariant()
    def both_see_the_model(self) -> None:
        for ledger in (each.read() for each in self.ledgers):
            assert len(ledger.receipts) <= SLOTS
            assert {
                r.key: Known(r.document, r.state, r.updated_at, r.missing_since) for r in ledger.receipts
            } == self.model
            for document, (deleted, failed) in self.generations.items():
                assert str(ledger.generation(document)) == f"{deleted}:{failed}"


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
