"""Whatever lies in the files, jobs of this user are found and nothing else is sent."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.contracts import RetainJob
from hindbrain.store import StoreFullError
from hindbrain.store._queue import DurableQueue, JobDamagedError, Reason, UnknownJobError
from hindbrain.store._seal import SealKey
from hindbrain.store.testing import MemoryLayer, RecordingLayer

MakeJob = Callable[..., RetainJob]
OpenQueue = Callable[..., DurableQueue]

QUEUE = Path("/state/retain-queue.jsonl")
ACKS = Path("/state/retain-queue.jsonl.acks.jsonl")
DEAD = Path("/state/retain-queue.jsonl.dead.jsonl")
MALFORMED = Path("/state/retain-queue.jsonl.malformed.jsonl")
OTHERS = json.dumps(
    {
        "id": "0f0e0d0c-0000-4000-8000-000000000001",
        "bankId": "bank",
        "createdAt": "2026-01-01T00:00:00.000Z",
        "documentId": "pi-session:1",
        "updateMode": "append",
        "item": {"content": "MARKER-42", "context": "", "timestamp": "2026-01-01T00:00:00Z", "async": True, "tags": []},
        "retries": 2,
    }
).encode()


class NoWrite(RecordingLayer):
    """A disk that is full."""

    is_full = True

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, "full")
        return super().write(fd, data)


def line_of(open_queue: OpenQueue, job: RetainJob) -> bytes:
    return open_queue(MemoryLayer(), path=Path("/q/q.jsonl")).line(job).rstrip(b"\n")


def with_files(open_queue: OpenQueue, **files: bytes) -> tuple[MemoryLayer, DurableQueue]:
    named = {"queue": QUEUE, "acks": ACKS, "dead": DEAD, "malformed": MALFORMED}
    disk = MemoryLayer.holding({named[name]: data for name, data in files.items()})
    return disk, open_queue(disk)


@pytest.mark.req("S0-queue-008")
def test_a_broken_line_is_set_aside_with_its_reason_and_does_not_stop_the_others(
    open_queue: OpenQueue, make_job: MakeJob
) -> None:
    first, second = make_job(), make_job()
    lines = [line_of(open_queue, first), b'{"broken', b'{"id":1}', line_of(open_queue, second)]
    disk, queue = with_files(open_queue, queue=b"\n".join(lines) + b"\n")
    assert [queue.load(job.id) for job in queue.waiting()] == [first, second]
    rows = [json.loads(row) for row in disk.files()[MALFORMED].splitlines()]
    assert [(row["line"], row["reason"]) for row in rows] == [('{"broken', "malformed"), ('{"id":1}', "malformed")]
    assert queue.counts().malformed == 2
    for _ in range(2):
        assert open_queue(disk).counts().malformed == 2
    queue.compact()
    assert b"broken" not in disk.files()[QUEUE]


@pytest.mark.parametrize(
    "around",
    [
        pytest.param((b"\xef\xbb\xbf", b"\n", b"\n"), id="byte order mark"),
        pytest.param((b"", b"\r\n", b"\r\n"), id="carriage returns"),
        pytest.param((b"\0" * 600, b"\n" + b"\0" * 40 + b"\n", b"\n"), id="zeros"),
        pytest.param((b"\n \n", b"\n\n\n", b""), id="blank lines and no last line break"),
        pytest.param((b"\xff\xfe\x80\n", b"\n\xc3\n", b"\n"), id="bytes that are no UTF-8"),
    ],
)
def test_what_other_programs_and_broken_disks_leave_around_lines_does_no_harm(
    around: tuple[bytes, bytes, bytes], open_queue: OpenQueue, make_job: MakeJob
) -> None:
    first, second = make_job(), make_job()
    before, between, after = around
    data = before + line_of(open_queue, first) + between + line_of(open_queue, second) + after
    disk, queue = with_files(open_queue, queue=data)
    assert [queue.load(job.id) for job in queue.waiting()] == [first, second]
    queue.append(third := make_job())
    assert [job.id for job in open_queue(disk).waiting()] == [first.id, second.id, third.id]
    queue.ack([first.id])
    queue.compact()
    assert [open_queue(disk).load(each.id) for each in (second, third)] == [second, third]


def test_a_line_of_a_hundred_megabytes_is_read_over(tmp_path: Path, key: SealKey, make_job: MakeJob) -> None:
    path = tmp_path / "state" / "queue.jsonl"
    queue = DurableQueue.open(path, key=key)
    queue.append(first := make_job())
    queue.close()
    with path.open("ab") as file:
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b"\n")
    later = DurableQueue.open(path, key=key)
    later.append(second := make_job())
    assert [job.id for job in later.waiting()] == [first.id, second.id]
    assert later.counts().malformed == 1
    later.close()


def test_a_large_job_comes_back_whole(open_queue: OpenQueue, make_job: MakeJob) -> None:
    queue = open_queue()
    queue.append(job := make_job(content="ü" * 5_000_000))
    queue.append(make_job())
    assert open_queue().load(job.id) == job


def test_a_queue_of_a_cloned_repository_is_never_sent_until_it_is_adopted(
    open_queue: OpenQueue, make_job: MakeJob
) -> None:
    stranger = SealKey(b"s" * 32)
    theirs = make_job(content="MARKER-42")
    sealed = open_queue(MemoryLayer(), path=Path("/q/q.jsonl"), key=stranger).line(theirs)
    disk, queue = with_files(open_queue, queue=OTHERS + b"\n" + sealed)
    for job in queue.waiting():
        with pytest.raises(JobDamagedError):
            queue.load(job.id)
    assert queue.waiting() == ()
    assert queue.covers() == ()
    counts = queue.counts()
    assert (counts.waiting, counts.unsealed, counts.malformed) == (0, 2, 0)
    assert "MARKER-42" not in repr(counts) + repr(queue.set_aside())
    assert [row.reason for row in queue.set_aside()] == [Reason.UNSEALED, Reason.UNSEALED]
    assert queue.adopt() == 2
    later = open_queue(disk)
    first, second = later.waiting()
    assert first.operation_id == "0f0e0d0c-0000-4000-8000-000000000001"
    assert later.load(second.id) == theirs
    assert later.counts().unsealed == 0
    assert later.adopt() == 0


def test_acks_of_a_cloned_repository_are_not_believed(open_queue: OpenQueue, make_job: MakeJob) -> None:
    job = make_job()
    theirs = MemoryLayer()
    other = open_queue(theirs, key=SealKey(b"s" * 32))
    other.append(job)
    other.ack([job.id])
    acks = theirs.files()[ACKS] + b'{"ack":["' + job.id.encode() + b'"]}\n' + b"junk\n"
    _, queue = with_files(open_queue, queue=line_of(open_queue, job) + b"\n", acks=acks)
    assert [each.id for each in queue.waiting()] == [job.id]
    found = queue.verify()
    assert (found.damaged_records, found.is_sound) == (3, False)


def test_dead_letters_of_a_cloned_repository_are_shown_and_stay_dead(open_queue: OpenQueue) -> None:
    _, queue = with_files(open_queue, dead=OTHERS + b"\n\nno letter\n")
    (letter,) = queue.dead()
    assert not letter.is_sealed
    for refused in (queue.requeue, queue.show_dead):
        with pytest.raises(JobDamagedError):
            refused(letter.id)
    queue.drop(letter.id)
    assert queue.dead() == ()
    with pytest.raises(UnknownJobError):
        queue.drop(letter.id)


def test_rows_of_other_programs_among_what_was_set_aside_are_kept(open_queue: OpenQueue) -> None:
    row = json.dumps({"quarantinedAt": "t", "sourceQueue": "q", "line": "junk"}).encode()
    disk, queue = with_files(open_queue, queue=OTHERS + b"\n", malformed=row + b"\nnot even json\n")
    assert [(each.reason, each.text) for each in queue.set_aside()][:1] == [(Reason.MALFORMED, "junk")]
    assert queue.adopt() == 1
    assert disk.files()[MALFORMED] == row + b"\nnot even json\n"


def test_where_lines_cannot_be_set_aside_they_are_neither_sent_nor_lost(
    open_queue: OpenQueue, make_job: MakeJob
) -> None:
    job = make_job()
    lines = b"{broken\n" + OTHERS + b"\n" + line_of(open_queue, job) + b"\n"
    disk = MemoryLayer.holding({QUEUE: lines, QUEUE.with_name(".gitignore"): b"*\n"})
    layer = NoWrite(disk)
    queue = open_queue(layer)
    assert [each.id for each in queue.waiting()] == [job.id]
    with pytest.raises(StoreFullError):
        queue.compact()
    layer.is_full = False
    assert (queue.counts().malformed, queue.counts().unsealed) == (1, 1)
    queue.append(later := make_job())
    assert [each.id for each in open_queue(disk).waiting()] == [job.id, later.id]


@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_flipped_byte_is_noticed_and_costs_no_other_job(
    place: float, flip: int, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    jobs = [make_job(content="x" * 20) for _ in range(3)]
    lines = [line_of(open_queue, job) for job in jobs]
    whole = b"\n".join(lines) + b"\n"
    at = int(place * len(whole))
    broken = bytearray(whole)
    broken[at] ^= flip
    disk, queue = with_files(open_queue, queue=bytes(broken))
    hit = {i for i in range(3) if sum(len(line) + 1 for line in lines[:i]) <= at <= sum(map(len, lines[: i + 1])) + i}
    if whole[at : at + 1] == b"\n":
        hit |= {min(2, min(hit) + 1)}
    loaded = []
    for each in queue.waiting():
        try:
            loaded.append(queue.load(each.id))
        except JobDamagedError:
            continue
    assert [job for job in jobs if job in loaded] == loaded
    assert all(jobs[i] in loaded for i in {0, 1, 2} - hit)
    lost = [job for job in jobs if job not in loaded]
    set_aside = b"".join(row.text.encode("utf-8", "surrogateescape") for row in queue.set_aside())
    assert not lost or set_aside
    queue.append(later := make_job())
    assert open_queue(disk).load(later.id) == later


def test_of_a_line_that_is_there_twice_the_sound_copy_counts(open_queue: OpenQueue, make_job: MakeJob) -> None:
    job = make_job()
    line = line_of(open_queue, job)
    damaged = line.replace(b"content", b"CONTENT", 2)
    for data in (damaged + b"\n" + line + b"\n", line + b"\n" + damaged + b"\n"):
        disk, queue = with_files(open_queue, queue=data)
        queue.compact()
        assert open_queue(disk).load(job.id) == job
        assert len(open_queue(disk).waiting()) == 1


def test_a_segment_that_was_rolled_back_repeats_nothing_that_is_done(open_queue: OpenQueue, make_job: MakeJob) -> None:
    disk = MemoryLayer()
    queue = open_queue(disk)
    first, second = make_job(), make_job()
    queue.append(first)
    old = disk.files()[QUEUE]
    queue.append(second)
    queue.ack([first.id])
    files = {**disk.files(), QUEUE: old, QUEUE.with_name("retain-queue.jsonl.1.jsonl"): old + old}
    later = open_queue(MemoryLayer.holding(files))
    assert later.waiting() == ()


@given(queue=st.binary(max_size=300), acks=st.binary(max_size=300), dead=st.binary(max_size=300))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_in_any_file_are_survived(
    queue: bytes, acks: bytes, dead: bytes, open_queue: OpenQueue, make_job: MakeJob
) -> None:
    disk, opened = with_files(open_queue, queue=queue, acks=acks, dead=dead, malformed=dead)
    opened.append(job := make_job())
    assert open_queue(disk).load(job.id) == job
    for look in (opened.counts, opened.dead, opened.verify, opened.set_aside, opened.covers, opened.compact):
        look()
    assert open_queue(disk).load(job.id) == job


@given(
    fields=st.fixed_dictionaries(
        {
            "content": st.text().map("x".__add__),
            "context": st.none() | st.text(min_size=1),
            "metadata": st.dictionaries(st.text(), st.text()),
            "tags": st.lists(st.text(st.characters(categories=["L", "N", "P"]), min_size=1)),
        }
    )
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_item_comes_back_as_it_was(fields: dict[str, Any], open_queue: OpenQueue, make_job: MakeJob) -> None:
    job = make_job(**fields)
    disk = MemoryLayer()
    open_queue(disk).append(job)
    assert open_queue(disk).load(job.id) == job


def test_a_job_behind_a_damaged_line_break_of_a_done_one_is_set_aside_before_its_line_is_dropped(
    open_queue: OpenQueue, make_job: MakeJob, disk: MemoryLayer
) -> None:
    queue = open_queue()
    done, waiting, other = make_job(), make_job(), make_job()
    queue.append_many([done, waiting, other])
    queue.ack([done.id])
    damaged = MemoryLayer.holding({**disk.files(), QUEUE: disk.files()[QUEUE].replace(b"\n", b"*", 1)})
    later = open_queue(damaged)
    assert not later.verify().is_sound
    later.compact()
    [aside] = later.set_aside()
    assert waiting.item.content in aside.text
    assert [job.id for job in later.waiting()] == [other.id]
