"""The receipts file as values and back: ``{"version": 1, "receipts": [newest first]}``.

A receipt is ``createdAt, bankId, documentId, queueJobId, updateMode, source, tags`` and, where known, ``context`` and
``outcome {itemsCount?, operations?, tokens?}``. Source: spec/memory.md section 8.
"""

from __future__ import annotations

import json

from hindbrain.contracts import JsonValue, UpdateMode
from hindbrain.store._receipts._outcome import RetainOutcome
from hindbrain.store._receipts._receipt import RetainReceipt, RetainSource, record

VERSION = 1


def encode(receipts: tuple[RetainReceipt, ...]) -> bytes:
    """The bytes of the file, in ASCII: so any text can be written."""
    body = {"version": VERSION, "receipts": [_to_json(receipt) for receipt in receipts]}
    return json.dumps(body, indent=2).encode("ascii") + b"\n"


def _to_json(receipt: RetainReceipt) -> dict[str, JsonValue]:
    fields: dict[str, JsonValue] = {
        "createdAt": receipt.created_at,
        "bankId": receipt.bank,
        "documentId": receipt.document_id,
        "queueJobId": receipt.job_id,
        "updateMode": receipt.update_mode.value,
        "source": receipt.source.value,
        "tags": list(receipt.tags),
    }
    if receipt.context is not None:
        fields["context"] = receipt.context
    if receipt.outcome is not None:
        told = receipt.outcome
        numbers = {"itemsCount": told.items, "operations": told.operations, "tokens": told.tokens}
        fields["outcome"] = {name: number for name, number in numbers.items() if number is not None}
    return fields


def decode(data: bytes) -> tuple[RetainReceipt, ...] | None:
    """The receipts in the bytes of a file, or None where it is not one of this version. Any bytes may be given."""
    try:
        body = json.loads(data)
        if body["version"] != VERSION or isinstance(body["version"], bool):
            return None
        read = [_receipt(each) for each in _list(body["receipts"])]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None
    receipts: tuple[RetainReceipt, ...] = ()
    for receipt in reversed(read):
        receipts = record(receipts, receipt)
    return receipts


def _receipt(value: JsonValue) -> RetainReceipt:
    return RetainReceipt(
        created_at=_text(value["createdAt"]),
        bank=_text(value["bankId"]),
        document_id=_text(value["documentId"]),
        job_id=_text(value["queueJobId"]),
        update_mode=UpdateMode(value["updateMode"]),
        source=RetainSource(value["source"]),
        context=None if value.get("context") is None else _text(value["context"]),
        tags=tuple(_text(tag) for tag in _list(value["tags"])),
        outcome=None if value.get("outcome") is None else _outcome(value["outcome"]),
    )


def _outcome(value: JsonValue) -> RetainOutcome:
    operations = value.get("operations")
    return RetainOutcome(
        items=_count(value.get("itemsCount")),
        # Other writers of the format list the operations' ids.
        operations=len(operations) if isinstance(operations, list) else _count(operations),
        tokens=_count(value.get("tokens")),
    )


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _count(value: JsonValue) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise TypeError
    return value
