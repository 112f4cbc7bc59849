"""The cursors on the disk: ``retain-cursors.json`` in the state folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from hindbrain.contracts import Branch, Coverage, Entry
from hindbrain.store._cursors._advance import Move, move, new_entries
from hindbrain.store._cursors._book import Book
from hindbrain.store._cursors._codec import Newer, Older, decode, encode
from hindbrain.store._cursors._cursor import Cursor
from hindbrain.store._cursors._errors import CursorsNewerError
from hindbrain.store._cursors._migrate import OldSession, adopted, old_sessions
from hindbrain.store._files import (
    StateDir,
    StateFileError,
    StateFileTooLargeError,
    atomic_replace,
    disk_errors,
    quarantine,
    read_file,
    sync_dir,
    uninterrupted,
)
from hindbrain.store._lock import Lock
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import Distrust

NAME = "retain-cursors.json"
OLD_NAME = "retain-cursors.older.json"
"""Where a file of an older format is kept, unchanged, for the sessions that come back later."""
LIMIT = 64 << 20

_WHY = {
    Distrust.MALFORMED: "could not be read",
    Distrust.UNSEALED: "was not written by this user's hindbrain, or was changed",
}


def _now() -> datetime:
    return datetime.now(UTC)


class Cursors:
    """The cursors of one project, shared with every other process that has them open.

    ``log`` gives the ranges of all jobs in the queue's log, oldest first; with them a broken file is rebuilt.
    ``notify`` is told, in one sentence, what the user should know. Blocking: use it from the store's thread.

    Every method may raise CursorsNewerError, LockBusyError, or StoreError where the disk refused; the cursors are then
    as they were.

    Source: decisions.md, "Durability"; seed "Automatic retain"; spec/faults.md rows 8, 10, 11 and 40.
    """

    def __init__(
        self,
        state: StateDir,
        key: SealKey,
        *,
        log: Callable[[], Iterable[Coverage]] = tuple,
        notify: Callable[[str], None] = lambda _: None,
        now: Callable[[], datetime] = _now,
        wait: float = 5.0,
    ) -> None:
        self._state = state
        self._layer = state.layer
        self._path = state.file(NAME)
        self._old_path = state.file(OLD_NAME)
        self._lock = Lock(state.layer, state.file(f"{NAME}.lock"))
        self._key = key
        self._log = log
        self._notify = notify
        self._now = now
        self._wait = wait
        self._last: tuple[bytes | None, Book] = (None, Book())

    def new_entries(self, lineage: str, bank: str, branch: Branch) -> tuple[Entry, ...]:
        """What of the branch was never retained for this bank; see the function of the same name."""
        return new_entries(branch, self.cursor(lineage, bank))

    def cursor(self, lineage: str, bank: str) -> Cursor:
        """Where a lineage stands for a bank."""
        return self.book().cursor(lineage, bank)

    def book(self) -> Book:
        """All cursors as they are on the disk now."""
        with disk_errors(self._path):
            known = self._read()
        return self.update(lambda book: book) if known is None else known

    def plan(self, lineage: str, bank: str, branch: Branch, entries: Iterable[Entry]) -> Move | None:
        """The move over these entries, for the job that retains them to carry; nothing is written."""
        return move(self.cursor(lineage, bank), branch, entries)

    def advance(self, lineage: str, bank: str, branch: Branch, entries: Iterable[Entry]) -> None:
        """Move over entries whose job is durable, or that are skipped for good. Durable on return."""
        given = tuple(entries)

        def moved(book: Book) -> Book:
            found = move(book.cursor(lineage, bank), branch, given)
            return book if found is None else book.with_cursor(lineage, bank, found.cursor)

        self.update(moved)

    def advance_from(self, covers: Iterable[Coverage]) -> None:
        """Move as the jobs of the queue's log say, oldest first; those counted already change nothing."""
        given = tuple(covers)
        self.update(lambda book: book.replayed(given))

    def document_key(self, lineage: str, session_id: str, key: str) -> str:
        """The document key of a session: the one it was given first, which ``key`` becomes where it has none."""
        known = self.book().lineage(lineage).documents.get(session_id)
        if known is not None:
            return known
        book = self.update(lambda book: book.with_document(lineage, session_id, key))
        return book.lineage(lineage).documents[session_id]

    def old_session(self, sid: str) -> OldSession | None:
        """What a file of an older format says of a session, by its ``sid`` of 16 hex digits; None for nothing."""
        self.book()
        try:
            with disk_errors(self._old_path):
                data = read_file(self._layer, self._old_path, LIMIT)
        except (StateFileError, StateFileTooLargeError):
            return None
        found = None if data is None else decode(data, self._key)
        return old_sessions(found.body).get(sid) if isinstance(found, Older) else None

    def adopt(self, lineage: str, bank: str, branch: Branch, old: OldSession, old_prints: Mapping[str, str]) -> None:
        """Let an older cursor stand for this session, where the bank has none for it yet; see ``adopted``."""

        def taken_over(book: Book) -> Book:
            if book.cursor(lineage, bank) != Cursor():
                return book
            return book.with_cursor(lineage, bank, adopted(old, branch, old_prints))

        self.update(taken_over)

    def update(self, change: Callable[[Book], Book]) -> Book:
        """Read, change and write under the lock; durable on return. ``change`` sees what others wrote meanwhile."""
        with self._alone():
            known = self._read()
            before = self._put_aside() if known is None else known
            after = change(before)
            if self._last[0] is None or after != before:
                self._write(after)
            return after

    def close(self) -> None:
        """Give the lock's descriptor back."""
        self._lock.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self._lock.light(self._wait), disk_errors(self._path):
            yield

    def _read(self) -> Book | None:
        """The book on the disk, or None where what lies there cannot be used as it is."""
        try:
            data = read_file(self._layer, self._path, LIMIT)
        except (StateFileError, StateFileTooLargeError):
            return None
        if data is None:
            return self._rebuilt()
        if data == self._last[0]:
            return self._last[1]
        match decode(data, self._key):
            case Book() as book:
                self._last = (data, book)
                return book
            case Newer():
                raise CursorsNewerError
            case _:
                return None

    def _put_aside(self) -> Book:
        """Move away what lies there, and give the book that stands for it."""
        try:
            data = read_file(self._layer, self._path, LIMIT)
            found = Distrust.MALFORMED if data is None else decode(data, self._key)
        except (StateFileError, StateFileTooLargeError):
            found = Distrust.UNSEALED
        if isinstance(found, Older) and not self._exists_old():
            uninterrupted(self._layer.replace, self._path, self._old_path)
            sync_dir(self._layer, self._path.parent)
            self._notify(f"Retain cursors of an older format were taken over; the old file is kept as {OLD_NAME}.")
        else:
            aside = quarantine(self._layer, self._path, self._now())
            why = _WHY[found] if isinstance(found, Distrust) else _WHY[Distrust.UNSEALED]
            self._notify(f"{NAME} {why}; it was put aside as {aside.name} and rebuilt from the retain queue.")
        return self._rebuilt()

    def _rebuilt(self) -> Book:
        """The book where there is no file: what this process knew, and the queue's log."""
        self._last = (None, self._last[1].replayed(self._log()))
        return self._last[1]

    def _exists_old(self) -> bool:
        try:
            uninterrupted(self._layer.lstat, self._old_path)
        except FileNotFoundError:
            return False
        return True

    def _write(self, book: Book) -> None:
        data = encode(book, self._key)
        atomic_replace(self._layer, self._path, data)
        self._last = (data, book)
