"""A state folder to look at: for people who ask what it holds, beside whoever works in it."""

from __future__ import annotations

import secrets
import stat
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from attrs import field, frozen

from hindbrain.store._cursors import CursorState, look_at_cursors, read_book
from hindbrain.store._errors import StoreError
from hindbrain.store._files import OsFileLayer, ReadOnlyLayer, StateDir, disk_errors, uninterrupted
from hindbrain.store._queue import DurableQueue
from hindbrain.store._receipts import RetainReceipts
from hindbrain.store._records import Mode, SessionRecord, SessionRecords, Switch
from hindbrain.store._seal import SealKey, known_seal_key
from hindbrain.store._suppressed import Suppressed
from hindbrain.store._trace import DocumentTrace, trace_of

QUEUE = "retain-queue.jsonl"
_RECORDS = "session-meta"
_OTHERS = 0o077


class KeyState(StrEnum):
    """How this user's seal key stands."""

    NONE = "none"
    """The first turn that is kept makes it."""
    SOUND = "sound"
    BROKEN = "broken"
    """It cannot be read, or does not have its size: nothing can be sealed, and no line is believed."""


@frozen(kw_only=True)
class SessionCounts:
    """How many session records there are, by what they say. ``distrusted`` ones switch everything off."""

    records: int = 0
    read_only: int = 0
    ignored: int = 0
    retain_off: int = 0
    opted_out: int = 0
    """Sessions whose next completed run is kept out."""
    distrusted: int = 0


@frozen(kw_only=True)
class StateView:
    """A state folder that is there. Looking changes nothing, makes nothing, and waits for nobody.

    Attributes:
        folder: where it lies.
        key: how the seal key stands; without a sound one no line bears this user's seal.
        queue: the queue; what would change it raises StoreReadOnlyError.
        receipts: what became of the newest retains.
        records: what the user decided about each session.
        suppressed: the memories that are not to be shown.

    Build it with :meth:`open`. Blocking; what it tells may be a moment old where another process writes.
    """

    folder: Path
    key: KeyState
    queue: DurableQueue
    receipts: RetainReceipts
    records: SessionRecords
    suppressed: Suppressed
    _state: StateDir = field(repr=False)
    _seal: SealKey = field(repr=False)

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        seal_file: Path,
        within: Path | None = None,
        notify: Callable[[str], None] = lambda _: None,
    ) -> StateView | None:
        """Look at a folder; None where there is none.

        Args:
            folder: such as ``<project>/.pi/hindsight``.
            seal_file: this user's key, such as ``<data>/seal.key``.
            within: the project's root; no link between it and the folder is followed.
            notify: told in one sentence what could not be read.

        Raises:
            StoreError: a link or another user's lies there, or the disk refused.
        """
        layer = ReadOnlyLayer(OsFileLayer())
        with disk_errors(folder):
            state = StateDir.look(layer, folder, within=within)
        if state is None:
            return None
        key, seal = _key(layer, seal_file)
        queue = DurableQueue.look(state.file(QUEUE), key=seal, layer=layer)
        receipts = RetainReceipts(state, notify=notify)
        return cls(
            folder=folder,
            key=key,
            queue=queue,
            receipts=receipts,
            records=SessionRecords(state, seal, notify=notify),
            suppressed=Suppressed(state, seal, notify=notify),
            state=state,
            seal=seal,
        )

    def open_to_others(self) -> tuple[str, ...]:
        """The names of the folder and of files in it that somebody else may read or write.

        Raises:
            StoreError: the disk refused.
        """
        layer = self._state.layer
        with disk_errors(self.folder):
            names = ["", *sorted(uninterrupted(layer.listdir, self.folder))]
            modes = {name: uninterrupted(layer.lstat, self.folder / name).st_mode for name in names}
        ours = {name: mode for name, mode in modes.items() if not _is_users_own(name) and not stat.S_ISLNK(mode)}
        return tuple(name or "." for name, mode in ours.items() if mode & _OTHERS)

    def sessions(self) -> SessionCounts:
        """What the session records say, counted.

        Raises:
            StoreError: the disk refused.
        """
        with disk_errors(self.folder):
            try:
                names = uninterrupted(self._state.layer.listdir, self.folder / _RECORDS)
            except FileNotFoundError:
                return SessionCounts()
        records = SessionRecords(self._state, self._seal)
        found = [records.read(name[:-5]) for name in names if _is_record(name)]
        return _counted(found)

    def cursors(self) -> CursorState:
        """How the file of cursors stands.

        Raises:
            StoreError: the disk refused.
        """
        return look_at_cursors(self._state, self._seal)

    def document_key(self, lineage: str, session_id: str, key: str) -> str:
        """The document key that a session has here; ``key`` where it has none yet.

        Raises:
            StoreError: the disk refused.
        """
        return read_book(self._state, self._seal).lineage(lineage).documents.get(session_id, key)

    def trace(self, bank: str, document_id: str) -> DocumentTrace:
        """What this folder knows of how a document came to be.

        Raises:
            StoreError: the disk refused.
        """
        return trace_of(self.queue, read_book(self._state, self._seal), self.receipts, bank, document_id)

    def close(self) -> None:
        """Give all descriptors back. Idempotent."""
        self.queue.close()


def _key(layer: ReadOnlyLayer, path: Path) -> tuple[KeyState, SealKey]:
    nobodys = SealKey(secrets.token_bytes(32))
    try:
        found = known_seal_key(layer, path)
    except StoreError:
        return KeyState.BROKEN, nobodys
    return (KeyState.NONE, nobodys) if found is None else (KeyState.SOUND, found)


def _is_record(name: str) -> bool:
    stem, dot, end = name.partition(".")
    return dot + end == ".json" and len(stem) == 16 and set(stem) <= set("0123456789abcdef")  # noqa: PLR2004  (a sid)


def _is_users_own(name: str) -> bool:
    """A project's settings lie in the same folder, and are anybody's to read."""
    return name.startswith("hindbrain.json") or name == ".gitignore"


def _counted(records: list[SessionRecord]) -> SessionCounts:
    believed = [record for record in records if record.trusted]
    return SessionCounts(
        records=len(records),
        read_only=sum(record.mode is Mode.READ_ONLY for record in believed),
        ignored=sum(record.mode is Mode.IGNORED for record in believed),
        retain_off=sum(not record.retained or record.retain_mode is Switch.OFF for record in believed),
        opted_out=sum(record.next_retain_mode is Switch.OFF for record in believed),
        distrusted=len(records) - len(believed),
    )
