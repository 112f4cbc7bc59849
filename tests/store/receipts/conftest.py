"""Receipts of made-up retains, on a real disk and on one in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hindbrain.contracts import Retained, RetainItem, RetainJob
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._flush import Delivery
from hindbrain.store._receipts import RetainReceipt, RetainSource

Made: TypeAlias = Callable[..., RetainReceipt]
Delivered: TypeAlias = Callable[..., Delivery]


def _delivered(document: str = "d", *, bank: str = "bank", items: int | None = 1, **fields: Any) -> Delivery:
    told = {name: fields.pop(name) for name in ("tokens", "operation_ids") if name in fields}
    item = RetainItem(content=fields.pop("content", "words"), document_id=document, **fields)
    job = RetainJob(id="j", bank=bank, item=item, operation_id="o", created_at="2026-03-01T09:00:00.000Z")
    retained = Retained(operation_id="o", items=items, **told)
    return Delivery(job=job, retained=retained, at="2026-03-01T10:00:00.000Z")


def _made(document: str = "d", **fields: Any) -> RetainReceipt:
    return RetainReceipt.of(_delivered(document, **fields), RetainSource.QUEUE)


@pytest.fixture
def made() -> Made:
    """A receipt: ``made("document", items=3)``."""
    return _made


@pytest.fixture
def delivered() -> Delivered:
    """What a flusher hands over: ``delivered("document", items=3)``."""
    return _delivered


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir.open(OsFileLayer(), tmp_path / ".pi" / "hindsight")
