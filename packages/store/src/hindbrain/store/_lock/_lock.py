"""The lock of a state file: ``with lock.held(): ...`` to rewrite, ``with lock.light(): ...`` to append."""

from __future__ import annotations

import errno
import os
import platform
import threading
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from hindbrain.store._files import FileLayer, disk_errors
from hindbrain.store._lock._errors import LockBusyError, LockLostError
from hindbrain.store._lock._exclusion import ByOs, ByRecord, Exclusion
from hindbrain.store._lock._flock import FileLock
from hindbrain.store._lock._owner import Owner, is_running
from hindbrain.store._lock._patience import Patience
from hindbrain.store._lock._record import STALE_AFTER, Record
from hindbrain.store._lock._watch import Watch

_CONTENTION = {errno.EPERM, errno.EBUSY, errno.ENOTEMPTY, errno.ENOENT}


def _now() -> datetime:
    return datetime.now(UTC)


def _token() -> str:
    return str(uuid.uuid4())


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
        self._file = FileLock(layer, folder, make_folder=self._record.make_folder, me=self.me)
        self._file.works = os_locks
        self._by_os = ByOs(self._file, self._record, Watch(layer, folder))
        self._by_record = ByRecord(self._record)
        self._mutex = threading.Lock()

    def held(self, wait: float = 5.0) -> AbstractContextManager[Hold]:
        """Hold the lock and its record; to rewrite, rotate or migrate. ``wait`` is in seconds.

        Raises:
            LockBusyError: it was not free in time.
            StoreError: the disk refused.
        """
        return Hold(self, wait, recorded=True)

    def light(self, wait: float = 5.0) -> AbstractContextManager[Hold]:
        """Hold the OS lock alone; to append. Where there are none, the same as ``held``.

        Raises:
            LockBusyError, StoreError: as ``held``.
        """
        return Hold(self, wait, recorded=False)

    def close(self) -> None:
        """Give the descriptor back. The lock can be used again."""
        self._file.close()

    def enter(self, attempt: Callable[[], bool], wait: float) -> None:
        """Succeed in an attempt, alone among the threads that share this object, or raise as ``held``."""
        if not self._mutex.acquire(blocking=False):
            begun = self._patience.clock()
            if wait <= 0 or not self._mutex.acquire(timeout=wait):
                raise LockBusyError(self.folder, self.me())
            wait -= self._patience.clock() - begun
        taken = False
        try:
            taken = self._patience.until(attempt, wait)
        finally:
            if not taken:
                self._mutex.release()
        if not taken:
            raise LockBusyError(self.folder, self._holder())

    def leave(self) -> None:
        """Let the next thread in."""
        self._mutex.release()

    def me(self) -> Owner:
        """A record of this process, now."""
        return Owner(os.getpid(), self._host, self._now(), self._token())

    def now(self) -> datetime:
        """The time, for a record."""
        return self._now()

    def way(self) -> Exclusion:
        """How others are kept out, as far as is known by now."""
        return self._by_os if self._file.works else self._by_record

    def _holder(self) -> Owner | None:
        with suppress(OSError):
            return self._record.read() or self._file.holder()
        return None


class Hold:
    """A lock while it is held. The way in and out of a ``with`` is short on purpose: an append pays it each time.

    Attributes:
        was_mine: whether it is certain that nobody else has had the OS lock since this object had it last.
    """

    __slots__ = ("_held", "_lock", "_me", "_recorded", "_wait", "_way", "was_mine")

    def __init__(self, lock: Lock, wait: float, *, recorded: bool) -> None:
        self._lock = lock
        self._wait = wait
        self._recorded = recorded
        self._me: Owner | None = None
        self._way: Exclusion
        self._held = False
        self.was_mine = False

    def renew(self) -> None:
        """Say that the holder is alive: every few seconds while it works, and right before what it does takes effect.

        Raises:
            LockLostError: it is held no more; or another took it over, where OS locks do not work and the last renewal
                was too long ago.
            StoreError: the disk refused.
        """
        if not self._held:
            raise LockLostError
        self._me = self._mine().renewed(self._lock.now())
        with disk_errors(self._lock.folder):
            self._way.renew(self._me)

    def __enter__(self) -> Self:
        try:
            self._lock.enter(self._attempt, self._wait)
        except OSError:
            with disk_errors(self._lock.folder):
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self._held = False
        try:
            self._way.release(self._mine, recorded=self._recorded)
        finally:
            self._lock.leave()

    def _mine(self) -> Owner:
        if self._me is None:
            self._me = self._lock.me()
        return self._me

    def _attempt(self) -> bool:
        while True:
            self._me = None
            way = self._lock.way()
            try:
                taken = way.attempt(self._mine, recorded=self._recorded)
            except InterruptedError:
                continue
            except OSError as error:
                if error.errno in _CONTENTION:
                    return False
                raise
            if not taken and way is not self._lock.way():
                # The file system has just said that it knows no locks: nobody holds anything yet.
                continue
            self._way, self._held, self.was_mine = way, taken, way.was_mine
            return taken
