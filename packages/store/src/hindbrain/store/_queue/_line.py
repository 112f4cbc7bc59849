"""A job as one line of the queue's file, and back.

Short fields come first and the item last, so that a scan reads only the beginning of a line. Field names are those of
the format that other programs read; ``seal``, ``operationId`` and ``covers`` are ours.

Source: spec/memory.md section 7.1; decisions.md, "Durability".
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping
from typing import Any

from hindbrain.contracts import Coverage, HindbrainError, RetainItem, RetainJob, UpdateMode
from hindbrain.store._queue._errors import JobRefusedError
from hindbrain.store._queue._seal_line import SEAL_OPEN, read_fields, write_sealed
from hindbrain.store._queue._values import Head
from hindbrain.store._seal import SealKey

MAX_ID = 512
HEAD = re.compile(re.escape(SEAL_OPEN) + rb'(?s:.{32})","id":"([!#-\[\]-~]{1,512})","bankId":"')
"""How a line of ours begins. A line that does not match may still be one: its id may need escapes."""
_ITEM = b',"item":'


def write_job(key: SealKey, job: RetainJob, **extra: Any) -> bytes:
    """The job as a sealed line. ``extra`` fields go before the item.

    Raises:
        JobRefusedError: an id is empty or too long, or some text is not well-formed.
    """
    if not all(isinstance(text, str) and 0 < len(text) <= MAX_ID for text in (job.id, job.bank, job.operation_id)):
        raise JobRefusedError
    fields: dict[str, Any] = {
        "id": job.id,
        "bankId": job.bank,
        "documentId": job.item.document_id,
        "createdAt": job.created_at,
        "updateMode": job.item.update_mode.value,
        "retries": 0,
        "operationId": job.operation_id,
    }
    if job.covers is not None:
        fields["covers"] = _covers_fields(job.covers)
    try:
        return write_sealed(key, {**fields, **extra, "item": _item_fields(job.item)})
    except ValueError as error:
        raise JobRefusedError from error


def read_job(line: bytes) -> RetainJob | None:
    """The job of a line, sealed or not; None where the line holds none."""
    fields = read_fields(line)
    return None if fields is None else job_of(fields)


def job_of(fields: Mapping[str, Any]) -> RetainJob | None:
    """The job in the fields of a line; None where they are not those of one."""
    head = _head_of(fields)
    try:
        item = _item_of(fields) if head is not None else None
    except (HindbrainError, KeyError, TypeError, ValueError, AttributeError):
        return None
    if head is None or item is None:
        return None
    return RetainJob(
        id=head.id,
        bank=head.bank,
        item=item,
        operation_id=head.operation_id,
        created_at=head.created_at,
        covers=head.covers,
    )


def read_head(line: bytes) -> Head | None:
    """All but the item, for the price of the beginning of the line; None where the line holds no job.

    No string can hold the bytes that begin the item: a quote in a string is escaped.
    """
    cut = line.find(_ITEM)
    fields = read_fields(line[:cut] + b"}") if cut >= 0 else None
    if fields is None:
        fields = read_fields(line)
    return None if fields is None else _head_of(fields)


def holds_head(beginning: bytes) -> bool:
    """Whether the beginning of a line is enough for ``read_head``."""
    return _ITEM in beginning


def derived_id(*parts: str) -> str:
    """A UUID that stands for these parts, always the same."""
    raw = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()[:16]
    return str(uuid.UUID(bytes=raw, version=5))


def _head_of(fields: Mapping[str, Any]) -> Head | None:
    names = ("id", "bankId", "documentId")
    texts = [fields.get(name) for name in names]
    if not all(isinstance(text, str) and 0 < len(text) <= MAX_ID for text in texts):
        return None
    retries = fields.get("retries")
    mode = fields.get("updateMode")
    if isinstance(retries, bool) or not isinstance(retries, int) or mode not in set(UpdateMode):
        return None
    try:
        covers = _covers_of(fields.get("covers"))
    except (KeyError, TypeError, ValueError):
        return None
    created = fields.get("createdAt")
    return Head(
        id=fields["id"],
        bank=fields["bankId"],
        document_id=fields["documentId"],
        created_at=created if isinstance(created, str) else "",
        update_mode=UpdateMode(mode),
        retries=retries,
        operation_id=_operation_of(fields),
        covers=covers,
    )


def _operation_of(fields: Mapping[str, Any]) -> str:
    """Other programs send a job under its own id. Source: spec/memory.md section 7.4."""
    given = fields.get("operationId", fields["id"])
    try:
        return str(uuid.UUID(given))
    except (ValueError, AttributeError, TypeError):
        return derived_id("operation", str(given))


def _item_fields(item: RetainItem) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "content": item.content,
        "context": item.context or "",
        "async": True,
        "tags": item.tags,
    }
    if item.timestamp is not None:
        fields["timestamp"] = item.timestamp
    if item.metadata:
        fields["metadata"] = dict(item.metadata)
    if item.observation_scopes is not None:
        fields["observationScopes"] = item.observation_scopes
    if item.strategy is not None:
        fields["strategy"] = item.strategy
    return fields


def _item_of(fields: Mapping[str, Any]) -> RetainItem:
    item = fields["item"]
    return RetainItem(
        content=item["content"],
        document_id=fields["documentId"],
        context=item.get("context") or None,
        timestamp=item.get("timestamp"),
        metadata=item.get("metadata") or {},
        tags=item.get("tags") or (),
        update_mode=fields["updateMode"],
        observation_scopes=item.get("observationScopes"),
        strategy=item.get("strategy"),
    )


def _covers_fields(covers: Coverage) -> dict[str, Any]:
    return {
        "lineage": covers.lineage,
        "bank": covers.bank,
        "firstId": covers.first_id,
        "lastId": covers.last_id,
        "chain": covers.chain,
        "afterId": covers.after_id,
        "count": covers.count,
        "tail": covers.tail,
    }


def _covers_of(fields: Any) -> Coverage | None:
    if fields is None:
        return None
    return Coverage(
        lineage=_text(fields["lineage"]),
        bank=_text(fields["bank"]),
        first_id=_text(fields["firstId"]),
        last_id=_text(fields["lastId"]),
        chain=_text(fields["chain"]),
        after_id=None if fields.get("afterId") is None else _text(fields["afterId"]),
        count=int(fields.get("count", 0)),
        tail=tuple((_text(entry), _text(print_)) for entry, print_ in fields.get("tail", ())),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
