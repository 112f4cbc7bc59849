"""Deleting a document while the backend still works on its turns."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hindbrain.contracts import Deleted, Operation, OperationStatus, Retained, RetainItem, RetainJob
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic._forget import StillWorkedOnError, forget
from hindbrain.store import HostState


class Slow(InMemoryBackend):
    """Says of each operation, one answer after the other, where it stands; and what it was asked to do."""

    def __init__(self, *stands: OperationStatus) -> None:
        super().__init__()
        self.stands = list(stands)
        self.asked: list[str] = []

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        await super().retain(bank, item, operation_id=operation_id)
        return Retained(operation_id=operation_id, status=OperationStatus.PENDING)

    async def status(self, bank: str, operation_id: str) -> Operation:  # noqa: ARG002 - the port's
        self.asked.append("status")
        return Operation(
            operation_id=operation_id, status=self.stands.pop(0) if self.stands else OperationStatus.PENDING
        )

    async def delete(self, bank: str, document_id: str) -> Deleted:
        self.asked.append("delete")
        return await super().delete(bank, document_id)


@pytest.fixture
async def state(tmp_path: Path) -> AsyncIterator[HostState]:
    made = await HostState.open(tmp_path / "state", seal_file=tmp_path / "seal.key")
    yield made
    await made.close()


async def taken(state: HostState, backend: Slow, *documents: str) -> None:
    """Turns of these documents, which the backend took and works on."""
    for document in documents:
        name = str(uuid.uuid4())
        item = RetainItem(content="The tide turns at noon.", document_id=document)
        await state.enqueue(
            RetainJob(id=name, bank="b", item=item, operation_id=name, created_at="2026-01-01T00:00:00Z")
        )
    assert (await state.flusher(backend).flush()).unconfirmed == len(documents)


async def test_it_waits_until_the_backend_is_done_and_then_deletes(state: HostState) -> None:
    backend = Slow(OperationStatus.PROCESSING, OperationStatus.COMPLETED)
    await taken(state, backend, "tide", "other")
    forgotten = await forget([state], backend, "b", "tide")
    assert backend.asked == ["status", "status", "delete"]
    assert (forgotten.deleted.found, forgotten.given_up) == (True, 0)
    left = await state.ask(lambda queue: queue.unconfirmed())
    assert [each.job.document_id for each in left] == ["other"]


async def test_where_that_takes_too_long_nothing_is_deleted(state: HostState) -> None:
    backend = Slow()
    await taken(state, backend, "tide")
    with pytest.raises(StillWorkedOnError) as caught:
        await forget([state], backend, "b", "tide", patience=0.05)
    assert "delete" not in backend.asked
    assert (await state.ask(lambda queue: queue.counts())).unconfirmed == 1
    assert "nothing was deleted" in str(caught.value)


@pytest.mark.parametrize("end", [OperationStatus.FAILED, OperationStatus.CANCELLED, OperationStatus.NOT_FOUND])
async def test_what_came_to_nothing_is_not_sent_again_for_a_document_that_is_gone(
    state: HostState, end: OperationStatus
) -> None:
    backend = Slow(end)
    await taken(state, backend, "tide")
    await forget([state], backend, "b", "tide")
    report = await state.flusher(backend).flush(force=True)
    assert (report.sent, report.returned, report.unconfirmed) == (0, 0, 0)
