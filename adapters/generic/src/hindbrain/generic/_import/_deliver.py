"""Sending what an import queued, and noting what became of it."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from hindbrain.contracts import Backend
from hindbrain.generic._import._ledger import ImportLedger
from hindbrain.generic._import._record import COMPLETED, FAILED
from hindbrain.generic._import._report import ImportReport
from hindbrain.store import DurableQueue, HostState

_SLICE = 8
"""Documents of one flush: after each the progress is told."""


async def deliver(state: HostState, backend: Backend, progress: Callable[[int], None]) -> str | None:
    """Send what waits until nothing does, or the backend cannot be used; the code of what stopped it.

    ``progress`` is called with the documents that went out since the last call. What is left waits in the queue.
    """
    flusher = state.flusher(backend)
    while True:
        report = await flusher.flush(max_jobs=_SLICE)
        progress(report.sent + report.dead_lettered)
        if report.busy:
            return "lock-busy"
        if report.stopped_by not in {None, "max-jobs"}:
            return report.stopped_by
        if not report.remaining or not (report.sent or report.dead_lettered):
            return report.notice


async def settle(state: HostState, ledger: ImportLedger, report: ImportReport) -> None:
    """Note which documents went out, which wait and which were given up, and write the manifest.

    One that the backend works on counts as sent; that it is completed is noted by the next import.

    Raises:
        StoreError: it could not be made durable; the next import notes it.
    """
    waiting = {each for job in await state.ask(DurableQueue.waiting) for each in (job.id, *job.members)}
    taken = {i for each in await state.ask(DurableQueue.unconfirmed) for i in (each.job.id, *each.job.members)}
    dead = {letter.id for letter in await state.ask(DurableQueue.dead)}
    report.waiting = 0
    for place, name, each in ledger.queued():
        if each.job in waiting:
            report.waiting += 1
            continue
        if each.job in taken:
            report.sent += 1
            continue
        failed = each.job in dead
        report.given_up += failed
        report.sent += not failed
        ledger.put(place, name, evolve(each, status=FAILED if failed else COMPLETED))
    await state.run(lambda: ledger.save(finished=True))
