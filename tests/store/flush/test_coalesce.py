"""Several jobs for one document as one: recorded before the first send, and the same after every crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.contracts import BackendError, Outcome, RetainJob
from hindbrain.store._flush import Flusher, FlushPolicy
from hindbrain.store._queue import DurableQueue, candidate

MakeJob = Callable[..., RetainJob]
MakeFlusher = Callable[..., Flusher]
POLICY = FlushPolicy(coalesce=True, base_backoff=0)


def unreachable() -> BackendError:
    raised = BackendError("It failed.")
    raised.__dict__.update(code="network", outcome=Outcome.UNKNOWN, retryable=True)
    return raised


async def test_appends_to_one_document_go_out_as_one(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    a1, b, a2 = make_job(document_id="a", tags=("x",)), make_job(), make_job(document_id="a", tags=("y", "x"))
    queue.append_many([a1, b, a2])
    report = await make_flusher(policy=POLICY).flush()
    assert (report.sent, report.remaining) == (2, 0)
    (first, one), (second, _) = server.took
    assert one.content == "content 1\ncontent 3"
    assert one.tags == ("x", "y")
    assert first == candidate([a1, a2]).operation_id
    assert first not in {a1.operation_id, a2.operation_id}
    assert second == b.operation_id


async def test_json_arrays_become_one_array(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job(content='["ü", 1]', document_id="d"), make_job(content=" [2]", document_id="d")])
    await make_flusher(policy=POLICY).flush()
    assert server.took[0][1].content == '["ü",1,2]'


@pytest.mark.parametrize(
    "other",
    [
        {"update_mode": "replace"},
        {"observation_scopes": "per_tag"},
        {"strategy": "s"},
        {"bank": "other"},
        {"document_id": "other"},
    ],
    ids=str,
)
async def test_what_the_server_would_treat_otherwise_stays_apart(
    other: dict[str, str], queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    jobs = [make_job(document_id="d"), make_job(**{"document_id": "d", **other})]
    queue.append_many(jobs)
    await make_flusher(policy=POLICY).flush()
    assert server.asked == [job.operation_id for job in jobs]


async def test_only_neighbours_are_joined(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    modes = ("append", "replace", "append", "append")
    queue.append_many([make_job(document_id="d", update_mode=mode) for mode in modes])
    await make_flusher(policy=POLICY).flush()
    assert [item.content for _, item in server.took] == ["content 1", "content 2", "content 3\ncontent 4"]


async def test_a_merge_is_bounded_in_number_and_length(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append_many([make_job(content="x" * 10, document_id="d") for _ in range(5)])
    await make_flusher(policy=FlushPolicy(coalesce=True, max_merge=2)).flush()
    queue.append_many([make_job(content="x" * 10, document_id="d") for _ in range(5)])
    await make_flusher(policy=FlushPolicy(coalesce=True, max_merge_length=30)).flush()
    assert [len(item.content.split("\n")) for _, item in server.took] == [2, 2, 1, 3, 2]


async def test_a_merge_counts_as_one_job(queue: DurableQueue, make_job: MakeJob, make_flusher: MakeFlusher) -> None:
    queue.append_many([make_job(document_id="d"), make_job(document_id="d"), make_job()])
    report = await make_flusher(policy=POLICY).flush(max_jobs=1)
    assert (report.sent, report.remaining) == (1, 1)


async def test_a_crash_after_the_send_repeats_the_same_merge_and_nothing_joins_it(
    queue: DurableQueue,
    server: Any,
    make_job: MakeJob,
    make_flusher: MakeFlusher,
    open_queue: Callable[[], DurableQueue],
) -> None:
    queue.append_many([make_job(document_id="d"), make_job(document_id="d")])
    server.answers.append(unreachable())
    await make_flusher(policy=POLICY).flush()
    queue.append(later := make_job(document_id="d"))
    await make_flusher(policy=POLICY, queue=open_queue()).flush()
    assert server.asked[0] == server.asked[1]
    assert server.asked[2] == later.operation_id
    assert [item.content for _, item in server.took] == ["content 1\ncontent 2", "content 3"]


async def test_a_job_that_may_have_arrived_alone_is_never_sent_again_within_a_merge(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    queue.append(alone := make_job(document_id="d"))
    server.answers.append(unreachable())
    await make_flusher(policy=FlushPolicy(base_backoff=0)).flush()
    queue.append_many([make_job(document_id="d"), make_job(document_id="d")])
    await make_flusher(policy=POLICY).flush()
    assert server.asked[:2] == [alone.operation_id, alone.operation_id]
    assert [item.content for _, item in server.took] == ["content 1", "content 2\ncontent 3"]


async def test_the_gate_sees_the_merge_and_may_keep_its_jobs_apart(
    queue: DurableQueue, server: Any, make_job: MakeJob, make_flusher: MakeFlusher
) -> None:
    jobs = [make_job(document_id="d"), make_job(document_id="d")]
    queue.append_many(jobs)
    seen: list[RetainJob] = []

    async def gate(job: RetainJob) -> bool:
        seen.append(job)
        return False

    await make_flusher(policy=POLICY, before_enqueue=gate).flush()
    assert seen == [candidate(jobs)]
    assert server.asked == [job.operation_id for job in jobs]
