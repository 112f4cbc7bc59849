"""The folder of one run: temporary, never shared, removed at the end, swept up by the next run if we were killed."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from _live.waiting import LiveError, StopRequest, wait_until

PREFIX = "hindbrain-live-"
_STAGING = "hindbrain-staging-"
_LOCK = "owner.lock"
_SOCKET_ROOM = 60  # a Unix socket's path has 107 bytes; this leaves room for our own names


@contextlib.contextmanager
def run_directory() -> Iterator[Path]:
    """A folder that every user may pass through (the database runs as another one) but only we may list.

    Its lock is held while we live, which is how another run tells a folder in use from one left behind.
    """
    base = _base()
    _sweep(base)
    staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=base))
    staging.chmod(0o711)
    with (staging / _LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Named for the sweep only once the lock is held: no other run can find it unlocked.
        path = staging.rename(base / staging.name.replace(_STAGING, PREFIX))
        try:
            yield path
        finally:
            shutil.rmtree(path)


@contextlib.contextmanager
def held(path: Path, seconds: float, stop: StopRequest) -> Iterator[None]:
    """Hold the lock file ``path``; LiveError if another process keeps it longer than ``seconds``."""
    with path.open("ab") as lock:
        wait_until(lambda: _try_lock(lock.fileno()), seconds, f"Waiting for another run to release {path}", stop)
        yield


def is_held(path: Path) -> bool:
    """Whether a process holds the lock file ``path``."""
    if not path.exists():
        return False
    with path.open("ab") as lock:
        return not _try_lock(lock.fileno())


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _base() -> Path:
    for base in (Path(tempfile.gettempdir()).resolve(), Path("/tmp")):  # noqa: S108 - the folder is mkdtemp's
        passable = all(folder.stat().st_mode & 0o001 for folder in (base, *base.parents))
        if len(os.fsencode(base)) <= _SOCKET_ROOM and passable and os.access(base, os.W_OK):
            return base
    raise LiveError("Neither TMPDIR nor /tmp is a short path that every user may enter. Set TMPDIR to one.")


def _sweep(base: Path) -> None:
    for path in base.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), (path / _LOCK).open("ab") as lock:
            if path.stat().st_uid == os.geteuid() and _try_lock(lock.fileno()):
                shutil.rmtree(path, ignore_errors=True)
