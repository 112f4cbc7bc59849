"""The session records on the disk: ``session-meta/<sid>.json`` in the state folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from attrs import evolve, frozen

from hindbrain.store._errors import StoreError
from hindbrain.store._files import (
    Mark,
    StateDir,
    atomic_replace,
    disk_errors,
    mark_of,
    read_file,
    uninterrupted,
)
from hindbrain.store._lock import Lock
from hindbrain.store._records._codec import Newer, decode, encode
from hindbrain.store._records._errors import RecordDistrustedError, RecordNewerError, RecordValueError
from hindbrain.store._records._record import CLOSED, SessionRecord
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import Distrust

FOLDER = "session-meta"
LIMIT = 1 << 20

_SID = re.compile(r"[0-9a-f]{16}")
_WHY = {
    Distrust.MALFORMED: "could not be read",
    Distrust.UNSEALED: "was not written by this user's hindbrain, or was changed",
}


def _now() -> datetime:
    return datetime.now(UTC)


@frozen
class Skip:
    """A run that is to be skipped: proof that the flag was seen, to be given back once its messages are passed over."""

    sid: str


class SessionRecords:
    """The records of one project's sessions, shared with every other process.

    A session is named by its ``sid``, 16 hex digits. A missing record is all normal; one that is there and cannot be
    believed (broken, unsealed, another user's, a link) is all off, and ``notify`` is told so, once a session. Blocking:
    use it from the store's thread.

    Every method may raise RecordValueError for a ``sid`` of another form, and those that write LockBusyError,
    RecordNewerError, or StoreError where the disk refused; the record is then as it was.

    Source: spec/memory.md section 9; decisions.md, "Durability"; seed "Session governance".
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
        self._state = state
        self._layer = state.layer
        self._lock = Lock(state.layer, state.file(f"{FOLDER}.lock"))
        self._key = key
        self._notify = notify
        self._now = now
        self._wait = wait
        self._told: set[str] = set()

    def read(self, sid: str) -> SessionRecord:
        """The record of a session. Fails closed: where it cannot be read, everything is off; nothing is written."""
        _check(sid)
        try:
            found, _ = self._load(sid)
        except StoreError as error:
            return self._closed(sid, error.what)
        if isinstance(found, Distrust):
            return self._closed(sid, f"The record of session {sid} {_WHY[found]}.")
        return found

    def mark(self, sid: str) -> Mark:
        """Changes whenever ``read`` may say something else. Quick enough for any thread.

        Raises:
            OSError: the disk's own.
        """
        return mark_of(self._layer, self._state.file(FOLDER) / f"{sid}.json")

    def set_mode(self, sid: str, mode: str) -> SessionRecord:
        """Set the mode: normal, read-only or ignored; see ``SessionRecord.with_mode``.

        A record that was not believed is kept beside the new one as ``<sid>.json.broken-<n>``.
        """
        return self._update(sid, lambda record: record.with_mode(mode), repairs=True)

    def set_retain(self, sid: str, *, on: bool) -> SessionRecord:
        """Turn automatic retain on or off for the session."""
        return self._update(sid, lambda record: record.with_retain(on=on))

    def add_tag(self, sid: str, tag: str) -> SessionRecord:
        """Add a session tag; see ``SessionRecord.with_tag``."""
        return self._update(sid, lambda record: record.with_tag(tag))

    def remove_tag(self, sid: str, tag: str) -> SessionRecord:
        """Remove a session tag."""
        return self._update(sid, lambda record: record.without_tag(tag))

    def skip_next(self, sid: str) -> SessionRecord:
        """Skip automatic retain for the next completed run."""
        return self._update(sid, lambda record: record.with_skip(on=True))

    def pending_skip(self, sid: str) -> Skip | None:
        """Whether the run that ended is to be skipped: first step of two.

        Pass over its messages in the cursors, and only when that is durable give the result to ``consume``: a flag that
        were cleared before would let them be retained a turn later.

        Source: spec/memory.md section 6.2, step 2; spec/faults.md row 11.
        """
        return self.at_end_of_run(sid)[1]

    def at_end_of_run(self, sid: str) -> tuple[SessionRecord, Skip | None]:
        """The record, and whether it skips the run that ended, from one and the same look; see ``pending_skip``."""
        record = self.read(sid)
        return record, Skip(sid) if record.skips_next else None

    def consume(self, skip: Skip) -> SessionRecord:
        """Clear the flag, the run's messages being passed over: second step of two."""
        return self._update(skip.sid, lambda record: record.with_skip(on=False))

    def close(self) -> None:
        """Give the lock's descriptor back."""
        self._lock.close()

    def _update(
        self, sid: str, change: Callable[[SessionRecord], SessionRecord], *, repairs: bool = False
    ) -> SessionRecord:
        """Read, change and write under the lock: what another process wrote meanwhile is kept."""
        _check(sid)
        folder = self._folder()
        path = folder.file(f"{sid}.json")
        with self._lock.light(self._wait), disk_errors(path):
            found, data = self._load(sid)
            if isinstance(found, Distrust) and not repairs:
                raise RecordDistrustedError
            before = CLOSED if isinstance(found, Distrust) else found
            after = change(before)
            if after == before and before.trusted:
                return before
            now = self._now()
            after = evolve(after, created_at=before.created_at or iso(now), updated_at=iso(now), trusted=True)
            if not before.trusted:
                self._keep(path, data or b"", now)
            atomic_replace(self._layer, path, encode(sid, after, self._key))
            self._told.discard(sid)
            return after

    def _load(self, sid: str) -> tuple[SessionRecord | Distrust, bytes | None]:
        """What the file says, and its bytes.

        Raises:
            RecordNewerError, StateDirError, StateFileError, StateFileTooLargeError, StoreError: it cannot be told.
        """
        with disk_errors(self._state.file(FOLDER)):
            try:
                uninterrupted(self._layer.lstat, self._state.file(FOLDER))
            except FileNotFoundError:
                return SessionRecord(), None
            path = self._state.folder(FOLDER).file(f"{sid}.json")
            data = read_file(self._layer, path, LIMIT)
        if data is None:
            return SessionRecord(), None
        found = decode(sid, data, self._key)
        if isinstance(found, Newer):
            raise RecordNewerError
        return found, data

    def _folder(self) -> StateDir:
        with disk_errors(self._state.file(FOLDER)):
            return self._state.folder(FOLDER)

    def _closed(self, sid: str, what: str) -> SessionRecord:
        if sid not in self._told:
            self._told.add(sid)
            self._notify(f"{what} Nothing is recalled or retained in this session until you set a mode for it.")
        return CLOSED

    def _keep(self, path: Path, data: bytes, now: datetime) -> None:
        # A copy, not a rename: a crash between the two would leave no record, and that permits everything.
        number = int(now.timestamp() * 1000)
        taken = set(uninterrupted(self._layer.listdir, path.parent))
        while (name := f"{path.name}.broken-{number}") in taken:
            number += 1
        atomic_replace(self._layer, path.with_name(name), data)


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with three decimals, as hosts write it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _check(sid: str) -> None:
    if not _SID.fullmatch(sid):
        raise RecordValueError("The session id", "16 hex digits", next_step="Nothing was read or written.")
