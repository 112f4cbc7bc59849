"""The last recall on the disk: one JSON object, replaced whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from hindbrain.contracts import JsonValue
from hindbrain.store._files import (
    OsFileLayer,
    StateDir,
    StateFileError,
    StateFileTooLargeError,
    check_between,
    check_dir,
    create_temporary,
    disk_errors,
    make_private_dir,
    quarantine,
    read_file,
    remove_file,
    remove_leftovers,
    sync_dir,
    uninterrupted,
)
from hindbrain.store._last_recall._errors import LastRecallForeignError, LastRecallUnreadableError
from hindbrain.store._last_recall._place import NAME, Place, place_of
from hindbrain.store._lock import Lock

LIMIT = 16 << 20


def _now() -> datetime:
    return datetime.now(UTC)


class LastRecall:
    """The file of the last recall, shared with every other process: who writes last is read.

    Nothing rests on it. A broken one in the state folder is put aside at the next write, and ``notify`` is told so in a
    sentence; at a place the user chose, whatever is no such file is left alone. Blocking: use it from the store's
    thread.

    Args:
        state: the state folder, where the lock lies.
        place: where the file lies.
        notify: told what was put aside.
        now: the clock that names what was put aside.
        wait: seconds to wait for another process; short, since a turn waits too.

    Source: spec/memory.md section 5.5; seed 000, "Last-recall snapshots".
    """

    def __init__(
        self,
        state: StateDir,
        place: Place,
        *,
        notify: Callable[[str], None] = lambda _: None,
        now: Callable[[], datetime] = _now,
        wait: float = 0.5,
    ) -> None:
        self._layer = state.layer
        self._place = place
        self._lock = Lock(state.layer, state.file(f"{NAME}.lock"))
        self._notify = notify
        self._now = now
        self._wait = wait

    @classmethod
    def at(cls, folder: Path, *, root: Path | None = None, named: str | None = None) -> LastRecall:
        """The file of a state folder that is not opened, to be read; see ``place_of`` for where it lies.

        Raises:
            LastRecallPathError: the path is refused.
        """
        return cls(StateDir(OsFileLayer(), folder), place_of(folder, root=root, named=named))

    def write(self, body: Mapping[str, JsonValue], *, wanted: Callable[[], bool] = lambda: True) -> bool:
        """Put this in place of what was there, and say whether that was done. Nobody else can read the file.

        ``wanted`` is asked once the new file is written and before it takes its name: where it says no, the old one
        stays and the new one is gone.

        Raises:
            LastRecallForeignError: another file lies at the place the user chose; it was left.
            StateDirError, StateFileError: a link or another user's lies there.
            LockBusyError: another process did not let go in time.
            StoreError: the disk refused.
        """
        data = json.dumps(body, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"
        path = self._place.path
        with self._lock.light(self._wait), disk_errors(path):
            check_between(self._layer, self._place.within, path)
            make_private_dir(self._layer, path.parent)
            check_dir(self._layer, path.parent)
            self._make_way()
            remove_leftovers(self._layer, path)
            return self._replace(data, wanted)

    def read(self) -> Mapping[str, JsonValue] | None:
        """What the file says; None where there is none.

        Raises:
            LastRecallUnreadableError: it is no such file.
            StateDirError, StateFileError, StateFileTooLargeError: a link lies there, another user's file, a large one.
            StoreError: the disk refused.
        """
        with disk_errors(self._place.path):
            try:
                check_between(self._layer, self._place.within, self._place.path)
                check_dir(self._layer, self._place.path.parent)
            except FileNotFoundError:
                return None
            data = read_file(self._layer, self._place.path, LIMIT)
        if data is None:
            return None
        found = _decoded(data)
        if found is None:
            raise LastRecallUnreadableError
        return found

    def close(self) -> None:
        """Give the lock's descriptor back."""
        self._lock.close()

    def _replace(self, data: bytes, wanted: Callable[[], bool]) -> bool:
        path = self._place.path
        temporary = create_temporary(self._layer, path, data)
        taken = False
        try:
            if wanted():
                uninterrupted(self._layer.replace, temporary, path)
                taken = True
        finally:
            if not taken:
                remove_file(self._layer, temporary)
        if taken:
            sync_dir(self._layer, path.parent)
        return taken

    def _make_way(self) -> None:
        path = self._place.path
        try:
            data = read_file(self._layer, path, LIMIT)
        except (StateFileError, StateFileTooLargeError):
            if not self._place.is_ours:
                raise
            data = b""
        if data is None or _decoded(data) is not None:
            return
        if not self._place.is_ours:
            raise LastRecallForeignError
        aside = quarantine(self._layer, path, self._now())
        self._notify(f"{NAME} was broken; it was put aside as {aside.name}, and a new one was begun.")


def _decoded(data: bytes) -> dict[str, JsonValue] | None:
    """The object in the bytes of a file, or None where they are no record of a recall. Any bytes may be given."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("createdAt"), str) or "failed" not in found:
        return None
    return found if isinstance(found.get("blocks"), list) else None
