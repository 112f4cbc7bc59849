"""The commands behind scripts/live."""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from _live import kept
from _live.hindsight import LiveServer, keep_logs, running_server
from _live.install import CACHE, ROOT
from _live.processes import die_with_parent
from _live.report import say, timed
from _live.waiting import LiveError, StoppedError, StopRequest, holds_within, wait_until

TEST_SECONDS = 1800.0
# What pytest gets on a stop: time to tear fixtures down, then less and less.
STOP_LADDER = ((signal.SIGINT, 30.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code (130 and the like after a signal)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    stop = StopRequest()
    stop.listen()
    try:
        return _dispatch(arguments, stop)
    except StoppedError as stopped:
        say(str(stopped))
        return 128 + stopped.signum
    except LiveError as error:
        say(str(error))
        return 1


def _dispatch(arguments: list[str], stop: StopRequest) -> int:
    if arguments[:1] == ["test"]:
        return _test(arguments[1:], stop)
    parser = argparse.ArgumentParser(prog="server.py", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("test", help="run tests/live against a server of its own; takes pytest's arguments")
    for name, text in (
        ("up", "start a server that stays"),
        ("serve", "the same, in the foreground"),
        ("down", "stop that server"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--dir", type=Path, default=CACHE / "kept", help="its state (default: %(default)s)")
    options = parser.parse_args(arguments)
    folder = options.dir.resolve()
    if options.command == "up":
        print(kept.up(folder, stop), end="")
        say(f"It stays until: scripts/live --stop{'' if folder == CACHE / 'kept' else f' --dir {folder}'}")
    elif options.command == "serve":
        kept.serve(folder, stop)
    else:
        say("stopped" if kept.down(folder) else f"no server runs in {folder}")
    return 0


def _test(pytest_arguments: list[str], stop: StopRequest) -> int:
    with running_server(stop) as server:
        with timed("tests"):
            code = _pytest(server, pytest_arguments, stop)
        if code != 0:
            say(f"pytest ended with code {code}. The server's logs are in {keep_logs(server.folder)}.")
        return code


def _pytest(server: LiveServer, arguments: list[str], stop: StopRequest) -> int:
    """Run pytest in our own process group, so that a terminal's Ctrl-C and a debugger reach it."""
    named = any((ROOT / argument.partition("::")[0]).exists() for argument in arguments)
    argv = [sys.executable, "-m", "pytest", *([] if named else ["tests/live"]), *arguments]
    tests = subprocess.Popen(
        argv,
        cwd=ROOT,
        env=os.environ | server.environment(),
        preexec_fn=die_with_parent(signal.SIGINT),  # noqa: PLW1509 - one thread; see die_with_parent
    )

    def ended() -> bool:
        server.check()
        return tests.poll() is not None

    try:
        wait_until(ended, TEST_SECONDS, "pytest", stop)
    finally:
        _end_tests(tests, stop)
    return tests.returncode


def _end_tests(tests: subprocess.Popen[bytes], stop: StopRequest) -> None:
    # The terminal has already sent its Ctrl-C to pytest too; a second one would cut the teardown short.
    told = stop.signum == signal.SIGINT and os.isatty(0)
    for signum, seconds in STOP_LADDER:
        if tests.poll() is not None:
            return
        if not (told and signum == signal.SIGINT):
            tests.send_signal(signum)
        holds_within(lambda: tests.poll() is not None, seconds)
