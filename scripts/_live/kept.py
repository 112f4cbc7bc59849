"""A server that stays up between commands: a supervisor in the background, and one folder to find it by.

The folder holds ``lock`` (held by the supervisor for as long as it lives: the truth about whether it runs),
``supervisor.pid``, ``server.env`` (shell lines; there once the server is healthy) and ``supervisor.log``.
"""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from _live.hindsight import API_SECONDS, running_server
from _live.install import HERE, INSTALL_SECONDS
from _live.report import say
from _live.run_dir import held, is_held
from _live.waiting import PAUSE, LiveError, StoppedError, StopRequest, holds_within, wait_until

UP_SECONDS = INSTALL_SECONDS + 2 * API_SECONDS
DOWN_SECONDS = 90.0


def up(folder: Path, stop: StopRequest) -> str:
    """Start a server that outlives this process, unless ``folder`` already has one; return its shell lines.

    Raises:
        StoppedError: a signal came first; nothing is left running.
        LiveError: the server did not start; nothing is left running.
    """
    folder.mkdir(parents=True, exist_ok=True)
    env_file = folder / "server.env"
    if is_held(folder / "lock"):
        wait_until(env_file.exists, UP_SECONDS, "The server that another command is starting", stop)
        return env_file.read_text()
    log = folder / "supervisor.log"
    with log.open("wb") as output:
        supervisor = subprocess.Popen(
            [sys.executable, HERE / "server.py", "serve", "--dir", folder],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    def settled() -> bool:
        return env_file.exists() or supervisor.poll() is not None

    try:
        wait_until(settled, UP_SECONDS, "Starting the server", stop)
    except LiveError:
        down(folder)
        raise
    sys.stderr.write(log.read_text())
    if supervisor.poll() is not None:
        raise LiveError(f"The server did not start; its log is {log}.")
    return env_file.read_text()


def serve(folder: Path, stop: StopRequest) -> None:
    """Be the supervisor: run a server until a signal comes or one of its processes ends."""
    folder.mkdir(parents=True, exist_ok=True)
    env_file, pid_file = folder / "server.env", folder / "supervisor.pid"
    with contextlib.ExitStack() as stack:
        stack.enter_context(held(folder / "lock", 0.0, stop))
        for path in (env_file, pid_file):
            path.unlink(missing_ok=True)
            stack.callback(path.unlink, missing_ok=True)
        pid_file.write_text(str(os.getpid()))
        with running_server(stop) as server:
            lines = [f"export {name}={shlex.quote(value)}\n" for name, value in server.environment().items()]
            _write_private(env_file, "".join(lines))
            with contextlib.suppress(StoppedError):
                while True:
                    stop.check()
                    server.check()
                    time.sleep(PAUSE)


def down(folder: Path) -> bool:
    """Stop the server of ``folder`` and return whether there was one."""
    lock, pid_file = folder / "lock", folder / "supervisor.pid"
    if not is_held(lock):
        return False
    if not holds_within(pid_file.exists, PAUSE * 20):
        raise LiveError(f"{lock} is held, but {pid_file} is missing. Find the holder and end it by hand.")
    pid = int(pid_file.read_text())
    for signum, seconds in ((signal.SIGTERM, DOWN_SECONDS), (signal.SIGKILL, DOWN_SECONDS)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signum)
        if holds_within(lambda: not is_held(lock), seconds):
            return True
        say(f"The supervisor (process {pid}) has not ended {seconds:.0f} s after {signum.name}.")
    raise LiveError(f"The supervisor (process {pid}) cannot be ended.")


def _write_private(path: Path, text: str) -> None:
    """Write whole or not at all: whoever waits for the file reads it at once. It holds the key, hence 0600."""
    partial = path.with_suffix(".partial")
    partial.touch(mode=0o600)
    partial.write_text(text)
    partial.replace(path)
