"""The list of suppressed memories on the disk: ``suppressed.json`` in the state folder."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from hindbrain.store._errors import StoreError
from hindbrain.store._files import (
    Mark,
    StateDir,
    StateFileError,
    StateFileTooLargeError,
    atomic_replace,
    disk_errors,
    mark_of,
    quarantine,
    read_file,
    remove_leftovers,
)
from hindbrain.store._lock import Lock
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import Distrust
from hindbrain.store._suppressed._codec import Suppression, check_memory_id, decode, encode
from hindbrain.store._suppressed._errors import SuppressedFullError

NAME = "suppressed.json"
LIMIT = 8 << 20
MOST = 4096
"""How many memories can be suppressed; beyond that a bank wants tidying, not a list."""


def _now() -> datetime:
    return datetime.now(UTC)


class Suppressed:
    """The memories of one project that the user does not want to see, shared with every other process.

    The list bears the user's seal, so that one that came with a repository hides nothing. Where it cannot be believed,
    what this process knew before counts, ``notify`` is told so once, in a sentence, and the next change puts it aside.
    Blocking: use it from the store's thread.

    Attributes:
        sure: whether the last call of ``ids`` could read the file.

    Source: ours (decisions.md, "Durability": seal, lock, atomic); the quality pass of spec/memory.md section 4.
    """

    def __init__(
        self,
        state: StateDir,
        key: SealKey,
        *,
        notify: Callable[[str], None] = lambda _: None,
        now: Callable[[], datetime] = _now,
        wait: float = 5.0,
    ) -> None:
        self._layer = state.layer
        self._path = state.file(NAME)
        self._lock = Lock(state.layer, state.file(f"{NAME}.lock"))
        self._key = key
        self._notify = notify
        self._now = now
        self._wait = wait
        self._told = False
        self.sure = False
        self._last: tuple[bytes | None, frozenset[str]] = (None, frozenset())

    def ids(self) -> frozenset[str]:
        """The ids of all suppressed memories. Never raises: where it cannot be told, those known last count."""
        self.sure = False
        try:
            with disk_errors(self._path):
                data = read_file(self._layer, self._path, LIMIT)
            if data != self._last[0]:
                found = self._believed(data)
                self._last = (data, self._last[1] if found is None else frozenset(each.id for each in found))
            self.sure = True
        except StoreError as error:
            self._tell(error.what)
        return self._last[1]

    def mark(self) -> Mark:
        """Changes whenever ``ids`` may say something else. Quick enough for any thread.

        Raises:
            OSError: the disk's own.
        """
        return mark_of(self._layer, self._path)

    def all(self) -> tuple[Suppression, ...]:
        """The list, oldest first; empty where it cannot be believed.

        Raises:
            SuppressedNewerError, StoreError: a newer version wrote it, or the disk refused.
        """
        with disk_errors(self._path):
            return self._read() or ()

    def add(self, memory_id: str) -> bool:
        """Suppress a memory; durable on return. False where it was suppressed already.

        Raises:
            MemoryIdError: the id does not have its form.
            SuppressedFullError: the list is full.
            LockBusyError, SuppressedNewerError, StoreError: the list is as it was.
        """
        wanted = check_memory_id(memory_id)

        def with_it(known: tuple[Suppression, ...]) -> tuple[Suppression, ...]:
            if any(each.id == wanted for each in known):
                return known
            if len(known) >= MOST:
                raise SuppressedFullError
            at = self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            return (*known, Suppression(id=wanted, at=at))

        return self._update(with_it)

    def remove(self, memory_id: str) -> bool:
        """Show a memory again; durable on return. False where it was not suppressed.

        Raises:
            MemoryIdError, LockBusyError, SuppressedNewerError, StoreError: as ``add``.
        """
        gone = check_memory_id(memory_id)
        return self._update(lambda known: tuple(each for each in known if each.id != gone))

    def close(self) -> None:
        """Give the lock's descriptor back."""
        self._lock.close()

    def _update(self, change: Callable[[tuple[Suppression, ...]], tuple[Suppression, ...]]) -> bool:
        """Read, change and write under the lock: what another process wrote meanwhile is kept."""
        with self._lock.light(self._wait), disk_errors(self._path):
            known = self._read()
            after = change(known or ())
            if after == (known or ()):
                return False
            if known is None:
                quarantine(self._layer, self._path, self._now())
            remove_leftovers(self._layer, self._path)
            atomic_replace(self._layer, self._path, encode(after, self._key))
        self._told = False
        return True

    def _read(self) -> tuple[Suppression, ...] | None:
        """The list, or None where what lies there is not believed."""
        try:
            data = read_file(self._layer, self._path, LIMIT)
        except (StateFileError, StateFileTooLargeError) as error:
            self._tell(error.what)
            return None
        return self._believed(data)

    def _believed(self, data: bytes | None) -> tuple[Suppression, ...] | None:
        found = () if data is None else decode(data, self._key)
        if not isinstance(found, Distrust):
            return found
        why = "could not be read" if found is Distrust.MALFORMED else "was not written by this user's hindbrain"
        self._tell(f"{NAME} {why}.")
        return None

    def _tell(self, what: str) -> None:
        if not self._told:
            self._told = True
            self._notify(f"{what} Memories that were suppressed here may be shown; see `hindbrain suppress --list`.")
