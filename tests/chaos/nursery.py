"""A process that has everything imported and gives birth to workers: a start costs milliseconds, a kill is a kill.

Run as a program it reads one JSON line for each worker (``{"module", "function", "args"}``), forks, and writes the pid;
when a worker ends it writes ``-pid status``. It ends with its input, and its workers with it.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import define, field

_ROOT = Path(__file__).resolve().parents[1]
_PRELOAD = ("hindbrain.client", "hindbrain.generic", "hindbrain.store", "httpx", "chaos.workers")
_DIE_WITH_PARENT = 1


@define
class Nursery:
    """The other end: ``start`` gives a worker's pid, ``wait`` its exit status (negative: the signal)."""

    process: subprocess.Popen[str]
    _ended: dict[int, int] = field(factory=dict)

    def start(self, function: str, *args: Any, module: str = "chaos.workers") -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"module": module, "function": function, "args": args}) + "\n")
        self.process.stdin.flush()
        while True:
            pid, status = self._line()
            if pid > 0:
                return pid
            self._ended[-pid] = status

    def wait(self, pid: int) -> int:
        while pid not in self._ended:
            ended, status = self._line()
            self._ended[-ended] = status
        return self._ended.pop(pid)

    def kill(self, pid: int) -> int:
        os.kill(pid, signal.SIGKILL)
        return self.wait(pid)

    def _line(self) -> tuple[int, int]:
        assert self.process.stdout is not None
        pid, status = self.process.stdout.readline().split()
        return int(pid), int(status)


@contextmanager
def nursery() -> Iterator[Nursery]:
    """A nursery for as long as the block lasts; its workers end with it."""
    command = [sys.executable, str(Path(__file__).resolve())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Nursery(process)
        finally:
            process.kill()


def _serve() -> None:
    for name in _PRELOAD:
        importlib.import_module(name)
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    rest = b""
    while True:
        ready, _, _ = select.select([0, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            _tell_ended()
        if 0 in ready:
            part = os.read(0, 65536)
            if not part:
                return
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                _fork(json.loads(line), wake, woken)


def _say(pid: int, status: int) -> None:
    sys.stdout.write(f"{pid} {status}\n")
    sys.stdout.flush()


def _tell_ended() -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        _say(-pid, os.waitstatus_to_exitcode(status))


def _fork(order: dict[str, Any], *pipe: int) -> None:
    pid = os.fork()
    if pid:
        _say(pid, 0)
        return
    code = 1
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, int(signal.SIGKILL))
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for fd in pipe:
            os.close(fd)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(2, 1)
        function = getattr(importlib.import_module(order["module"]), order["function"])
        code = function(*order["args"]) or 0
    except BaseException:  # noqa: BLE001 - a worker tells why it ended, and never returns into the nursery's loop
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.path.insert(0, str(_ROOT))
    _serve()
