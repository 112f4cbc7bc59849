"""Keys and generations."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.store._ledger import Document, Generation, Receipt, State, key_of

Made = Callable[..., Receipt]

PARTS = (
    "https://h.example.com",
    "bank-a",
    "proj-926574b4279e",
    "psc-cg-ee4e7fc0c92e36603c2c2ea1",
    "7118d32517ce0216",
)


@pytest.mark.req("S2-receipts-003")
def test_the_key_is_made_of_five_parts() -> None:
    assert key_of(*PARTS) == "38519412c9025e4799f2b7d00dfb2ca8"
    others = {key_of(*(part + "x" * (n == m) for m, part in enumerate(PARTS))) for n in range(5)}
    assert len(others | {key_of(*PARTS)}) == 6


@pytest.mark.parametrize(
    ("revision", "key"),
    [
        ("7118d32517ce0216", "38519412c9025e4799f2b7d00dfb2ca8"),
        ("45f6e8892c804e6a", "7b054dd09110f55d967b42c3619bb3a1"),
        ("040870994f458901", "aba4a44f97f5a20bc49ab304ae3ecc82"),
    ],
)
def test_a_receipt_is_filed_under_its_key_and_knows_where_it_belongs(
    made: Made, golden: Document, revision: str, key: str
) -> None:
    receipt = made(revision)
    assert receipt.key == key
    assert receipt.document == golden
    assert (receipt.scope.project_id, receipt.target.bank_id) == (golden.project_id, golden.bank_id)


@given(st.integers(0, 999_999_999), st.integers(0, 999_999_999))
def test_a_generation_and_its_text_are_one(deleted: int, failed: int) -> None:
    generation = Generation(deleted, failed)
    assert str(generation) == f"{deleted}:{failed}"
    assert Generation.parse(str(generation)) == generation


@pytest.mark.parametrize("text", ["", "1", "1:", "01:0", "-1:0", "1:0\n", "1:0:0", "١:0"])  # noqa: RUF001 - the point
def test_any_other_text_is_no_generation(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the type is the message
        Generation.parse(text)


def test_a_generation_moves_on_with_failure_and_deletion_alone() -> None:
    zero = Generation()
    assert {state: str(zero.after(state)) for state in State} == {
        State.SUBMITTED: "0:0",
        State.ACCEPTED: "0:0",
        State.COMPLETED: "0:0",
        State.UNKNOWN: "0:0",
        State.FAILED: "0:1",
        State.DELETED: "1:0",
    }
    assert Generation(1, 0).at_least(Generation(0, 2)) == Generation(1, 2)
