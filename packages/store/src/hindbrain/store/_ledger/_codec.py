"""The ledger's file as a value and back: ``{"version": 1, "receipts": […]}`` and ``generations`` of ours.

Whatever is not exactly its form is refused whole: nothing is left out in silence, to be lost at the next write.

Source: spec/facts.md section 4 and F11.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NoReturn, TypeVar

from hindbrain.contracts import JsonValue
from hindbrain.store._ledger._generation import Generation
from hindbrain.store._ledger._ledger import Ledger
from hindbrain.store._ledger._receipt import Receipt
from hindbrain.store._ledger._state import DETAILS, Event, State

T = TypeVar("T")

VERSION = 1
_OURS = {"version", "receipts", "generations"}
_REQUIRED = (
    ("key", "key"),
    ("baseUrl", "base_url"),
    ("bankId", "bank_id"),
    ("projectId", "project_id"),
    ("documentId", "document_id"),
    ("revision", "revision"),
    ("operationId", "operation_id"),
    ("kind", "kind"),
    ("title", "title"),
)
_TIMES = {"createdAt", "updatedAt", "sentAt", "lastCheckedAt", "missingSince"}
_FIELDS = {name for name, _ in _REQUIRED} | _TIMES | {"serverOperationId", "state", "detail"}


class FormError(ValueError):
    """The bytes are no ledger of this version; the message says why, without any of their content."""


def encode(ledger: Ledger) -> bytes:
    """The bytes of the file, in ASCII: so any text can be written."""
    body: dict[str, JsonValue] = {"version": VERSION, "receipts": [_to_json(each) for each in ledger.receipts]}
    if ledger.generations:
        body["generations"] = {key: str(generation) for key, generation in ledger.generations.items()}
    return json.dumps({**body, **ledger.other}, indent=2).encode("ascii") + b"\n"


def _to_json(receipt: Receipt) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {name: getattr(receipt, attribute) for name, attribute in _REQUIRED}
    fields["state"] = receipt.state.value
    fields |= {"createdAt": receipt.created_at, "updatedAt": receipt.updated_at, "sentAt": receipt.sent_at}
    optional = {
        "serverOperationId": receipt.server_operation_id,
        "detail": receipt.detail,
        "lastCheckedAt": receipt.last_checked_at,
        "missingSince": receipt.missing_since,
    }
    fields |= {name: value for name, value in optional.items() if value is not None}
    return {**fields, **receipt.other}


def decode(data: bytes) -> Ledger:
    """The ledger in the bytes of a file. Any bytes may be given.

    Raises:
        FormError: they are none.
    """
    try:
        body = json.loads(data.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise FormError("not JSON") from None
    if not isinstance(body, dict) or type(body.get("version")) is not int or body["version"] != VERSION:
        raise FormError("not of version 1")
    receipts = body.get("receipts")
    if not isinstance(receipts, list):
        raise FormError("no list of receipts")
    read = tuple(_receipt(value, number) for number, value in enumerate(receipts, start=1))
    if len({receipt.key for receipt in read}) != len(read):
        raise FormError("one key twice")
    other = {name: value for name, value in body.items() if name not in _OURS}
    return Ledger(read, _generations(body.get("generations", {})), other)


def _no_number(_: str) -> NoReturn:
    raise ValueError


def _generations(value: JsonValue) -> Mapping[str, Generation]:
    try:
        return {key: Generation.parse(text) for key, text in value.items()}
    except (AttributeError, TypeError, ValueError):
        raise FormError("broken generations") from None


def _receipt(value: JsonValue, number: int) -> Receipt:
    try:
        return _read(value)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise FormError(f"receipt {number} is broken") from None


def _read(value: JsonValue) -> Receipt:
    detail, updated, checked = _text(value.get("detail")), _time(value["updatedAt"]), _time(value.get("lastCheckedAt"))
    texts = {attribute: _needed(_text(value[name])) for name, attribute in _REQUIRED}
    state, created = State(value["state"]), _needed(_time(value["createdAt"]))
    missing = _time(value.get("missingSince"))
    if missing is None and checked is None and _was_missing(state, detail):
        missing = updated
    sent = _time(value.get("sentAt"))
    return Receipt(
        **texts,
        state=state,
        created_at=created,
        updated_at=_needed(updated),
        sent_at=created if sent is None else sent,
        server_operation_id=_text(value.get("serverOperationId")),
        detail=detail,
        last_checked_at=checked,
        missing_since=missing,
        other={name: each for name, each in value.items() if name not in _FIELDS},
    )


def _was_missing(state: State, detail: str | None) -> bool:
    """Whether the seed's tool, which keeps no such times, has seen ``not_found``: it says so in words."""
    return state.is_open and detail is not None and detail.startswith((DETAILS[Event.STATUS_MISSING], "not_found"))


def _text(value: JsonValue) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError
    return value


def _time(value: JsonValue) -> int | None:
    if value is not None and type(value) is not int:
        raise TypeError
    return value


def _needed(value: T | None) -> T:
    if value is None:
        raise TypeError
    return value
