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
from hindbrain.store._queue._seal_line import SEAL_OPEN, quoted, read_fields, to_json, write_sealed
from hindbrain.store._queue._values import Head
from hindbrain.store._seal import SealKey

MAX_ID = 512
HEAD = re.compile(re.escape(SEAL_OPEN) + rb'(?s:.{32})","id":"([!#-\[\]-~]{1,512})","bankId":"')
"""How a line of ours begins. A line that does not match may still be one: its id may need escapes."""
_ITEM = b',"item":'


def write_job(key: SealKey, job: RetainJob, *, retries: int = 0, **extra: str) -> bytes:
    """The job as a sealed line. ``extra`` fields go before the item.

    Raises:
        JobRefusedError: an id is empty or too long, or some text is not well-formed.
    """
    for text in (job.id, job.bank, job.operation_id):
        if not isinstance(text, str) or not 0 < len(text) <= MAX_ID:
            raise JobRefusedError
    # Put together by hand, since an append pays for it each time: one call for all fields takes half as long again.
    covers = f',"covers":{_covers_json(job.covers)}' if job.covers is not None else ""
    more = "".join(f',"{name}":{quoted(value)}' for name, value in extra.items())
    try:
        return write_sealed(
            key,
            f'"id":{quoted(job.id)},"bankId":{quoted(job.bank)},"documentId":{quoted(job.item.document_id)}'
            f',"createdAt":{quoted(job.created_at)},"updateMode":"{job.item.update_mode.value}"'
            f',"retries":{retries},"operationId":{quoted(job.operation_id)}{covers}{more}'
            f',"item":{_item_json(job.item)}',
        )
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


def _item_json(item: RetainItem) -> str:
    text = f'{{"content":{quoted(item.content)},"context":{quoted(item.context or "")},"async":true'
    text += f',"tags":[{",".join(map(quoted, item.tags))}]'
    if item.timestamp is not None:
        text += f',"timestamp":{quoted(item.timestamp)}'
    if item.metadata:
        text += f',"metadata":{to_json(dict(item.metadata))}'
    if item.observation_scopes is not None:
        text += f',"observationScopes":{to_json(item.observation_scopes)}'
    if item.strategy is not None:
        text += f',"strategy":{quoted(item.strategy)}'
    return text + "}"


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


def _covers_json(covers: Coverage) -> str:
    tail = ",".join([f"[{quoted(entry)},{quoted(print_)}]" for entry, print_ in covers.tail])
    after = "null" if covers.after_id is None else quoted(covers.after_id)
    return (
        f'{{"lineage":{quoted(covers.lineage)},"bank":{quoted(covers.bank)},"firstId":{quoted(covers.first_id)}'
        f',"lastId":{quoted(covers.last_id)},"chain":{quoted(covers.chain)},"afterId":{after}'
        f',"count":{covers.count:d},"tail":[{tail}]}}'
    )


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
