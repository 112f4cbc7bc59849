"""Part 6: a holder is stopped past its lease and goes on later: never two committers, others wait a bounded time."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from chaos.finding import Finding, Scale
from chaos.holders import LEASE, commit, lock_in
from chaos.nursery import Nursery, nursery
from chaos.server import RecordingServer
from chaos.subjects import Jobs
from chaos.workers import POLICY, Place

from hindbrain.store import StoreError
from hindbrain.store._lock import LockBusyError

_WAIT = 0.1
_BOUND = 2.0
"""Seconds in which a refusal has to come: generous, since the machine may be busy."""


def run(rng: Random, scale: Scale) -> Finding:
    """Stop holders of both kinds of lock, and flushers, several times."""
    finding = Finding()
    with nursery() as nest:
        for _ in range(scale.pick(3, 40)):
            for os_locks in (True, False):
                stopped_holder(nest, finding, os_locks=os_locks)
            holder_of_another_machine(nest, finding)
            stopped_flusher(nest, rng, finding)
    return finding


def until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait for it.

    Raises:
        TimeoutError: it did not come.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.005)


def stopped_holder(nest: Nursery, finding: Finding, *, os_locks: bool) -> None:
    """Of the same machine: it lives, so nobody takes its lock, however long ago it renewed."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        pid = nest.start("hold", scratch, os_locks, module="chaos.holders")
        until((root / "held").exists)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(LEASE.total_seconds() * 1.5)
        begun = time.monotonic()
        mine = lock_in(root, os_locks=os_locks)
        try:
            with mine.held(_WAIT):
                commit(root, "thief")
        except LockBusyError as error:
            finding.expect(str(pid) in str(error), "a refusal does not name the holder")
        else:
            finding.violations.append(f"the lock of a live holder was taken (OS locks: {os_locks})")
        finding.expect(time.monotonic() - begun < _BOUND, "the wait was not bounded")
        (root / "go").touch()
        os.kill(pid, signal.SIGCONT)
        nest.wait(pid)
        with mine.held(5.0):
            commit(root, "next")
        mine.close()
        commits = (root / "commits").read_text().split()
        finding.expect(commits == ["holder", "next"], f"committed: {commits}")
        finding.tried["stopped holders"] += 1


def holder_of_another_machine(nest: Nursery, finding: Finding) -> None:
    """Without OS locks, seen from another machine, its lease runs out: then it must not commit any more."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        pid = nest.start("hold", scratch, False, module="chaos.holders")  # noqa: FBT003 - an argument of the worker's
        until((root / "held").exists)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(LEASE.total_seconds() * 1.5)
        with lock_in(root, os_locks=False, host="another").held(5.0) as held:
            held.renew()
            commit(root, "other")
        (root / "go").touch()
        os.kill(pid, signal.SIGCONT)
        nest.wait(pid)
        commits = (root / "commits").read_text().split()
        finding.expect(commits == ["other"] and (root / "lost").exists(), f"committed: {commits}")
        finding.tried["leases run out"] += 1


def stopped_flusher(nest: Nursery, rng: Random, finding: Finding) -> None:
    """In the middle of a request: another flusher is told so, appends go on, each job takes effect once."""
    server = RecordingServer(Random(rng.random()), trouble=0.0)
    server.hold()
    with tempfile.TemporaryDirectory() as scratch, server.running():
        place = Place(Path(scratch), server.url)
        asyncio.run(_beside_a_stopped_flusher(nest, place, server, Jobs(rng), finding))
        effects = Counter(content for contents in server.documents.values() for content in contents)
        finding.expect(len(effects) == 4 and set(effects.values()) == {1}, f"took effect: {sorted(effects.values())}")
        finding.tried["stopped flushers"] += 1


async def _beside_a_stopped_flusher(
    nest: Nursery, place: Place, server: RecordingServer, jobs: Jobs, finding: Finding
) -> None:
    state = await place.open()
    made = [jobs.one() for _ in range(4)]
    await state.ask(lambda queue: queue.append_many(made[:3]))
    pid = nest.start("flush_once", str(place.root), server.url, module="chaos.holders")
    async with place.client() as client:
        until(lambda: server.counts["requests"])
        os.kill(pid, signal.SIGSTOP)
        report = await state.flusher(client, POLICY).flush()
        finding.expect(report.busy, "a second flusher works beside a stopped one")
        try:
            await state.ask(lambda queue: queue.append(made[3]))
        except StoreError as error:
            finding.violations.append(f"an append beside a stopped flusher is refused: {error.code}")
        server.release()
        os.kill(pid, signal.SIGCONT)
        nest.wait(pid)
        await state.flusher(client, POLICY).flush()
    await state.close()
