"""Deleting one document where older turns of it may still wait to be sent."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing

from hindbrain.contracts import Backend
from hindbrain.generic._outbox import Forgotten
from hindbrain.store import DurableQueue, HostState


async def forget(states: Sequence[HostState], backend: Backend, bank: str, document_id: str) -> Forgotten:
    """Delete a document; what waits for it, or was given up, leaves the queues, so that no flush brings it back.

    Its entries stay counted as retained: they are never offered again.

    Raises:
        StoreError: something is being sent at this moment (``lock-busy``), and nothing was deleted; or it was deleted,
            and a queue could not be written.
        BackendError: the backend did not delete it; the queues are as they were.
    """
    with ExitStack() as leases:
        for state in states:
            lease = leases.enter_context(closing(state.queue.flush_lease()))
            leases.enter_context(lease.held(0))
        deleted = await backend.delete(bank, document_id)
        given_up = [await state.ask(lambda queue: _give_up(queue, bank, document_id)) for state in states]
    return Forgotten(deleted=deleted, given_up=sum(given_up))


def _give_up(queue: DurableQueue, bank: str, document_id: str) -> int:
    waiting = [job.id for job in queue.waiting() if (job.bank, job.document_id) == (bank, document_id)]
    dead = [letter.id for letter in queue.dead() if (letter.bank, letter.document_id) == (bank, document_id)]
    if waiting:
        queue.ack(waiting)
    for job_id in dead:
        queue.drop(job_id)
    return len(waiting) + len(dead)
