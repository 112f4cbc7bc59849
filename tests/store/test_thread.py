"""Disk work never runs in the event loop's thread, and a caller who gives up stops it."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hindbrain.contracts import RecallQuery, RetainItem
from hindbrain.store import EmbeddedBackend, _write
from hindbrain.store._worker import Job, JobStopped, Worker

if TYPE_CHECKING:
    from store.conftest import Ask, Keep

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


class Watched(sqlite3.Connection):
    threads: set[str] = set()  # noqa: RUF012  (filled by the test)

    def execute(self, *args: Any) -> sqlite3.Cursor:
        self.threads.add(threading.current_thread().name)
        return super().execute(*args)


async def test_sqlite_runs_in_one_thread_of_the_stores_own(
    backend: EmbeddedBackend, keep: Keep, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, factory=Watched, **k))
    Watched.threads.clear()
    await asyncio.gather(keep("The tide turns."), ask("tide"), backend.delete("bank", "none"))
    await backend.close()
    assert len(Watched.threads) == 1
    assert Watched.threads.pop().startswith("hindbrain-store")


async def test_the_loop_goes_on_while_the_disk_works(backend: EmbeddedBackend) -> None:
    released = threading.Event()
    waiting = asyncio.ensure_future(backend._worker.run(lambda _job: released.wait(10)))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    released.set()
    assert await waiting


async def test_a_cancelled_caller_interrupts_the_running_statement(
    backend: EmbeddedBackend, keep: Keep, ask: Ask
) -> None:
    await keep("The tide turns.")
    started = threading.Event()

    def endless(job: Job) -> object:
        connection = backend._files.make(job, "bank.sqlite", ())
        started.set()
        return connection.execute(ENDLESS).fetchone()

    task = asyncio.ensure_future(backend._worker.run(endless))
    await asyncio.to_thread(started.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(10):
        assert (await ask("tide")).facts, "the thread is free again"


async def test_a_retain_whose_caller_gives_up_leaves_nothing(
    backend: EmbeddedBackend, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on = threading.Event(), threading.Event()

    real = _write.retain

    def slow(*args: Any, **named: Any) -> int:
        stored = real(*args, **named)
        reached.set()
        go_on.wait(10)
        return stored

    with monkeypatch.context() as patched:
        patched.setattr("hindbrain.store._write.retain", slow)
        item = RetainItem(content="The tide turns.", document_id="doc")
        operation = "93e33487-6c92-5880-9b29-dc86689d9c26"
        task = asyncio.ensure_future(backend.retain("bank", item, operation_id=operation))
        await asyncio.to_thread(reached.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        assert not (await ask("tide")).facts
    await backend.retain("bank", item, operation_id=operation)
    assert (await ask("tide")).facts


async def test_work_that_waits_its_turn_is_dropped_with_its_caller() -> None:
    worker, release, ran = Worker("test"), threading.Event(), []
    first = asyncio.ensure_future(worker.run(lambda _job: release.wait(10)))
    second = asyncio.ensure_future(worker.run(lambda _job: ran.append(1)))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    release.set()
    await first
    await worker.close(lambda: None)
    assert ran == []


def test_a_stop_ends_the_job_and_leaves_the_connection_to_the_next() -> None:
    connection = sqlite3.connect(":memory:")
    job = Job()
    job.uses(connection)
    job.stop()
    with pytest.raises(sqlite3.OperationalError):
        connection.execute(ENDLESS).fetchone()
    with pytest.raises(JobStopped):
        job.check()
    job.done()
    assert connection.execute("SELECT 1").fetchone() == (1,)
    connection.close()


async def test_closing_twice_and_with_open_files_is_fine(root: Path) -> None:
    backend = EmbeddedBackend(root)
    for n in range(20):
        item = RetainItem(content="The tide turns.", document_id="doc")
        await backend.retain(f"bank-{n}", item, operation_id=f"93e33487-6c92-5880-9b29-0000000000{n:02d}")
    assert len(backend._files._open) <= 16
    assert (await backend.recall("bank-0", RecallQuery(text="tide"))).facts
    await backend.close()
    await backend.close()
