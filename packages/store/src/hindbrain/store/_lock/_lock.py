"""The lock of a state file: ``with lock.held(): ...`` to rewrite, ``with lock.light(): ...`` to append."""

from __future__ import annotations

import errno
import os
import platform
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hindbrain.store._files import FileLayer, disk_errors
from hindbrain.store._lock._errors import LockBusyError
from hindbrain.store._lock._exclusion import ByOs, ByRecord, Exclusion
from hindbrain.store._lock._flock import FileLock
from hindbrain.store._lock._owner import Owner, is_running
from hindbrain.store._lock._patience import Patience
from hindbrain.store._lock._record import STALE_AFTER, Record

_CONTENTION = {errno.EPERM, errno.EBUSY, errno.ENOTEMPTY, errno.ENOENT}


def _now() -> datetime:
    return datetime.now(UTC)


def _token() -> str:
    return str(uuid.uuid4())


class Hold:
    """A lock while it is held."""

    def __init__(self, folder: Path, way: Exclusion, me: Owner, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._way = way
        self._me = me
        self._now = now

    def renew(self) -> None:
        """Say that the holder is alive: every few seconds while it works, and right before what it does takes effect.

        Raises:
            LockLostError: another took it over, where OS locks do not work and the last renewal was too long ago.
            StoreError: the disk refused.
        """
        self._me = self._me.renewed(self._now())
        with disk_errors(self._folder):
            self._way.renew(self._me)

    def attempt(self, *, recorded: bool) -> bool:
        """Take the lock if it is free."""
        return self._way.attempt(self._me, recorded=recorded)

    def release(self, *, recorded: bool) -> None:
        """Give the lock back."""
        self._way.release(self._me, recorded=recorded)


class Lock:
    """Serialises threads and processes on one state file.

    ``folder`` is ``<file>.lock``. An OS lock on a file inside is the truth and dies with its holder; the ``owner``
    record beside it tells people and other programs who holds it. Where OS locks do not work the record alone decides:
    it is renewed while held, and judged by its ``acquiredAt``. Not reentrant. Hold it shortly, never over the network.

    ``os_locks=False`` behaves as on a file system without locks. The last arguments are for tests.

    Source: decisions.md, "Durability"; spec/memory.md section 7.3; seed requirements S0-queue-005 to 007.
    """

    def __init__(
        self,
        layer: FileLayer,
        folder: Path,
        *,
        os_locks: bool = True,
        stale_after: timedelta = STALE_AFTER,
        patience: Patience | None = None,
        now: Callable[[], datetime] = _now,
        token: Callable[[], str] = _token,
        host: str | None = None,
        running: Callable[[int], bool] = is_running,
    ) -> None:
        self._layer = layer
        self.folder = folder
        self._patience = patience or Patience()
        self._now = now
        self._token = token
        self._host = host if host is not None else platform.node()
        self._record = Record(layer, folder, stale_after, running)
        self._file = FileLock(layer, folder, self._me)
        self._file.works = os_locks
        self._by_os = ByOs(self._file, self._record)
        self._by_record = ByRecord(self._record)
        self._mutex = threading.Lock()

    @contextmanager
    def held(self, wait: float = 5.0) -> Iterator[Hold]:
        """Hold the lock and its record; to rewrite, rotate or migrate. ``wait`` is in seconds.

        Raises:
            LockBusyError: it was not free in time.
            StoreError: the disk refused.
        """
        with self._exclusive(wait, recorded=True) as hold:
            yield hold

    @contextmanager
    def light(self, wait: float = 5.0) -> Iterator[None]:
        """Hold the OS lock alone; to append. Where there are none, the same as ``held``.

        Raises:
            LockBusyError, StoreError: as ``held``.
        """
        with self._exclusive(wait, recorded=False):
            yield

    def close(self) -> None:
        """Give the descriptor back. The lock can be used again."""
        self._file.close()

    @contextmanager
    def _exclusive(self, wait: float, *, recorded: bool) -> Iterator[Hold]:
        begun = self._patience.clock()
        if not self._mutex.acquire(timeout=max(wait, 0)):
            raise LockBusyError(self.folder, self._me())
        try:
            with disk_errors(self.folder):
                hold = self._acquire(wait - (self._patience.clock() - begun), recorded=recorded)
            try:
                yield hold
            finally:
                hold.release(recorded=recorded)
        finally:
            self._mutex.release()

    def _acquire(self, wait: float, *, recorded: bool) -> Hold:
        taken: list[Hold] = []

        def attempt() -> bool:
            hold = Hold(self.folder, self._by_os if self._file.works else self._by_record, self._me(), self._now)
            try:
                if hold.attempt(recorded=recorded):
                    taken.append(hold)
            except OSError as error:
                if error.errno not in _CONTENTION:
                    raise
            return bool(taken)

        if not self._patience.until(attempt, wait):
            raise LockBusyError(self.folder, self._holder())
        return taken[0]

    def _holder(self) -> Owner | None:
        with suppress(OSError):
            return self._record.read() or self._file.holder()
        return None

    def _me(self) -> Owner:
        return Owner(os.getpid(), self._host, self._now(), self._token())
