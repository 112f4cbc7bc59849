"""One throw-away PostgreSQL, reached through a Unix socket in its own folder: no port to clash over."""

import contextlib
import secrets
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

from _live.processes import Argv, Command, Process, run_checked, running, unprivileged
from _live.waiting import StopRequest

START_SECONDS = 60.0
_USER = "hindsight"
_STATUS_LINE = 7
# Nothing here is worth a sync: the data ends with the run.
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


@contextlib.contextmanager
def running_postgres(binaries: Path, folder: Path, stop: StopRequest) -> Iterator[tuple[Process, str]]:
    """Create a database below ``folder``, start it, and yield it with its URL.

    Raises:
        StoppedError: a signal came first.
        LiveError: it did not start.
    """
    home, account = folder / "postgres", unprivileged()
    # A copy, because the user it runs as may be barred from our checkout (a home folder is closed to nobody).
    shutil.copytree(binaries, home, symlinks=True)
    password, data = secrets.token_hex(16), home / "data"
    (home / "password").write_text(password)
    (home / "password").chmod(0o600)
    if account:
        account.own(home)
    # The ICU libraries find each other only through this path.
    env = {"HOME": str(home), "LC_ALL": "C.UTF-8", "LD_LIBRARY_PATH": str(home / "lib")}
    create: Argv = [home / "bin" / "initdb", "--pgdata", data, "--username", _USER, "--pwfile", home / "password"]
    create += ["--auth", "scram-sha-256", "--encoding", "UTF8", "--no-sync", "--no-instructions"]
    run_checked(Command("initdb", create, env, folder / "initdb.log", account), START_SECONDS, stop)

    serve: Argv = [home / "bin" / "postgres", "-D", data, "-c", f"unix_socket_directories={home}"]
    for name, value in _SETTINGS.items():
        serve += ["-c", f"{name}={value}"]
    command = Command(
        "PostgreSQL",
        serve,
        env,
        folder / "postgres.log",
        account,
        ends_with=signal.SIGINT,  # fast shutdown: do not wait for clients
        orphaned_with=signal.SIGQUIT,  # immediate shutdown: takes its own children along
    )
    with running(command) as process:
        process.wait_for(lambda: _accepts(data / "postmaster.pid"), START_SECONDS, stop)
        yield process, f"postgresql://{_USER}:{password}@/postgres?host={home}"


def _accepts(pid_file: Path) -> bool:
    if not pid_file.exists():
        return False
    lines = pid_file.read_text().splitlines()
    return len(lines) > _STATUS_LINE and lines[_STATUS_LINE].strip() == "ready"
