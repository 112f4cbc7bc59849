"""Processes that are certain to end: each in a group of its own, and none outlives the one that started it."""

import contextlib
import ctypes
import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from _live.waiting import LiveError, StopRequest, holds_within, wait_until

GRACE = 15.0
LAST_GRACE = 5.0
LOG_TAIL_LINES = 25
_PR_SET_PDEATHSIG = 1

Argv: TypeAlias = list[str | Path]


@dataclass(frozen=True, slots=True)
class Account:
    """An unprivileged user to run as."""

    uid: int
    gid: int

    def own(self, path: Path) -> None:
        """Give ``path`` and all below it to this user."""
        for each in (path, *path.rglob("*")):
            os.chown(each, self.uid, self.gid, follow_symlinks=False)


def unprivileged() -> Account | None:
    """The account ``nobody`` when we are root (PostgreSQL refuses root), else None: run as ourselves."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam("nobody")
    return Account(entry.pw_uid, entry.pw_gid)


@dataclass(frozen=True, slots=True)
class Command:
    """What to start and how to end it."""

    name: str
    argv: Argv
    env: Mapping[str, str]
    log: Path
    account: Account | None = None
    ends_with: signal.Signals = signal.SIGTERM
    orphaned_with: signal.Signals = signal.SIGKILL


class Process:
    """A started command. ``pid`` leads its own process group."""

    def __init__(self, command: Command, popen: subprocess.Popen[bytes]) -> None:
        self._command = command
        self._popen = popen
        self.pid = popen.pid

    @property
    def name(self) -> str:
        return self._command.name

    def log_text(self) -> str:
        return self._command.log.read_text(errors="replace")

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._popen.poll()

    def check(self) -> None:
        """Raise LiveError, with the end of the log, if the process has gone."""
        if (code := self.exit_code()) is not None:
            raise LiveError(f"{self.name} ended by itself with code {code}. The end of its log:\n{self.log_tail()}")

    def log_tail(self) -> str:
        return "\n".join(self.log_text().splitlines()[-LOG_TAIL_LINES:])

    def wait_for(self, condition: Callable[[], bool], seconds: float, stop: StopRequest) -> None:
        """Wait until the process is ready.

        Raises:
            StoppedError: a signal came first.
            LiveError: the process ended, or was not ready within ``seconds``.
        """

        def ready() -> bool:
            self.check()
            return condition()

        wait_until(ready, seconds, f"{self.name}: becoming ready", stop)

    def end(self) -> None:
        """Ask it to end, wait, then kill what is left of its group."""
        if self.exit_code() is None:
            self._popen.send_signal(self._command.ends_with)
            holds_within(lambda: self.exit_code() is not None, GRACE)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        holds_within(self._group_is_gone, LAST_GRACE)
        if self.exit_code() is None:
            raise LiveError(f"{self.name} (process {self.pid}) survived SIGKILL. End it by hand.")

    def _group_is_gone(self) -> bool:
        self.exit_code()  # reaps the leader
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return True
        return False


@contextlib.contextmanager
def running(command: Command) -> Iterator[Process]:
    """Start ``command``; end it on the way out, however that comes."""
    process = _start(command)
    try:
        yield process
    finally:
        process.end()


def run(command: Command, seconds: float, stop: StopRequest) -> int:
    """Run ``command`` to its end and return its exit code.

    Raises:
        StoppedError: a signal came first; the command was ended.
        LiveError: it took more than ``seconds``; it was ended.
    """
    with running(command) as process:
        wait_until(lambda: process.exit_code() is not None, seconds, command.name, stop)
    return process.exit_code() or 0


def run_checked(command: Command, seconds: float, stop: StopRequest) -> None:
    """Run ``command`` to its end; a non-zero code is a LiveError with the end of its log."""
    with running(command) as process:
        wait_until(lambda: process.exit_code() is not None, seconds, command.name, stop)
        if process.exit_code() != 0:
            process.check()


def _start(command: Command) -> Process:
    account = command.account
    with command.log.open("wb") as log:
        popen = subprocess.Popen(
            [str(part) for part in command.argv],
            env=dict(command.env),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=command.log.parent,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            # Two system calls after the fork, and nothing here starts a thread.
            preexec_fn=die_with_parent(command.orphaned_with),  # noqa: PLW1509 - see the line above
        )
    return Process(command, popen)


def die_with_parent(signum: signal.Signals) -> Callable[[], None] | None:
    """For ``preexec_fn``: the kernel sends ``signum`` when the thread that started the process is gone (Linux only).

    It is what still ends everything when we ourselves are killed with SIGKILL.
    """
    if not sys.platform.startswith("linux"):
        return None
    parent, prctl = os.getpid(), ctypes.CDLL(None).prctl

    def arrange() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signum))
        if os.getppid() != parent:  # it died between the fork and the line above
            os._exit(1)

    return arrange
