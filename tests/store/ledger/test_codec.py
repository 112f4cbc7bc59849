"""The ledger's file: the seed's format, read whole or refused whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.store._ledger import FormError, Generation, Ledger, Receipt, State, decode, encode

Made = Callable[..., Receipt]

OLD: dict[str, Any] = {
    "key": "38519412c9025e4799f2b7d00dfb2ca8",
    "baseUrl": "https://h.example.com",
    "bankId": "bank-a",
    "projectId": "proj-926574b4279e",
    "documentId": "psc-cg-ee4e7fc0c92e36603c2c2ea1",
    "revision": "7118d32517ce0216",
    "operationId": "93e33487-6c92-5880-9b29-dc86689d9c26",
    "kind": "decision",
    "title": "Tag scoping",
    "state": "accepted",
    "createdAt": 1_767_225_600_000,
    "updatedAt": 1_767_225_601_000,
}


def file_of(*receipts: Any, **fields: Any) -> bytes:
    return json.dumps({"version": 1, "receipts": list(receipts), **fields}, indent=2).encode()


def test_a_file_of_the_seeds_tool_is_read_as_it_is() -> None:
    (receipt,) = decode(file_of(OLD)).receipts
    assert (receipt.key, receipt.state, receipt.title) == (OLD["key"], State.ACCEPTED, "Tag scoping")
    assert (receipt.created_at, receipt.updated_at, receipt.sent_at) == (
        1_767_225_600_000,
        1_767_225_601_000,
        1_767_225_600_000,
    )
    assert receipt.asks_for == OLD["operationId"]
    assert (receipt.missing_since, receipt.last_checked_at, receipt.server_operation_id) == (None, None, None)


def test_the_seeds_fields_keep_their_names_order_and_layout(made: Made) -> None:
    text = encode(Ledger((made(state=State.UNKNOWN, detail="d", server_operation_id="s"),))).decode()
    assert text.startswith('{\n  "version": 1,\n  "receipts": [\n    {\n      "key": "38519412')
    (stored,) = json.loads(text)["receipts"]
    assert set(OLD) | {"sentAt", "detail", "serverOperationId"} == set(stored)
    assert "generations" not in text


@pytest.mark.parametrize("detail", ["operation not found on server", "not_found (checked)"])
def test_since_when_an_old_receipt_is_missing_is_in_its_words(detail: str) -> None:
    for state, since in (("unknown", OLD["updatedAt"]), ("submitted", OLD["updatedAt"]), ("failed", None)):
        (receipt,) = decode(file_of({**OLD, "state": state, "detail": detail})).receipts
        assert receipt.missing_since == since
    (ours,) = decode(file_of({**OLD, "state": "unknown", "detail": detail, "lastCheckedAt": 5})).receipts
    assert ours.missing_since is None


def test_fields_of_other_writers_are_kept() -> None:
    data = file_of({**OLD, "later": [1]}, generations={"d": "1:2"}, more={"x": None})
    ledger = decode(data)
    assert ledger.generations == {"d": Generation(1, 2)}
    again = json.loads(encode(ledger))
    assert again["more"] == {"x": None}
    assert again["receipts"][0]["later"] == [1]


TEXT = st.text(max_size=8)
TIME = st.integers(-(2**60), 2**60)


@given(
    text=TEXT,
    state=st.sampled_from(State),
    time=TIME,
    other=st.none() | TIME,
    detail=st.none() | TEXT,
    more=st.booleans(),
)
def test_what_is_written_is_read_again(
    text: str, state: State, time: int, other: int | None, detail: str | None, *, more: bool
) -> None:
    receipt = Receipt(
        key=text,
        base_url=text,
        bank_id=text,
        project_id=text,
        document_id=text,
        revision=text,
        operation_id=text,
        kind=text,
        title=text,
        state=state,
        created_at=time,
        updated_at=time,
        sent_at=time,
        server_operation_id=detail,
        detail=detail,
        last_checked_at=time,
        missing_since=other,
        other={"a": 1} if more else {},
    )
    ledger = Ledger((receipt,), {"d": Generation(3, 4)} if more else {})
    assert decode(encode(ledger)) == ledger


def test_half_a_character_is_carried_through() -> None:
    data = file_of({**OLD, "title": "\ud83d"})
    assert decode(encode(decode(data))).receipts[0].title == "\ud83d"


@pytest.mark.req("S2-states-011")
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"state": "weird"}, "receipt 2 is broken"),
        ({"state": None}, "receipt 2 is broken"),
        ({"key": 7}, "receipt 2 is broken"),
        ({"key": None}, "receipt 2 is broken"),
        ({"updatedAt": "x"}, "receipt 2 is broken"),
        ({"updatedAt": True}, "receipt 2 is broken"),
        ({"createdAt": 1.5}, "receipt 2 is broken"),
        ({"createdAt": None}, "receipt 2 is broken"),
        ({"detail": []}, "receipt 2 is broken"),
        ({"state": ["submitted"]}, "receipt 2 is broken"),
        ({"key": "other"}, "one key twice"),
    ],
)
def test_a_receipt_that_is_not_of_the_form_makes_the_file_unreadable(change: dict[str, Any], why: str) -> None:
    with pytest.raises(FormError, match=why):
        decode(file_of({**OLD, "key": "other"}, {**OLD, **change}))


@pytest.mark.parametrize("missing", sorted(OLD))
def test_every_field_of_the_seed_is_needed(missing: str) -> None:
    with pytest.raises(FormError):
        decode(file_of({name: value for name, value in OLD.items() if name != missing}))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"version":1,"receipts":[{"key":',
        b"\xff",
        b"null",
        b"[" * 100_000,
        b'{"receipts": []}',
        b'{"version": 2, "receipts": []}',
        b'{"version": true, "receipts": []}',
        b'{"version": 1.0, "receipts": []}',
        b'{"version": 1, "receipts": {}}',
        b'{"version": 1, "receipts": [], "x": NaN}',
        b'{"version": 1, "receipts": [7]}',
        b'{"version": 1, "receipts": [], "generations": {"d": "x"}}',
        b'{"version": 1, "receipts": [], "generations": {"d": 1}}',
        b'{"version": 1, "receipts": [], "generations": []}',
    ],
)
def test_anything_else_is_no_ledger(data: bytes) -> None:
    with pytest.raises(FormError):
        decode(data)
