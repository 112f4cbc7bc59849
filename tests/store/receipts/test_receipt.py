"""Receipts as values: what they tell, and which of them are kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.contracts import Retained, UpdateMode
from hindbrain.store._receipts import (
    KEPT,
    RetainOutcome,
    RetainReceipt,
    RetainSource,
    decode,
    encode,
    find,
    outcome_of,
    record,
    total,
)

Made = Callable[..., RetainReceipt]


@pytest.mark.req("S0-receipts-001")
def test_what_a_server_tells_becomes_three_numbers() -> None:
    told = Retained(operation_id="o1", operation_ids=("o1", "o2"), items=3, tokens=120)
    assert outcome_of(told) == RetainOutcome(items=3, operations=2, tokens=120)


def test_an_operation_without_a_list_of_them_is_one() -> None:
    assert outcome_of(Retained(operation_id="o1", items=3)) == RetainOutcome(items=3, operations=1)
    assert outcome_of(Retained(operation_id="o1", tokens=0)) == RetainOutcome(operations=1, tokens=0)


@pytest.mark.req("S0-receipts-007")
def test_a_server_that_tells_nothing_gives_no_outcome(made: Made) -> None:
    receipt = made(items=None)
    assert receipt.outcome is None
    assert b"outcome" not in encode((receipt,))
    assert decode(encode((receipt,))) == (receipt,)
    assert total([receipt.outcome]) is None


def test_totals_add_up_what_is_told() -> None:
    outcomes = [RetainOutcome(items=1, tokens=5), None, RetainOutcome(items=4), RetainOutcome(operations=2)]
    assert total(outcomes) == RetainOutcome(items=5, operations=2, tokens=5)
    assert total([RetainOutcome(items=1)]) == RetainOutcome(items=1)


def test_a_newer_receipt_takes_the_place_of_its_document_and_comes_first(made: Made) -> None:
    receipts: tuple[RetainReceipt, ...] = ()
    for receipt in (made("a", items=3), made("b"), made("a", bank="other"), made("a", items=5)):
        receipts = record(receipts, receipt)
    assert receipts == (made("a", items=5), made("a", bank="other"), made("b"))
    assert find(receipts, "bank", "b") == made("b")
    assert find(receipts, "bank", "c") is None


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 70)), max_size=150))
def test_the_newest_fifty_are_kept_one_a_document(documents: list[tuple[str, int]]) -> None:
    receipts: tuple[RetainReceipt, ...] = ()
    for bank, number in documents:
        receipt = RetainReceipt(
            created_at="t",
            bank=bank,
            document_id=str(number),
            job_id="j",
            update_mode=UpdateMode.APPEND,
            source=RetainSource.IMPORT,
        )
        receipts = record(receipts, receipt)
    newest = list(dict.fromkeys((bank, str(number)) for bank, number in reversed(documents)))
    assert [(receipt.bank, receipt.document_id) for receipt in receipts] == newest[:KEPT]


def test_context_and_tags_are_scrubbed_and_the_context_is_cut(made: Made) -> None:
    token = "ghp_" + "a1B2" * 9
    receipt = made(context=f"{token} " + "x" * 2_000, tags=[f"t:{token}"])
    assert token.encode() not in encode((receipt,))
    assert receipt.context is not None
    assert len(receipt.context) == 1_001
    assert receipt.context.endswith("x…")
    assert decode(encode((receipt,))) == (receipt,)


def test_a_file_of_another_writer_is_read_too() -> None:
    data = b"""{"version": 1, "receipts": [{"createdAt": "2026-01-01T00:00:00.000Z", "bankId": "b", "documentId": "d",
        "queueJobId": "j", "updateMode": "append", "source": "tool", "context": "c", "tags": ["t"], "more": 1,
        "outcome": {"itemsCount": 2, "operations": ["o1", "o2"]}}]}"""
    (receipt,) = decode(data) or ()
    assert receipt.outcome == RetainOutcome(items=2, operations=2)
    assert (receipt.context, receipt.tags, receipt.source) == ("c", ("t",), RetainSource.TOOL)


GOOD = (
    '{"createdAt": "t", "bankId": "b", "documentId": "d", "queueJobId": "j", "updateMode": "append", '
    '"source": "tool", "tags": []%s}'
)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version": 2, "receipts": []}',
        b'{"version": true, "receipts": []}',
        b'{"receipts": []}',
        b'{"version": 1, "receipts": {}}',
        b'{"version": 1, "receipts": [7]}',
        b'{"version": 1, "receipts": [{"createdAt": 1}]}',
        *(
            b'{"version": 1, "receipts": [%s]}' % (GOOD % more).encode()
            for more in (
                ', "tags": "x"',
                ', "source": "cat"',
                ', "context": 1',
                ', "outcome": {"tokens": -1}',
                ', "outcome": {"itemsCount": true}',
                ', "outcome": {"operations": 1.5}',
                ', "outcome": 7',
            )
        ),
    ],
)
def test_anything_else_is_no_receipts_file(data: bytes) -> None:
    assert decode(data) is None


def test_the_file_that_those_were_made_from_is_one() -> None:
    assert decode(b'{"version": 1, "receipts": [%s]}' % (GOOD % "").encode()) is not None
