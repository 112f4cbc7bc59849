"""The ledger as a value: slots, generations, whose turn it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from hindbrain.store._ledger import CAPACITY, WINDOW, Document, Event, Generation, Ledger, Receipt, State, moved

Made = Callable[..., Receipt]
Many = Callable[..., tuple[Receipt, ...]]


def added(ledger: Ledger, receipt: Receipt) -> Ledger:
    after = ledger.with_new(receipt)
    assert after is not None
    return after


@pytest.mark.req("S2-receipts-005")
def test_there_are_at_most_500(many: Many, made: Made) -> None:
    after = added(Ledger(many(500, State.COMPLETED)), made())
    assert len(after.receipts) == CAPACITY == 500
    assert after.get(made().key) == made()


@pytest.mark.req("S2-receipts-006")
@pytest.mark.parametrize("state", [State.COMPLETED, State.FAILED, State.DELETED])
def test_at_the_cap_the_oldest_that_is_closed_goes(many: Many, made: Made, state: State) -> None:
    receipts = many(500, state)
    after = added(Ledger((receipts[7], *receipts[:7], *receipts[8:])), made())
    assert {receipt.key for receipt in after.receipts} == {receipt.key for receipt in (*receipts[1:], made())}


def test_a_file_over_the_cap_comes_down_to_it(many: Many, made: Made) -> None:
    receipts = many(510, State.FAILED)
    assert added(Ledger(receipts), made()).receipts == (*receipts[11:], made())


@pytest.mark.req("S2-receipts-007")
def test_what_is_open_is_never_evicted(many: Many, made: Made) -> None:
    (completed,) = many(1, State.COMPLETED, first=1_000)
    open_ones = many(499, State.UNKNOWN)
    assert added(Ledger((completed, *open_ones)), made()).receipts == (*open_ones, made())


@pytest.mark.req("S2-receipts-013")
def test_below_the_cap_nothing_is_pruned(many: Many, made: Made) -> None:
    receipts = many(499, State.DELETED)
    after = added(Ledger(receipts), made())
    assert after.receipts == (*receipts, made())
    assert after.generations == {}


@pytest.mark.parametrize("state", [State.SUBMITTED, State.ACCEPTED, State.UNKNOWN])
def test_500_open_ones_leave_no_room(many: Many, made: Made, state: State) -> None:
    ledger = Ledger(many(500, state))
    assert not ledger.has_room
    assert ledger.with_new(made()) is None
    assert Ledger(many(499, state)).has_room


@pytest.mark.req("S2-ids-010")
@pytest.mark.parametrize(("state", "generation"), [(State.DELETED, "1:0"), (State.FAILED, "0:1")])
def test_a_generation_survives_that_its_receipt_is_pruned(
    many: Many, made: Made, golden: Document, state: State, generation: str
) -> None:
    ledger = Ledger((made(at=0, state=state), *many(499, State.COMPLETED)))
    assert str(ledger.generation(golden)) == generation
    after = added(ledger, made(document="new"))
    assert after.of(golden) == ()
    assert str(after.generation(golden)) == generation
    again = made("another", state=State.FAILED)
    assert str(evolve(after, receipts=(again,)).generation(golden)) == ("1:1" if state is State.DELETED else "0:1")


def test_a_generation_goes_on_after_pruning(made: Made, golden: Document) -> None:
    ledger = Ledger((made(state=State.COMPLETED),), {golden.key: Generation(1, 0)})
    deleted = moved(made(state=State.COMPLETED), Event.DELETED, 5_000)
    assert deleted is not None
    assert str(ledger.with_changed([deleted]).generation(golden)) == "2:0"


def test_a_failed_save_that_is_deleted_later_still_counts_as_failed(made: Made, golden: Document) -> None:
    failed = made(state=State.FAILED)
    deleted = moved(failed, Event.DELETED, 5_000)
    assert deleted is not None
    assert str(Ledger((failed,)).with_changed([deleted]).generation(golden)) == "1:1"


def test_each_receipt_of_one_deletion_counts(made: Made, golden: Document) -> None:
    before = (made("r1", state=State.COMPLETED), made("r2", state=State.COMPLETED))
    after = [moved(receipt, Event.DELETED, 5_000) for receipt in before]
    assert str(Ledger(before).with_changed(r for r in after if r).generation(golden)) == "2:0"


def test_a_change_that_does_not_end_it_leaves_the_generation(made: Made, golden: Document) -> None:
    for event in (Event.ACKNOWLEDGED, Event.STATUS_COMPLETED):
        after = moved(made(), event, 5_000)
        assert after is not None
        ledger = Ledger((made(), made(document="other"))).with_changed([after])
        assert ledger.receipts == (after, made(document="other"))
        assert ledger.generations == {}
        assert str(ledger.generation(golden)) == "0:0"


def test_a_completed_receipt_settles_a_save_only_if_nothing_was_sent_since(made: Made) -> None:
    first, second = made("r1", state=State.COMPLETED), made("r2", state=State.COMPLETED, at=2_000)
    assert Ledger((first,)).settles(first.key)
    both = Ledger((second, first))
    assert not both.settles(first.key)
    assert both.settles(second.key)
    assert not Ledger((first, evolve(second, sent_at=first.sent_at))).settles(first.key), "a tie is no proof"
    assert Ledger((first, made(document="other", at=9_000))).settles(first.key)
    assert not Ledger((made(),)).settles(made().key)
    assert not Ledger().settles(first.key)


def test_the_last_send_of_a_document_is_known(made: Made, golden: Document) -> None:
    assert Ledger().newest(golden) is None
    assert Ledger((made("r1", at=7), made("r2", at=3), made(document="other", at=9))).newest(golden) == 7


def test_those_whose_last_check_is_longest_ago_are_next(made: Made, golden: Document) -> None:
    """Three old ones that the server does not know must not keep a newer one from its turn."""
    missing = [made(f"r{n}", at=n, state=State.UNKNOWN) for n in range(3)]
    accepted = made("r9", at=900, state=State.ACCEPTED)
    strangers = (made(document="c", state=State.COMPLETED), made("x", bank_id="bank-b"))
    ledger = Ledger((*missing, accepted, *strangers))
    assert ledger.due(accepted.scope) == tuple(missing)
    assert ledger.due(accepted.scope, limit=9) == (*missing, accepted)
    for receipt in missing:
        checked = moved(receipt, Event.STATUS_UNANSWERED, 1_000)
        assert checked is not None
        ledger = ledger.with_changed([checked])
    assert ledger.due(accepted.scope)[0] == accepted
    assert ledger.of(golden) == ledger.open_of(accepted.scope)


def test_only_open_receipts_of_another_target_are_foreign(made: Made) -> None:
    own = made("own", at=0)
    old = made("old", at=0, base_url="https://old.example.com")
    bank = made("bank", at=1, bank_id="bank-b", state=State.UNKNOWN)
    closed = made("closed", at=0, bank_id="bank-b", state=State.COMPLETED)
    future = made("future", at=9 * WINDOW, bank_id="bank-b")
    ledger = Ledger((own, old, bank, closed, future))
    assert ledger.foreign(own.target, WINDOW) == (old,)
    assert ledger.foreign(own.target, WINDOW + 1) == (old, bank)
    assert ledger.from_the_future(own.target, WINDOW) == (future,)
