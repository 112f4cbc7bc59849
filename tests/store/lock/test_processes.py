"""One holder at a time among real processes, some of which are stopped or killed while they hold it."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest

from hindbrain.store._files import OsFileLayer
from hindbrain.store._lock import Lock, LockBusyError, Patience

HOLD = """
import sys
from pathlib import Path
from hindbrain.store._files import OsFileLayer
from hindbrain.store._lock import Lock

lock = Lock(OsFileLayer(), Path(sys.argv[1]), os_locks=sys.argv[2] == "True")
with getattr(lock, sys.argv[3])(30):
    print("held", flush=True)
    sys.stdin.readline()
"""

# Each turn is a read, a change and a write that would lose a count if another process came between, and a file that
# would be there already.
COUNT = """
import os, sys
from pathlib import Path
from hindbrain.store._files import OsFileLayer
from hindbrain.store._lock import Lock

folder = Path(sys.argv[1])
lock = Lock(OsFileLayer(), folder / "count.lock", os_locks=sys.argv[2] == "True")
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[4])):
    with getattr(lock, sys.argv[3])(50):
        os.close(os.open(folder / "inside", os.O_CREAT | os.O_EXCL))
        count = int((folder / "count").read_text())
        (folder / "count").write_text(str(count + 1))
        os.unlink(folder / "inside")
"""

Start: TypeAlias = Callable[..., "subprocess.Popen[str]"]
WAYS = [(True, "held"), (True, "light"), (False, "held")]


@pytest.fixture
def start() -> Iterator[Start]:
    with ExitStack() as stack:

        def run(code: str, *args: object) -> subprocess.Popen[str]:
            command = [sys.executable, "-c", code, *map(str, args)]
            process = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            return process

        yield run


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def impatient(folder: Path, *, os_locks: bool = True) -> Lock:
    """A lock whose wait passes at once."""
    passed = [0.0]

    def sleep(seconds: float) -> None:
        passed[0] += seconds

    return Lock(OsFileLayer(), folder, os_locks=os_locks, patience=Patience(lambda: passed[0], sleep))


@pytest.mark.parametrize(("os_locks", "way"), WAYS)
@pytest.mark.req("S0-queue-006")
def test_another_process_waits_until_it_is_let_go(tmp_path: Path, start: Start, os_locks: bool, way: str) -> None:
    folder = tmp_path / "queue.lock"
    holder = start(HOLD, folder, os_locks, way)
    assert said(holder) == "held"
    waiting = start(HOLD, folder, os_locks, way)
    with pytest.raises(LockBusyError), impatient(folder, os_locks=os_locks).held(5):
        pass
    tell(holder)
    assert said(waiting) == "held"
    tell(waiting)
    assert (holder.wait(), waiting.wait()) == (0, 0)


@pytest.mark.parametrize("way", ["held", "light"])
def test_a_killed_holder_holds_nothing(tmp_path: Path, start: Start, way: str) -> None:
    folder = tmp_path / "queue.lock"
    holder = start(HOLD, folder, "True", way)
    assert said(holder) == "held"
    holder.kill()
    holder.wait()
    with Lock(OsFileLayer(), folder).held(0):
        pass


@pytest.mark.parametrize(("os_locks", "way"), WAYS)
def test_a_stopped_holder_costs_others_a_bounded_wait_and_keeps_its_lock(
    tmp_path: Path, start: Start, os_locks: bool, way: str
) -> None:
    folder = tmp_path / "queue.lock"
    holder = start(HOLD, folder, os_locks, way)
    assert said(holder) == "held"
    os.kill(holder.pid, signal.SIGSTOP)
    os.waitpid(holder.pid, os.WUNTRACED)
    for _ in range(3):
        with pytest.raises(LockBusyError) as caught, impatient(folder, os_locks=os_locks).held(5):
            pass
        assert all(word in str(caught.value) for word in (str(folder), f"process {holder.pid} on {platform.node()}"))
    os.kill(holder.pid, signal.SIGCONT)
    tell(holder)
    assert holder.wait() == 0
    with Lock(OsFileLayer(), folder, os_locks=os_locks).held(0):
        pass


@pytest.mark.parametrize(("os_locks", "way"), WAYS)
def test_among_many_processes_each_turn_counts_once(tmp_path: Path, start: Start, os_locks: bool, way: str) -> None:
    (tmp_path / "count").write_text("0")
    processes = [start(COUNT, tmp_path, os_locks, way, 25) for _ in range(4)]
    assert [said(process) for process in processes] == ["ready"] * 4
    for process in processes:
        tell(process)
    assert [process.wait() for process in processes] == [0] * 4
    assert (tmp_path / "count").read_text() == "100"


def test_of_many_processes_that_find_a_stale_lock_each_gets_its_turn_alone(tmp_path: Path, start: Start) -> None:
    (tmp_path / "count").write_text("0")
    (tmp_path / "count.lock").mkdir()
    (tmp_path / "count.lock" / "owner").write_text(
        '{"pid": 1, "host": "gone", "acquiredAt": "2001-01-01T00:00:00Z", "token": "old"}'
    )
    processes = [start(COUNT, tmp_path, "False", "held", 1) for _ in range(6)]
    assert [said(process) for process in processes] == ["ready"] * 6
    for process in processes:
        tell(process)
    assert [process.wait() for process in processes] == [0] * 6
    assert (tmp_path / "count").read_text() == "6"
    assert not (tmp_path / "count.lock").exists()


def test_a_child_made_by_a_fork_does_not_take_the_parents_lock_for_its_own(tmp_path: Path) -> None:
    lock = Lock(OsFileLayer(), tmp_path / "queue.lock")
    with lock.light(0):
        pass
    other = Lock(OsFileLayer(), tmp_path / "queue.lock")
    with other.light(0):
        # What the child of a fork has: the parent's descriptor under a process number of its own.
        lock._file._pid = -1
        with pytest.raises(LockBusyError), lock.light(0):
            pass
    with lock.held(0):
        assert lock._file._pid == os.getpid()


@pytest.mark.req("S0-queue-005")
def test_appends_under_it_from_many_threads_of_one_process_are_whole_and_there_once(tmp_path: Path) -> None:
    code = """
import os, sys, threading
from pathlib import Path
from hindbrain.store._files import OsFileLayer, open_state, write_all
from hindbrain.store._lock import Lock

layer, folder = OsFileLayer(), Path(sys.argv[1])
lock = Lock(layer, folder / "queue.lock")
fd = open_state(layer, folder / "queue", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

class Slow(OsFileLayer):
    def write(self, fd, data):
        return super().write(fd, data[:7])

def append(number):
    with lock.light(50):
        write_all(Slow(), fd, b"line %03d\\n" % number * 3)

threads = [threading.Thread(target=append, args=(number,)) for number in range(32)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    lines = (tmp_path / "queue").read_bytes().splitlines(keepends=True)
    assert sorted(lines) == sorted(b"line %03d\n" % number for number in range(32) for _ in range(3))
    assert [lines[at] for at in range(0, 96, 3)] == [lines[at] for at in range(2, 96, 3)]
