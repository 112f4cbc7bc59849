"""What a queue promises while nothing goes wrong."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from attrs import evolve

from hindbrain.contracts import Coverage, RetainJob
from hindbrain.store import StoreClosedError
from hindbrain.store._files import StateDirError
from hindbrain.store._lock import Lock, LockBusyError
from hindbrain.store._queue import DurableQueue, JobRefusedError, UnknownJobError
from hindbrain.store._queue._journal import Journal
from hindbrain.store._seal import SealKey
from hindbrain.store.testing import MemoryLayer, RecordingLayer

MakeJob = Callable[..., RetainJob]
OpenQueue = Callable[..., DurableQueue]


def ids(queue: DurableQueue) -> list[str]:
    return [job.id for job in queue.waiting()]


def test_what_was_appended_waits_in_order_and_comes_back_as_it_was(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    jobs = [make_job(), make_job(document_id="other", update_mode="replace", covers=False), make_job(bank="b:2")]
    for job in jobs:
        queue.append(job)
    assert ids(queue) == [job.id for job in jobs]
    assert [queue.load(job.id) for job in jobs] == jobs


@pytest.mark.req("S0-flush-010")
def test_a_new_process_finds_the_same_jobs_under_the_same_ids(open_queue: OpenQueue, make_job: MakeJob) -> None:
    jobs = [make_job(), make_job()]
    open_queue().append_many(jobs)
    later = open_queue()
    assert [later.load(job.id) for job in later.waiting()] == jobs


def test_a_second_process_sees_what_the_first_does(open_queue: OpenQueue, make_job: MakeJob) -> None:
    one, other = open_queue(), open_queue()
    first, second = make_job(), make_job()
    one.append(first)
    other.append(second)
    assert ids(one) == ids(other) == [first.id, second.id]
    other.ack([first.id])
    assert ids(one) == [second.id]
    other.compact()
    assert ids(one) == [second.id]
    one.append(third := make_job())
    assert ids(other) == [second.id, third.id]


def test_an_append_is_one_write_and_one_sync_and_so_is_an_ack(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    layer = RecordingLayer(disk)
    queue = open_queue(layer)
    queue.append(job := make_job())
    queue.ack([job.id])
    works: list[Callable[[], None]] = [
        lambda: queue.append(make_job()),
        lambda: queue.ack([job.id]),
        lambda: queue.attempt(job.id, "http"),
    ]
    for work in works:
        layer.operations.clear()
        work()
        assert [each.name for each in layer.changes()] == ["write", "fsync"]
    layer.operations.clear()
    queue.append_many([make_job() for _ in range(32)])
    assert [each.name for each in layer.changes()] == ["write", "fsync"]


def test_an_append_asks_no_more_of_the_disk_however_much_waits(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    layer = RecordingLayer(disk)
    queue = open_queue(layer)
    queue.append(make_job())
    layer.operations.clear()
    queue.append(make_job())
    few = [each.name for each in layer.operations]
    queue.append_many([make_job() for _ in range(500)])
    layer.operations.clear()
    queue.append(make_job())
    assert [each.name for each in layer.operations] == few


def test_an_append_that_nobody_came_between_looks_no_further_than_at_its_own_file(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    layer = RecordingLayer(disk)
    queue = open_queue(layer)
    queue.append(make_job())
    works: list[Callable[[], None]] = [
        lambda: queue.append(make_job()),
        lambda: queue.ack(["done"]),
        lambda: queue.ack(["done"]),
    ]
    for work in works:
        layer.operations.clear()
        work()
    names = [each.name for each in layer.operations]
    assert names == ["try_lock", "lstat", "pread", "lstat", "write", "fsync", "unlock"]


def others_append(disk: MemoryLayer, path: Path, other: DurableQueue, job: RetainJob) -> None:  # noqa: ARG001 - as its siblings
    other.append(job)


def others_grow(disk: MemoryLayer, path: Path, other: DurableQueue, job: RetainJob) -> None:
    beyond = path.with_name(f"{path.name}.1.jsonl")
    data = other.line(job)
    with Lock(disk, path.with_name(f"{path.name}.lock")).light():
        Journal(disk, beyond).append(data)


def others_rewrite(disk: MemoryLayer, path: Path, other: DurableQueue, job: RetainJob) -> None:  # noqa: ARG001 - as above
    other.ack(ids(other))
    other.append_many([evolve(job, id=f"{number}") for number in range(9)])
    other.append(job)
    other.compact()  # the new file is longer than what anybody has read of the old one


def a_hand_removes(disk: MemoryLayer, path: Path, other: DurableQueue, job: RetainJob) -> None:
    disk.unlink(path)
    other.append(job)


def a_hand_moves(disk: MemoryLayer, path: Path, other: DurableQueue, job: RetainJob) -> None:
    disk.replace(path, path.with_name("elsewhere"))
    other.append(job)


def a_hand_writes(disk: MemoryLayer, path: Path, other: DurableQueue, job: RetainJob) -> None:
    fd = disk.open(path, os.O_WRONLY | os.O_APPEND)
    disk.write(fd, other.line(job))
    disk.close(fd)


def a_hand_replaces(disk: MemoryLayer, path: Path, other: DurableQueue, job: RetainJob) -> None:
    Journal(disk, path).replace(other.line(job))


@pytest.mark.parametrize(
    "between",
    [others_append, others_grow, others_rewrite, a_hand_removes, a_hand_moves, a_hand_writes, a_hand_replaces],
)
def test_an_append_after_others_have_written_is_lost_to_nobody(
    between: Callable[[MemoryLayer, Path, DurableQueue, RetainJob], None],
    disk: MemoryLayer,
    path: Path,
    open_queue: OpenQueue,
    make_job: MakeJob,
) -> None:
    queue = open_queue()
    for _ in range(3):  # nobody came between the last two
        queue.append(make_job())
    queue.ack([ids(queue)[0]])
    theirs, mine = make_job(), make_job()
    between(disk, path, open_queue(), theirs)
    queue.append(mine)
    assert ids(open_queue())[-2:] == ids(queue)[-2:] == [theirs.id, mine.id]
    assert ids(open_queue()) == ids(queue)


def test_the_same_job_twice_counts_once(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    job = make_job()
    queue.append(job)
    queue.append(job)
    assert ids(queue) == [job.id]
    queue.ack([job.id])
    assert ids(queue) == ids(open_queue()) == []


def test_waiting_gives_at_most_what_is_asked_for_and_passes_over(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    jobs = [make_job() for _ in range(4)]
    queue.append_many(jobs)
    assert [job.id for job in queue.waiting(2, skip={jobs[0].id})] == [jobs[1].id, jobs[2].id]


def test_what_waits_is_told_without_its_item(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    job = make_job(content="MARKER-42")
    queue.append(job)
    queue.attempt(job.id, "http")
    (queued,) = queue.waiting()
    assert (queued.bank, queued.document_id, queued.created_at) == ("bank", "doc", job.created_at)
    assert (queued.retries, queued.operation_id, queued.covers) == (1, job.operation_id, (job.covers,))
    assert "MARKER-42" not in repr(queued)
    assert "MARKER-42" not in repr(queue.counts())


def test_a_line_has_the_field_names_of_the_format(disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob) -> None:
    job = make_job(content="words", context="where", metadata={"k": "v"}, observation_scopes=(("a",),), strategy="s")
    open_queue().append(job)
    line = json.loads(disk.files()[Path("/state/retain-queue.jsonl")])
    assert list(line)[-1] == "item"
    assert line["item"] == {
        "content": "words",
        "context": "where",
        "async": True,
        "tags": ["a", "b"],
        "metadata": {"k": "v"},
        "observationScopes": [["a"]],
        "strategy": "s",
    }
    assert (line["id"], line["bankId"], line["documentId"]) == (job.id, "bank", "doc")
    assert (line["updateMode"], line["retries"], line["createdAt"]) == ("append", 0, job.created_at)


@pytest.mark.req("S0-scopes-022")
def test_a_retry_keeps_the_scopes_that_the_job_was_made_with(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    job = make_job(observation_scopes=(("harness:pi",),))
    queue.append(job)
    queue.attempt(job.id, "http")
    assert open_queue().load(job.id).item.observation_scopes == (("harness:pi",),)


def test_a_refused_job_keeps_its_operation_id_unless_that_is_worthless(
    open_queue: OpenQueue, make_job: MakeJob
) -> None:
    queue = open_queue()
    job = make_job()
    queue.append(job)
    queue.attempt(job.id, "http")
    assert queue.load(job.id).operation_id == job.operation_id
    queue.attempt(job.id, "conflict", renew=True)
    renewed = queue.load(job.id).operation_id
    assert renewed != job.operation_id
    assert open_queue().waiting()[0].operation_id == renewed
    queue.attempt(job.id, "conflict", renew=True)
    assert queue.load(job.id).operation_id not in {renewed, job.operation_id}


def test_jobs_that_are_planned_as_one_are_one_for_good(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    a, b, c, d = (make_job(content=text) for text in ("[1]", "[2, 3]", "c", "d"))
    queue.append_many([a, b, c, d])
    merge, single = queue.plan([[a.id, b.id], [c.id]])
    assert single.id == c.id
    assert [job.id for job in queue.waiting()] == [merge.id, c.id, d.id]
    whole = open_queue().load(merge.id)
    assert whole.item.content == "[1,2,3]"
    assert (whole.operation_id, whole.created_at) == (merge.operation_id, a.created_at)
    assert merge.covers == (a.covers, b.covers)
    assert whole.covers is not None
    assert b.covers is not None
    assert (whole.covers.first_id, whole.covers.last_id, whole.covers.after_id) == ("e1", "e2", None)
    assert (whole.covers.chain, whole.covers.count) == (b.covers.chain, b.covers.count)
    queue.compact()
    assert queue.load(merge.id) == whole
    queue.ack([merge.id])
    assert ids(open_queue()) == [c.id, d.id]


def test_what_may_have_been_sent_is_never_merged(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    a, b, c = make_job(), make_job(), make_job()
    queue.append_many([a, b, c])
    queue.plan([[a.id]])
    queue.compact()
    later = open_queue()
    assert [job.is_fixed for job in later.waiting()] == [True, False, False]
    with pytest.raises(UnknownJobError):
        later.plan([[a.id, b.id]])
    (merge,) = later.plan([[b.id, c.id]])
    with pytest.raises(UnknownJobError):
        later.plan([[merge.id, a.id]])
    assert later.plan([[merge.id]]) == (merge,)
    with pytest.raises(UnknownJobError):
        later.plan([["nobody"]])


@pytest.mark.req("S0-queue-009")
def test_a_buried_job_is_a_dead_letter_once_and_waits_no_more(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    queue = open_queue()
    job = make_job(content="MARKER-42")
    queue.append(job)
    queue.attempt(job.id, "http")
    queue.bury(job.id)
    assert ids(queue) == []
    (letter,) = open_queue().dead()
    assert (letter.id, letter.bank, letter.document_id, letter.code, letter.retries) == (
        job.id,
        "bank",
        "doc",
        "http",
        1,
    )
    assert letter.is_sealed
    assert "MARKER-42" not in repr(letter)
    assert queue.show_dead(job.id) == job
    assert queue.counts().dead == 1
    assert disk.files()[Path("/state/retain-queue.jsonl.dead.jsonl")].count(b"\n") == 1
    with pytest.raises(UnknownJobError):
        queue.bury(job.id)


def test_a_requeued_dead_letter_waits_with_no_attempts_and_fresh_ids(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    first, second = make_job(), make_job()
    queue.append_many([first, second])
    for job in (first, second):
        queue.attempt(job.id, "http")
        queue.bury(job.id)
    fresh = queue.requeue(first.id)
    (queued,) = open_queue().waiting()
    assert queued.id == fresh != first.id
    assert queued.retries == 0
    assert queued.operation_id != first.operation_id
    assert queue.load(fresh).item == first.item
    assert [letter.id for letter in queue.dead()] == [second.id]
    queue.drop(second.id)
    assert queue.dead() == ()
    for refused in (queue.drop, queue.requeue, queue.show_dead):
        with pytest.raises(UnknownJobError):
            refused(second.id)


def test_a_merge_that_is_given_up_keeps_the_content_of_all(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    a, b = make_job(content="a"), make_job(content="b")
    queue.append_many([a, b])
    (merge,) = queue.plan([[a.id, b.id]])
    queue.attempt(merge.id, "http")
    queue.bury(merge.id)
    assert queue.dead()[0].retries == 1
    assert ids(queue) == []
    assert queue.load(queue.requeue(merge.id)).item.content == "a\nb"


def test_compaction_makes_cursors_durable_before_their_jobs_leave(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    moved: list[Coverage] = []
    first, second = make_job(), make_job()

    def before_drop(covers: Sequence[Coverage]) -> None:
        assert first.id.encode() in disk.files()[Path("/state/retain-queue.jsonl")]
        moved.extend(covers)

    queue = open_queue(before_drop=before_drop)
    queue.append_many([first, second])
    queue.ack([first.id])
    assert queue.covers() == open_queue().covers("root") == (first.covers, second.covers)
    assert queue.covers("another") == ()
    queue.compact()
    assert moved == [first.covers]
    assert queue.covers() == (second.covers,)
    assert first.id.encode() not in b"".join(disk.files().values())


def test_a_cursor_that_cannot_be_made_durable_keeps_the_jobs(open_queue: OpenQueue, make_job: MakeJob) -> None:
    def before_drop(_: Sequence[Coverage]) -> None:
        raise StoreClosedError

    queue = open_queue(before_drop=before_drop)
    queue.append(job := make_job())
    queue.ack([job.id])
    with pytest.raises(StoreClosedError):
        queue.compact()
    assert queue.covers() == (job.covers,)


def test_the_log_is_rewritten_by_itself_once_more_than_half_is_done(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    queue = open_queue()
    jobs = [make_job() for _ in range(400)]
    queue.append_many(jobs)
    queue.attempt(jobs[-1].id, "http")
    for job in jobs[:300]:
        queue.ack([job.id])
    lines = disk.files()[Path("/state/retain-queue.jsonl")].splitlines()
    assert len(lines) < 200
    assert ids(queue) == [job.id for job in jobs[300:]]
    assert open_queue().waiting()[-1].retries == 1


def test_counts_say_how_much_waits_since_when(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    assert queue.counts().oldest is None
    first = make_job()
    queue.append_many([first, make_job()])
    counts = queue.counts()
    assert (counts.waiting, counts.oldest) == (2, first.created_at)
    assert counts.bytes == sum(job.size for job in queue.waiting())


def test_a_job_that_the_file_cannot_carry_is_refused_and_nothing_of_it_is_kept(
    open_queue: OpenQueue, make_job: MakeJob
) -> None:
    queue = open_queue()
    good = make_job()
    for bad in (RetainJob(id="", bank="b", item=good.item, operation_id="o", created_at=""),):
        with pytest.raises(JobRefusedError):
            queue.append_many([good, bad])
    half = RetainJob(id="\ud800", bank="b", item=good.item, operation_id="o", created_at="")
    with pytest.raises(JobRefusedError):
        queue.append(half)
    assert ids(queue) == []
    queue.append_many([])


@pytest.mark.parametrize("strange", ['quote " and \\', "two\nlines", "ünïcode", "x" * 512])
def test_any_id_is_carried(strange: str, open_queue: OpenQueue, make_job: MakeJob) -> None:
    given = make_job()
    job = RetainJob(id=strange, bank=strange, item=given.item, operation_id=given.operation_id, created_at=strange)
    queue = open_queue()
    queue.append(job)
    assert queue.load(strange) == open_queue().load(strange) == job
    queue.ack([strange])
    assert ids(open_queue()) == []


@pytest.mark.req("S0-queue-006")
def test_another_process_that_rewrites_is_waited_for_and_named(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob, path: Path
) -> None:
    queue = open_queue()
    with Lock(disk, path.with_name(f"{path.name}.lock")).held():
        assert path.with_name(f"{path.name}.lock") / "owner" in disk.files()
        with pytest.raises(LockBusyError, match=r"retain-queue\.jsonl\.lock is held by process"):
            queue.append(make_job())
    queue.append(make_job())


@pytest.mark.req("S0-queue-005")
def test_threads_that_append_at_once_each_leave_one_whole_line(tmp_path: Path, key: SealKey, make_job: MakeJob) -> None:
    path = tmp_path / "state" / "queue.jsonl"
    queue = DurableQueue.open(path, key=key)
    jobs = [make_job() for _ in range(32)]
    threads = [threading.Thread(target=queue.append, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(json.loads(line)["id"] for line in path.read_bytes().splitlines()) == sorted(j.id for j in jobs)
    assert sorted(ids(queue)) == sorted(job.id for job in jobs)
    queue.close()


def test_a_closed_queue_does_nothing(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    queue.close()
    queue.close()
    with pytest.raises(StoreClosedError):
        queue.append(make_job())


def test_files_are_private_and_a_folder_that_is_a_link_is_refused(
    tmp_path: Path, key: SealKey, make_job: MakeJob
) -> None:
    path = tmp_path / "state" / "queue.jsonl"
    queue = DurableQueue.open(path, key=key)
    queue.append(job := make_job())
    queue.attempt(job.id, "http")
    queue.bury(job.id)
    queue.close()
    modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir() if each.is_file()}
    assert set(modes.values()) == {0o600}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(path.parent)
    with pytest.raises(StateDirError):
        DurableQueue.open(tmp_path / "link" / "queue.jsonl", key=key)


def test_verify_finds_everything_sound(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    jobs = [make_job() for _ in range(3)]
    queue.append_many(jobs)
    queue.ack([jobs[0].id])
    queue.bury(jobs[1].id, "http")
    found = open_queue().verify()
    assert (found.jobs, found.records, found.dead, found.is_sound) == (3, 2, 1, True)


@pytest.mark.parametrize("way_out", ["requeue", "drop"])
def test_a_letter_whose_burial_was_cut_short_leaves_the_queue_with_it(
    way_out: str, disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob, path: Path
) -> None:
    queue = open_queue()
    queue.append(job := make_job())
    acks = path.with_name(f"{path.name}.acks.jsonl")
    before = disk.files().get(acks, b"")
    queue.bury(job.id, "http")
    cut_short = MemoryLayer.holding({**disk.files(), acks: before})
    later = open_queue(cut_short)
    assert [each.id for each in later.waiting()] == [each.id for each in later.dead()] == [job.id]
    revived = getattr(later, way_out)(job.id)
    assert [each.id for each in later.waiting()] == ([revived] if revived else [])
    assert later.dead() == ()


def test_dropping_a_letter_that_is_none_loses_no_job_that_waits(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    queue.append(job := make_job())
    with pytest.raises(UnknownJobError):
        queue.drop(job.id)
    assert [each.id for each in queue.waiting()] == [job.id]
