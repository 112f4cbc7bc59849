"""Deleting one document where older turns of it may still wait to be sent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack, closing

from hindbrain.contracts import Backend, HindbrainError, OperationStatus
from hindbrain.generic._outbox import Forgotten
from hindbrain.store import DurableQueue, HostState, TakenJob

_RUNNING = {OperationStatus.PENDING, OperationStatus.PROCESSING}
_PAUSE = 0.2


class StillWorkedOnError(HindbrainError):
    """The backend works on the document for longer than a command can wait."""

    code = "operation-running"

    def __init__(self) -> None:
        super().__init__(
            "The backend still works on a turn of this document; nothing was deleted.",
            next_step="Try again in a minute; `hindbrain queue status` counts what is unconfirmed.",
        )


async def forget(
    states: Sequence[HostState], backend: Backend, bank: str, document_id: str, *, patience: float = 8.0
) -> Forgotten:
    """Delete a document; what waits for it, or was given up, leaves the queues, so that no flush brings it back.

    Its entries stay counted as retained: they are never offered again. What the backend still works on is waited for,
    ``patience`` seconds.

    Raises:
        StillWorkedOnError: the backend still works on a turn of it, and would bring it back; nothing was deleted.
        StoreError: something is being sent at this moment (``lock-busy``), and nothing was deleted; or it was deleted,
            and a queue could not be written.
        BackendError: the backend did not delete it; the queues are as they were.
    """
    with ExitStack() as leases:
        for state in states:
            lease = leases.enter_context(closing(state.queue.flush_lease()))
            leases.enter_context(lease.held(0))
        for state in states:
            taken = await state.ask(DurableQueue.unconfirmed)
            await _ended(backend, [each for each in taken if each.job.line == (bank, document_id)], patience)
        deleted = await backend.delete(bank, document_id)
        given_up = [await state.ask(lambda queue: _give_up(queue, bank, document_id)) for state in states]
    return Forgotten(deleted=deleted, given_up=sum(given_up))


async def _ended(backend: Backend, taken: Sequence[TakenJob], patience: float) -> None:
    """Wait for what the backend works on: deleted in the middle of it, the document would come back.

    Source: spec/hindsight-server.md section 4.4; decisions.md, "Durability" (delete).
    """
    try:
        async with asyncio.timeout(patience):
            for each in taken:
                for operation_id in each.operations:
                    while (await backend.status(each.job.bank, operation_id)).status in _RUNNING:  # noqa: ASYNC110
                        # Nothing here is told when the backend is done: it must be asked.
                        await asyncio.sleep(_PAUSE)
    except TimeoutError:
        raise StillWorkedOnError from None


def _give_up(queue: DurableQueue, bank: str, document_id: str) -> int:
    line = (bank, document_id)
    taken = [each.job.id for each in queue.unconfirmed() if each.job.line == line]
    waiting = [job.id for job in queue.waiting() if job.line == line]
    dead = [letter.id for letter in queue.dead() if (letter.bank, letter.document_id) == line]
    if taken or waiting:
        queue.ack([*taken, *waiting])
    for job_id in dead:
        queue.drop(job_id)
    return len(waiting) + len(dead)
