"""Asks what became of the jobs that the backend took: what was accepted may still fail.

Source: spec/hindsight-server.md section 4.2 (an accepted retain may end as failed); decisions.md, "Durability" (a
failed operation id is never run again; not_found means failed only after a day).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from hindbrain.contracts import OperationStatus
from hindbrain.store._flush._means import Bounds, Means
from hindbrain.store._flush._report import Tally
from hindbrain.store._queue import TakenJob

Ask = Callable[[str, str], Awaitable[OperationStatus]]
"""Where the operation of a bank stands; raises ``Stopped`` where the backend cannot tell."""

FAILED = "operation-failed"
CANCELLED = "operation-cancelled"
FORGOTTEN = "operation-not-found"
_DAY = timedelta(days=1)
_PAGE = 64


async def confirm(means: Means, bounds: Bounds, tally: Tally, ask: Ask, asked: set[str]) -> None:
    """Let go of what is completed, and let what failed wait again under a fresh operation id.

    Each job is asked about once a round, ``asked``, and again after a pause that grows, unless the round is forced.
    What somebody cancelled is a dead letter, and so is, after a day, what the backend does not know: it may have taken
    effect all the same, and sent again it might be there twice. A round of so many jobs at most asks about 64.

    Raises:
        Stopped: the time is up, or the backend cannot be used.
    """

    def is_due(job_id: str) -> bool:
        return job_id not in asked and (bounds.force or not means.backoff.left(job_id))

    most = None if bounds.max_jobs is None else _PAGE
    due = await means.worker.run(lambda _: means.queue.unconfirmed(most, wanted=is_due))
    for start in range(0, len(due), _PAGE):
        done: list[str] = []
        try:
            for taken in due[start : start + _PAGE]:
                bounds.check_time(means.clock())
                asked.add(taken.job.id)
                if await _is_done(means, tally, taken, ask):
                    done.append(taken.job.id)
        finally:
            await _let_go(means, done)


async def _is_done(means: Means, tally: Tally, taken: TakenJob, ask: Ask) -> bool:
    job_id = taken.job.id
    match await _stands(taken, ask):
        case OperationStatus.COMPLETED:
            means.backoff.worked(job_id)
            return True
        case OperationStatus.FAILED:
            means.backoff.worked(job_id)
            await means.worker.run(lambda _: means.queue.attempt(job_id, FAILED, renew=True))
            tally.returned += 1
        case OperationStatus.CANCELLED:
            await _bury(means, tally, job_id, CANCELLED)
        case OperationStatus.NOT_FOUND if _is_old(taken, means.now()):
            await _bury(means, tally, job_id, FORGOTTEN)
        case _:
            means.backoff.failed(job_id)
    return False


async def _stands(taken: TakenJob, ask: Ask) -> OperationStatus:
    """Where the job stands, of whose operations each must be completed."""
    for operation_id in taken.operations:
        status = await ask(taken.job.bank, operation_id)
        if status is not OperationStatus.COMPLETED:
            return status
    return OperationStatus.COMPLETED


async def _let_go(means: Means, ids: Sequence[str]) -> None:
    if ids:
        await means.worker.run(lambda _: means.queue.ack(ids))


async def _bury(means: Means, tally: Tally, job_id: str, code: str) -> None:
    await means.worker.run(lambda _: means.queue.bury(job_id, code))
    tally.dead_lettered += 1


def _is_old(taken: TakenJob, now: str) -> bool:
    return datetime.fromisoformat(now) - datetime.fromisoformat(taken.at) >= _DAY
