"""What a flush does with each answer of the backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from hindbrain.contracts import (
    BackendError,
    BackendRequestError,
    OperationConflictError,
    OperationStatus,
    Outcome,
    Retained,
    RetainJob,
)
from hindbrain.store import StoreCorruptError, StoreError, StoreFullError
from hindbrain.store._flush import Delivery, Flusher, FlushPolicy
from hindbrain.store._lock import LockLostError
from hindbrain.store._queue import DurableQueue
from hindbrain.store.testing import Fault, FaultyLayer, MemoryLayer

MakeJob = Callable[..., RetainJob]
MakeFlusher = Callable[..., Flusher]


def error(code: str, outcome: Outcome, *, retryable: bool = False, **more: Any) -> BackendError:
    raised = BackendError("It failed.")
    raised.__dict__.update(code=code, outcome=outcome, retryable=retryable, **more)
    return raised


def refused() -> BackendError:
    return error("http", Outcome.REFUSED, status=422)


def unreachable() -> BackendError:
    return error("network", Outcome.UNKNOWN, retryable=True)


def retries(queue: DurableQueue) -> list[int]:
    return [job.retries for job in queue.waiting()]


@pytest.mark.req("S0-queue-002")
async def test_what_waits_is_delivered_in_order_and_then_waits_no_more(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    jobs = [make_job() for _ in range(3)]
    queue.append_many(jobs)
    server.answers.append(unreachable())
    flusher = make_flusher()
    first = await flusher.flush()
    assert (first.sent, first.remaining, first.stopped_by) == (0, 3, "network")
    assert retries(queue) == [0, 0, 0]
    report = await flusher.flush(force=True)
    assert server.took == [(job.operation_id, job.item) for job in jobs]
    assert (report.sent, report.remaining, report.stopped_by, report.notice) == (3, 0, None, None)
    assert report.operation_ids == tuple(job.operation_id for job in jobs)
    assert (await flusher.flush()).sent == 0


@pytest.mark.req("S0-queue-001")
async def test_a_job_is_on_the_disk_before_the_first_byte_of_it_is_sent(
    queue: DurableQueue, disk: MemoryLayer, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(job := make_job())

    def look() -> None:
        for state in disk.crash_states():
            assert job.id.encode() in state.files()[queue.path]

    server.before = look
    assert (await make_flusher().flush()).sent == 1


@pytest.mark.parametrize(
    "failure",
    [
        unreachable(),
        error("timeout", Outcome.UNKNOWN, retryable=True),
        error("invalid-response", Outcome.UNKNOWN),
        error("http", Outcome.REFUSED, retryable=True, status=500),
        error("wrong-endpoint", Outcome.REFUSED, status=404),
        error("http", Outcome.REFUSED, status=307),
        error("unauthorized", Outcome.REFUSED, status=401),
        StoreFullError(),
        StoreCorruptError(),
    ],
    ids=lambda each: f"{each.code}-{getattr(each, 'status', '')}",
)
async def test_a_backend_that_cannot_be_used_spends_no_attempt_and_ends_the_flush(
    failure: BackendError, queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job(), make_job()])
    server.answers.append(failure)
    report = await make_flusher().flush()
    assert (report.sent, report.stopped_by, len(server.asked)) == (0, failure.code, 1)
    assert retries(queue) == [0, 0]
    await make_flusher().flush()
    assert server.asked[0] == server.asked[1]


@pytest.mark.req("S0-queue-009")
async def test_a_job_that_is_refused_five_times_is_a_dead_letter_once(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(bad := make_job())
    flusher = make_flusher()
    for attempt in range(1, 6):
        server.answers.append(refused())
        report = await flusher.flush()
        assert report.dead_lettered == (attempt == 5)
        clock.seconds += 1_000
    assert server.asked == [bad.operation_id] * 5
    assert [(letter.id, letter.code, letter.retries) for letter in queue.dead()] == [(bad.id, "http", 5)]
    assert (await flusher.flush()).remaining == 0
    assert len(server.asked) == 5


async def test_a_job_whose_attempts_were_spent_before_a_crash_is_given_up_without_another(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(job := make_job())
    for _ in range(5):
        queue.attempt(job.id, "http")
    assert (await make_flusher().flush()).dead_lettered == 1
    assert server.asked == []
    assert queue.dead()[0].code == "http"


async def test_a_refused_job_holds_back_only_later_jobs_of_its_document(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    a1, b1, a2, b2 = (make_job(document_id=name) for name in "abab")
    queue.append_many([a1, b1, a2, b2])
    server.answers.append(refused())
    flusher = make_flusher()
    report = await flusher.flush()
    assert (report.sent, report.remaining) == (2, 2)
    assert server.asked == [a1.operation_id, b1.operation_id, b2.operation_id]
    await flusher.flush()
    assert len(server.asked) == 3
    clock.seconds += 10
    await flusher.flush()
    assert server.asked[3:] == [a1.operation_id, a2.operation_id]
    assert queue.waiting() == ()


async def test_the_same_document_in_another_bank_is_another(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job(document_id="d"), make_job(document_id="d", bank="other")])
    server.answers.append(refused())
    assert (await make_flusher().flush()).sent == 1


async def test_a_flush_may_end_with_the_first_refusal(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job(), make_job()])
    server.answers.append(refused())
    report = await make_flusher().flush(stop_on_first_failure=True)
    assert (report.sent, report.remaining, report.stopped_by) == (0, 2, "http")
    assert retries(queue) == [1, 0]


async def test_a_missing_key_is_told_once_until_something_is_delivered_again(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(make_job())
    flusher = make_flusher()
    server.answers += [error("unauthorized", Outcome.REFUSED)] * 2
    assert [(await flusher.flush(force=True)).notice for _ in range(2)] == ["unauthorized", None]
    await flusher.flush(force=True)
    queue.append(make_job())
    server.answers.append(error("unauthorized", Outcome.REFUSED))
    assert (await flusher.flush(force=True)).notice == "unauthorized"


async def test_a_conflict_is_decided_by_the_status_in_this_bank(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    conflict = OperationConflictError("In use.")
    flusher = make_flusher()
    for status in (OperationStatus.COMPLETED, OperationStatus.PENDING, OperationStatus.PROCESSING):
        queue.append(make_job())
        server.answers.append(conflict)
        server.statuses.append(status)
        assert (await flusher.flush()).sent == 1
    for status in (OperationStatus.NOT_FOUND, OperationStatus.FAILED, OperationStatus.CANCELLED):
        queue.append(job := make_job())
        server.answers.append(conflict)
        server.statuses.append(status)
        assert (await flusher.flush()).sent == 0
        assert retries(queue) == [1]
        clock.seconds += 10
        assert (await flusher.flush()).sent == 1
        assert server.asked[-1] != job.operation_id
    queue.append(make_job())
    server.answers.append(conflict)
    server.statuses.append(unreachable())
    report = await flusher.flush()
    assert (report.sent, report.stopped_by) == (0, "network")
    assert retries(queue) == [0]


async def test_what_is_refused_in_this_process_is_the_jobs_fault_only_if_the_backend_can_be_used(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job(), make_job()])
    closed = BackendRequestError("Closed.")
    server.answers.append(closed)
    server.statuses.append(closed)
    assert (await make_flusher().flush()).stopped_by == "config"
    assert retries(queue) == [0, 0]
    server.answers.append(BackendRequestError("Too large."))
    report = await make_flusher().flush()
    assert (report.sent, report.stopped_by) == (1, None)
    assert retries(queue) == [1]


async def test_a_backend_that_failed_is_left_alone_for_longer_each_time(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(make_job())
    flusher = make_flusher(policy=FlushPolicy(base_backoff=2, max_backoff=5))
    for pause in (2, 4, 5, 5):
        server.answers.append(unreachable())
        assert (await flusher.flush()).retry_in == pause
        clock.seconds += pause - 0.5
        waiting = await flusher.flush()
        assert (waiting.stopped_by, waiting.retry_in, waiting.remaining) == ("backoff", 0.5, 1)
        clock.seconds += 0.5
    assert (await flusher.flush()).sent == 1
    assert len(server.asked) == 5


async def test_waits_are_spread_and_a_server_that_names_its_own_is_believed(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(make_job())
    server.answers += [unreachable(), error("http", Outcome.REFUSED, retryable=True, retry_after=30.0)]
    assert (await make_flusher(random=lambda: 0.0).flush()).retry_in == 0.5
    assert (await make_flusher().flush()).retry_in == 30.0


async def test_a_backend_that_answers_something_else_is_tried_again_at_once(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(make_job())
    flusher = make_flusher(policy=FlushPolicy(base_backoff=2, max_backoff=50))
    flusher.answered()
    for pause in (2, 4):
        server.answers.append(unreachable())
        assert (await flusher.flush()).retry_in == pause
        flusher.answered()
    server.answers.append(error("http", Outcome.REFUSED, retryable=True, retry_after=30.0))
    assert (await flusher.flush()).retry_in == 30.0
    flusher.answered()
    assert (await flusher.flush()).retry_in == 30.0


@pytest.mark.req("S0-flush-006", "S0-flush-008", "S0-flush-012")
@pytest.mark.parametrize("bounds", [(1, 3), (10, 12), (5, 7)])
async def test_a_flush_sends_no_more_jobs_than_it_may(
    bounds: tuple[int, int], queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    bound, waiting = bounds
    queue.append_many([make_job() for _ in range(waiting)])
    report = await make_flusher().flush(max_jobs=bound)
    assert (report.sent, report.remaining, len(server.asked)) == (bound, waiting - bound, bound)
    assert report.stopped_by == "max-jobs"


@pytest.mark.req("S0-flush-007", "S0-flush-009")
async def test_the_bound_on_time_cancels_a_request_that_runs_and_its_job_waits_on(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([job := make_job(), make_job()])
    server.answers.append(None)
    report = await make_flusher().flush(max_elapsed=0.01)
    assert (report.sent, report.remaining, report.stopped_by) == (0, 2, "elapsed")
    assert server.was_cancelled
    assert retries(queue) == [0, 0]
    await make_flusher().flush()
    assert server.asked[:2] == [job.operation_id, job.operation_id]


async def test_when_the_time_is_up_no_other_job_is_begun(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job() for _ in range(3)])

    def pass_time() -> None:
        clock.seconds += 1.5

    server.before = pass_time
    report = await make_flusher().flush(max_elapsed=2)
    assert (report.sent, report.stopped_by) == (2, "elapsed")


async def test_what_the_backend_tells_is_summed_and_noted(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    class Sink:
        noted: Sequence[Delivery] = ()

        def record(self, delivery: Delivery) -> None:
            self.noted = (*self.noted, delivery)

    queue.append_many([first := make_job(), make_job(), make_job()])
    server.answers += [
        Retained(operation_id="o1", operation_ids=("o1", "o2"), items=3, tokens=120),
        Retained(operation_id="o3", items=1),
        Retained(operation_id="o4"),
    ]
    sink = Sink()
    report = await make_flusher(receipts=sink).flush()
    assert (report.outcome.items, report.outcome.operations, report.outcome.tokens) == (4, 4, 120)
    assert [each.operations for each in sink.noted] == [("o1", "o2"), ("o3",), ("o4",)]
    assert (sink.noted[0].job, sink.noted[0].at) == (first, "2026-01-01T00:00:00.000Z")


async def test_a_receipt_that_cannot_be_noted_undoes_no_delivery(
    queue: DurableQueue, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    class Sink:
        def record(self, delivery: Delivery) -> None:  # noqa: ARG002 - the protocol's
            raise StoreError

    queue.append(make_job())
    report = await make_flusher(receipts=Sink()).flush()
    assert (report.sent, report.remaining, report.outcome.items) == (1, 0, None)


async def test_a_second_flusher_does_nothing_while_the_first_is_at_work(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job(), make_job()])
    server.answers.append(None)
    with queue.flush_lease().held():
        report = await make_flusher().flush()
    assert (report.busy, report.sent, report.remaining, server.asked) == (True, 0, 2, [])


async def test_a_lease_that_another_took_over_is_noticed_before_anything_is_committed(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hindbrain.store._lock import Hold

    queue.append_many([make_job(), make_job()])

    def lost(_: Hold) -> None:
        if server.asked:
            raise LockLostError

    monkeypatch.setattr(Hold, "renew", lost)
    report = await make_flusher().flush()
    assert (report.sent, report.remaining, report.stopped_by) == (0, 2, "lock-lost")
    assert len(server.asked) == 1


async def test_an_ack_that_cannot_be_written_ends_the_flush_and_the_job_goes_out_under_the_same_id(
    disk: MemoryLayer, queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job(update_mode="replace"), make_job(update_mode="replace")])
    layer = FaultyLayer(disk, fail_at=10**9, fault=Fault.ENOSPC, lasting=True)
    broken = DurableQueue.open(queue.path, key=queue._key, layer=layer, wait=0)

    def fill() -> None:
        layer._fail_at = layer.count + 1

    server.before = fill
    lease = queue.flush_lease()
    with pytest.raises(StoreFullError):
        await make_flusher(queue=broken, lease=lease).flush()
    server.before = lambda: None
    report = await make_flusher().flush()
    assert report.sent == 2
    assert server.asked[0] == server.asked[1]
    assert len(set(server.asked)) == 2


async def test_a_damaged_line_is_set_aside_and_reported_and_the_rest_is_sent(
    queue: DurableQueue, disk: MemoryLayer, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job(content="MARKER"), make_job()])
    disk = MemoryLayer.holding({queue.path: disk.files()[queue.path].replace(b"MARKER", b"MARKED")})
    opened = DurableQueue.open(queue.path, key=queue._key, layer=disk, wait=0)
    report = await make_flusher(queue=opened).flush()
    assert (report.sent, report.remaining, report.malformed) == (1, 0, 1)
    assert opened.counts().unsealed == 1
