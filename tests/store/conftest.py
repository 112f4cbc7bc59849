"""A backend in a folder of its own, and shorter words for what tests say to it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hindbrain.contracts import Recall, RecallQuery, Retained, RetainItem
from hindbrain.store import EmbeddedBackend, EmbeddedConfig

Keep: TypeAlias = Callable[..., Awaitable[Retained]]
Ask: TypeAlias = Callable[..., Awaitable[Recall]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "banks"


@pytest.fixture
async def backend(root: Path) -> AsyncIterator[EmbeddedBackend]:
    made = EmbeddedBackend(root, config=EmbeddedConfig(busy_timeout=0.2))
    yield made
    await made.close()


@pytest.fixture
def keep(backend: EmbeddedBackend) -> Keep:
    """Retain a text: ``await keep("words", document_id="d")``."""

    async def retain(content: str, *, bank: str = "bank", document_id: str = "doc", **fields: Any) -> Retained:
        item = RetainItem(content=content, document_id=document_id, **fields)
        return await backend.retain(bank, item, operation_id=str(uuid.uuid4()))

    return retain


@pytest.fixture
def ask(backend: EmbeddedBackend) -> Ask:
    """Recall: ``await ask("question", budget="high")``."""

    async def recall(text: str, *, bank: str = "bank", **fields: Any) -> Recall:
        return await backend.recall(bank, RecallQuery(text=text, **fields))

    return recall
