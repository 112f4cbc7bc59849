"""Every file operation goes wrong once, in every way, and the power goes at every moment: nothing promised is lost."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from attrs import define, field

from hindbrain.contracts import RetainJob
from hindbrain.store import StoreError
from hindbrain.store._files import FileLayer
from hindbrain.store._queue import DurableQueue
from hindbrain.store.testing import Fault, FaultyLayer, Killed, MemoryLayer, RecordingLayer, replay

MakeJob = Callable[..., RetainJob]
OpenQueue = Callable[..., DurableQueue]
Step: TypeAlias = Callable[[DurableQueue], object]

QUEUE = Path("/state/retain-queue.jsonl")
SEGMENT = Path("/state/retain-queue.jsonl.1.jsonl")
FOREIGN = (
    b'{"id":"x","bankId":"b","documentId":"d","updateMode":"append","retries":0,"item":{"content":"c","context":""}}'
)


@define
class Promises:
    """What a queue has said it did, and what it was asked without an answer."""

    kept: dict[str, RetainJob] = field(factory=dict)
    gone: set[str] = field(factory=set)
    dead: set[str] = field(factory=set)
    doubtful: set[str] = field(factory=set)
    asked: set[str] = field(factory=set)

    def check(self, queue: DurableQueue) -> None:
        """Whether a queue that was opened afterwards keeps them."""
        units = queue.waiting()
        waiting = {member for unit in units for member in unit.members or (unit.id,)}
        dead = [letter.id for letter in queue.dead()]
        lost = self.kept.keys() - waiting - set(dead) - self.doubtful
        assert not lost, "a job was promised and is lost"
        assert not waiting - self.asked, "a job was invented"
        assert not waiting & self.gone, "a job was delivered and waits again"
        assert len(dead) == len(set(dead)), "a dead letter is there twice"
        assert self.dead <= set(dead) | self.doubtful
        for unit in units:
            job = queue.load(unit.id)
            if not unit.members and unit.id in self.kept:
                assert job.item == self.kept[unit.id].item
        for merge in (unit for unit in units if unit.members):
            assert set(merge.members) <= waiting, "a merge has lost a member"
        assert queue.verify().is_sound or queue.counts().malformed

    def check_goes_on(self, queue: DurableQueue, job: RetainJob, reopen: Callable[[], DurableQueue]) -> None:
        """Whether the next append can be read."""
        queue.append(job)
        assert reopen().load(job.id) == job


Script: TypeAlias = list[tuple[Step, Callable[[Promises], object], set[str]]]


def script(make_job: MakeJob) -> tuple[Script, set[str]]:
    """A life of a queue: each step, what it promises when it returns, and what is uncertain when it does not."""
    jobs = [make_job() for _ in range(8)]
    a, b, c, d, e, f, g, h = jobs
    merge: list[str] = []
    revived: list[str] = []

    def append(*some: RetainJob) -> tuple[Step, Callable[[Promises], object], set[str]]:
        return (lambda q: q.append_many(some)), (lambda p: p.kept.update({j.id: j for j in some})), set()

    def ack(*some: RetainJob) -> tuple[Step, Callable[[Promises], object], set[str]]:
        ids = {j.id for j in some}
        return (lambda q: q.ack(ids)), (lambda p: _gone(p, ids)), ids

    def plan(queue: DurableQueue) -> None:
        merge[:] = [queue.plan([[c.id, d.id]])[0].id]

    def requeue(queue: DurableQueue) -> None:
        revived[:] = [queue.requeue(b.id)]

    steps: Script = [
        append(a),
        append(b),
        ack(a),
        append(c, d, e),
        ((lambda q: q.attempt(b.id, "http")), (lambda _: None), set()),
        ((lambda q: q.bury(b.id)), (lambda p: p.dead.add(b.id)), {b.id}),
        (plan, (lambda _: None), set()),
        append(f),
        ((lambda q: q.compact()), (lambda _: None), set()),
        ((lambda q: q.ack(merge)), (lambda p: _gone(p, {c.id, d.id} if merge else set())), {c.id, d.id}),
        append(g),
        (requeue, (lambda p: _gone(p, {b.id})), {b.id}),
        ((lambda q: q.adopt()), (lambda _: None), set()),
        ack(e, f),
        ((lambda q: q.compact()), (lambda _: None), set()),
        append(h),
    ]
    from hindbrain.store._queue._dead import revived as revived_job

    return steps, {job.id for job in jobs} | {"x", revived_job(b).id}


def _gone(promises: Promises, ids: set[str]) -> None:
    promises.gone |= ids - promises.doubtful
    promises.dead -= ids
    for each in ids:
        promises.kept.pop(each, None)


def live(layer: FileLayer, open_queue: OpenQueue, steps: Script, asked: set[str]) -> Iterator[Promises]:
    """Go through the script as one process, whatever is refused; the promises after each step."""
    promises = Promises(asked=asked)
    yield promises
    queue: DurableQueue | None = None
    for step, promise, doubtful in steps:
        try:
            queue = queue or open_queue(layer)
            step(queue)
        except StoreError:
            promises.doubtful |= doubtful
        except Killed:
            promises.doubtful |= doubtful
            yield promises
            return
        else:
            promise(promises)
        yield promises


def disk_with_foreign_lines() -> MemoryLayer:
    return MemoryLayer.holding({QUEUE: b"{broken\n" + FOREIGN + b"\n" + FOREIGN[:40]})


ONCE = {Fault.EINTR, Fault.KILL, Fault.TORN_KILL, Fault.SHORT_WRITE}
"""Lasting, these would never end, or are the same as once."""


@pytest.mark.parametrize(
    ("fault", "lasting"), [(fault, False) for fault in Fault] + [(fault, True) for fault in Fault if fault not in ONCE]
)
def test_whatever_operation_fails_nothing_promised_is_lost(
    fault: Fault, lasting: bool, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    for number in itertools.count(1):
        disk = disk_with_foreign_lines()
        layer = FaultyLayer(disk, fail_at=number, fault=fault, lasting=lasting)
        steps, asked = script(make_job)
        *_, promises = live(layer, open_queue, steps, asked)
        later = open_queue(disk)
        promises.check(later)
        promises.check_goes_on(later, make_job(), lambda disk=disk: open_queue(disk))  # type: ignore[misc]
        if not layer.fired:
            assert number > 100
            break


@pytest.mark.parametrize("fault", [Fault.EIO, Fault.KILL, Fault.TORN_KILL])
def test_what_is_left_after_a_fault_and_a_loss_of_power_keeps_every_promise(
    fault: Fault, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    for number in itertools.count(1, 11):
        disk = disk_with_foreign_lines()
        layer = FaultyLayer(disk, fail_at=number, fault=fault)
        steps, asked = script(make_job)
        *_, promises = live(layer, open_queue, steps, asked)
        for state in itertools.islice(disk.crash_states(), 0, None, 11):
            promises.check(open_queue(state))
        if not layer.fired:
            break


def test_whenever_the_power_goes_every_promise_is_kept(open_queue: OpenQueue, make_job: MakeJob) -> None:
    assert power_loss(open_queue, make_job, every=37) > 300


def power_loss(open_queue: OpenQueue, make_job: MakeJob, *, every: int) -> int:
    """How many different states were looked at."""
    layer = RecordingLayer(disk_with_foreign_lines())
    steps, asked = script(make_job)
    promised: list[tuple[int, Promises]] = []
    for promises in live(layer, open_queue, steps, asked):
        copy = Promises(dict(promises.kept), set(promises.gone), set(promises.dead), asked=asked)
        promised.append((len(layer.operations), copy))
    seen: set[tuple[int, tuple[tuple[Path, bytes], ...]]] = set()
    states = (
        (done, state)
        for done, disk in replay(layer.operations, disk_with_foreign_lines())
        for state in disk.crash_states()
    )
    for number, (done, state) in enumerate(states):
        index = max(i for i, (at, _) in enumerate(promised) if at <= done)
        snapshot = (index, tuple(sorted(state.files().items())))
        if snapshot in seen or number % every:
            continue
        seen.add(snapshot)
        promises = promised[index][1]
        running = steps[index][2] if index < len(steps) else set()
        again = Promises(promises.kept, promises.gone, promises.dead, set(running), asked)
        queue = open_queue(state)
        again.check(queue)
        again.check_goes_on(queue, make_job(), lambda state=state: open_queue(state))  # type: ignore[misc]
    return len(seen)


def failing_sync(disk: MemoryLayer, open_queue: OpenQueue, work: Step) -> DurableQueue:
    """A queue whose next sync fails when it does ``work`` again."""
    recording = RecordingLayer(disk)
    layer = FaultyLayer(recording, fail_at=10**9, fault=Fault.EIO)
    queue = open_queue(layer)
    work(queue)
    recording.operations.clear()
    work(queue)
    names = [each.name for each in recording.operations if each.name not in {"unlock", "close"}]
    layer._fail_at = layer.count + names.index("fsync") + 1
    return queue


def test_after_a_failed_sync_the_job_goes_into_a_new_segment_and_so_does_what_follows(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    queue = failing_sync(disk, open_queue, lambda q: q.append(make_job()))
    second, third, fourth = make_job(), make_job(), make_job()
    before = disk.files()[QUEUE]
    queue.append(second)
    queue.append(third)
    other = open_queue()
    other.append(fourth)
    assert disk.files()[QUEUE] == before
    assert disk.files()[SEGMENT].count(b"\n") == 3
    for state in disk.crash_states():
        assert [job.id for job in open_queue(state).waiting()][-3:] == [second.id, third.id, fourth.id]
    queue.compact()
    queue.ack([second.id])
    queue.compact()
    assert SEGMENT not in disk.files()
    assert [job.id for job in other.waiting()][-2:] == [third.id, fourth.id]
    other.append(make_job())
    assert SEGMENT not in disk.files()


class NoSync(RecordingLayer):
    """A disk that writes, and never syncs."""

    def fsync(self, fd: int) -> None:  # noqa: ARG002 - the protocol's
        raise OSError(errno.EIO, "no")


def test_where_every_sync_fails_nothing_is_promised_and_nothing_kept(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    open_queue().append(kept := make_job())
    queue = open_queue(NoSync(disk))
    for _ in range(3):
        with pytest.raises(StoreError):
            queue.append(make_job())
    assert [job.id for job in open_queue().waiting()] == [kept.id]


def test_after_a_failed_sync_acks_go_on_in_a_new_file(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    jobs = [make_job() for _ in range(4)]
    waiting = iter(jobs)
    open_queue().append_many(jobs)
    queue = failing_sync(disk, open_queue, lambda q: q.ack([next(waiting).id]))
    queue.ack([jobs[2].id])
    for state in disk.crash_states():
        assert [job.id for job in open_queue(state).waiting()] == [jobs[3].id]
    queue.ack([jobs[3].id])
    assert open_queue().waiting() == queue.waiting() == ()


def test_a_torn_line_is_ended_so_that_the_next_append_can_be_read(
    disk: MemoryLayer, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    first, second = make_job(), make_job()
    queue = open_queue()
    queue.append(first)
    fd = disk.open(QUEUE, os.O_WRONLY | os.O_APPEND)
    disk.write(fd, queue.line(make_job())[:100])
    queue.append(second)
    assert [job.id for job in open_queue().waiting()] == [first.id, second.id]
    assert [row.reason for row in queue.set_aside()] == ["torn"]
