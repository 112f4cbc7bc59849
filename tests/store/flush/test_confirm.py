"""What a flush does with jobs that the backend took and has not done yet."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from hindbrain.contracts import BackendError, OperationStatus, Outcome, Retained, RetainJob
from hindbrain.store._flush import Flusher, FlushPolicy
from hindbrain.store._queue import DurableQueue
from hindbrain.store.testing import MemoryLayer

MakeJob = Callable[..., RetainJob]
MakeFlusher = Callable[..., Flusher]
OpenQueue = Callable[[], DurableQueue]

PENDING, PROCESSING, COMPLETED = OperationStatus.PENDING, OperationStatus.PROCESSING, OperationStatus.COMPLETED
FAILED, CANCELLED, NOT_FOUND = OperationStatus.FAILED, OperationStatus.CANCELLED, OperationStatus.NOT_FOUND


def unreachable() -> BackendError:
    raised = BackendError("It failed.")
    raised.__dict__.update(code="network", outcome=Outcome.UNKNOWN, retryable=True)
    return raised


def unconfirmed(queue: DurableQueue) -> list[str]:
    return [each.job.id for each in queue.unconfirmed()]


def later(clock: Any, seconds: float = 10.0) -> None:
    clock.seconds += seconds


@pytest.fixture(autouse=True)
def slow(server: Any) -> None:
    """The backend works on what it takes for a while."""
    server.works = PENDING


async def test_what_was_taken_is_kept_until_it_is_done(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(job := make_job())
    flusher = make_flusher()
    report = await flusher.flush()
    assert (report.sent, report.remaining, report.unconfirmed) == (1, 0, 1)
    assert server.looked_at == []
    server.statuses += [PENDING, PROCESSING, COMPLETED]
    for left in (1, 1, 0):
        later(clock)
        report = await flusher.flush()
        assert (report.sent, report.remaining, report.unconfirmed) == (0, 0, left)
    assert server.looked_at == [job.operation_id] * 3
    assert server.asked == [job.operation_id]
    assert not queue.waiting()


async def test_what_is_done_at_once_is_never_asked_about(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    server.works = COMPLETED
    queue.append(make_job())
    flusher = make_flusher()
    assert (await flusher.flush()).unconfirmed == 0
    later(clock)
    await flusher.flush(force=True)
    assert server.looked_at == []


async def test_what_came_to_nothing_is_sent_again_under_a_fresh_id(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(job := make_job())
    flusher = make_flusher()
    await flusher.flush()
    server.statuses += [FAILED, COMPLETED]
    report = await flusher.flush(force=True)
    assert (report.returned, report.sent, report.unconfirmed, report.dead_lettered) == (1, 1, 1, 0)
    assert [content for _, content in server.took] == [job.item, job.item]
    assert server.asked[0] == job.operation_id != server.asked[1]
    assert (await flusher.flush(force=True)).unconfirmed == 0
    assert server.looked_at == server.asked


async def test_what_somebody_cancelled_is_theirs_to_send_again(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(job := make_job())
    flusher = make_flusher()
    await flusher.flush()
    server.statuses += [CANCELLED]
    report = await flusher.flush(force=True)
    assert (report.returned, report.sent, report.unconfirmed, report.dead_lettered) == (0, 0, 0, 1)
    assert [(letter.id, letter.code) for letter in queue.dead()] == [(job.id, "operation-cancelled")]
    assert server.asked == [job.operation_id]


async def test_what_fails_for_ever_is_a_dead_letter_once(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(job := make_job())
    flusher = make_flusher(policy=FlushPolicy(max_attempts=3))
    server.statuses += [FAILED] * 9
    reports = []
    for _ in range(5):
        reports.append(await flusher.flush())
        later(clock)
    assert len(server.asked) == len(set(server.asked)) == 3
    assert [each.dead_lettered for each in reports] == [0, 0, 0, 1, 0]
    assert [(letter.id, letter.code, letter.retries) for letter in queue.dead()] == [(job.id, "operation-failed", 3)]
    assert (queue.counts().waiting, queue.counts().unconfirmed) == (0, 0)


async def test_what_fails_at_once_is_sent_again_once_a_flush(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(make_job())
    flusher = make_flusher()
    await flusher.flush()
    server.statuses += [FAILED] * 9
    for sent in (2, 3):
        await flusher.flush(force=True)
        assert len(server.asked) == sent


async def test_each_of_several_operations_must_be_done(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(job := make_job())
    server.answers.append(Retained(operation_id="a", operation_ids=("a", "b"), status=PENDING))
    flusher = make_flusher()
    await flusher.flush()
    server.statuses += [COMPLETED, PENDING, COMPLETED, COMPLETED]
    later(clock)
    assert (await flusher.flush()).unconfirmed == 1
    later(clock)
    assert (await flusher.flush()).unconfirmed == 0
    assert server.looked_at == ["a", "b", "a", "b"]
    assert server.asked == [job.operation_id]


async def test_it_is_asked_about_less_and_less_often_unless_it_is_a_must(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(make_job())
    flusher = make_flusher()
    server.statuses += [PENDING] * 99
    await flusher.flush()
    for _ in range(64):
        later(clock, 1.0)
        await flusher.flush()
    assert len(server.looked_at) == 6
    for _ in range(3):
        await flusher.flush(force=True)
    assert len(server.looked_at) == 9


async def test_what_the_backend_does_not_know_is_never_sent_twice(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    """Its record may have been deleted after it was done: only the user can tell."""
    queue.append(job := make_job())
    at = queue._now()
    now = [at.isoformat()]
    flusher = make_flusher(now=lambda: now[-1])
    await flusher.flush()
    for hours, left in ((1, 1), (23, 1), (25, 0)):
        later(clock, 400.0)
        now.append((at + timedelta(hours=hours)).isoformat())
        assert (await flusher.flush()).unconfirmed == left
    assert server.asked == [job.operation_id]
    assert [(letter.id, letter.code) for letter in queue.dead()] == [(job.id, "operation-not-found")]


async def test_a_backend_that_cannot_tell_is_left_alone_and_nothing_is_forgotten(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    jobs = [make_job() for _ in range(3)]
    queue.append_many(jobs)
    flusher = make_flusher()
    await flusher.flush()
    server.statuses += [COMPLETED, unreachable()]
    later(clock)
    report = await flusher.flush()
    assert (report.stopped_by, report.unconfirmed) == ("network", 2)
    assert unconfirmed(queue) == [job.id for job in jobs[1:]]
    assert (await flusher.flush()).stopped_by == "backoff"


async def test_a_flush_of_one_job_asks_too(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job() for _ in range(3)])
    flusher = make_flusher()
    await flusher.flush(max_jobs=1)
    server.statuses += [FAILED]
    later(clock)
    report = await flusher.flush(max_jobs=1)
    assert (report.sent, report.returned, report.remaining, report.stopped_by) == (1, 1, 2, "max-jobs")


async def test_a_flush_of_some_jobs_asks_about_some_and_goes_on_where_it_stopped(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many(jobs := [make_job() for _ in range(150)])
    flusher = make_flusher()
    await flusher.flush()
    later(clock)
    server.statuses += [PENDING] * 999
    asked = []
    for _ in range(4):
        await flusher.flush(max_jobs=8)
        asked.append(len(server.looked_at))
    assert asked == [64, 128, 150, 150]
    assert server.looked_at == [job.operation_id for job in jobs]


async def test_the_time_that_a_flush_has_ends_the_asking(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job() for _ in range(3)])
    flusher = make_flusher()
    await flusher.flush()
    later(clock)
    status = server.status

    async def slowly(bank: str, operation_id: str) -> Any:
        later(clock, 1.5)
        return await status(bank, operation_id)

    server.status = slowly
    server.statuses += [COMPLETED] * 3
    report = await flusher.flush(max_elapsed=2.0)
    assert (report.stopped_by, report.unconfirmed) == ("elapsed", 1)


async def test_what_was_taken_is_known_to_the_next_process(
    queue: DurableQueue, open_queue: OpenQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job() for _ in range(3)])
    await make_flusher().flush()
    queue.compact()
    queue.close()
    again = open_queue()
    assert len(again.unconfirmed()) == 3
    assert all(each.at for each in again.unconfirmed())
    server.statuses += [COMPLETED, FAILED, COMPLETED]
    report = await make_flusher(queue=again).flush(force=True)
    assert (report.sent, report.returned, report.unconfirmed) == (1, 1, 1)


async def test_a_merge_is_kept_and_sent_again_whole(
    queue: DurableQueue, server: Any, clock: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job(document_id="d") for _ in range(3)])
    flusher = make_flusher(policy=FlushPolicy(coalesce=True))
    report = await flusher.flush()
    assert (report.sent, report.remaining, report.unconfirmed) == (1, 0, 1)
    server.statuses += [FAILED, COMPLETED]
    later(clock)
    report = await flusher.flush()
    assert (report.sent, report.returned) == (1, 1)
    first, second = server.took
    assert first[1] == second[1]
    assert first[0] != second[0]
    later(clock)
    assert (await flusher.flush()).unconfirmed == 0
    assert queue.counts().bytes == 0


async def test_it_is_kept_through_a_loss_of_power(
    queue: DurableQueue, disk: MemoryLayer, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(job := make_job())
    await make_flusher().flush()
    for state in disk.crash_states():
        assert job.id.encode() in state.files()[queue.path]
