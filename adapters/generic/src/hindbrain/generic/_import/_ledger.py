"""Manifest and checkpoint on the disk: what was imported before, and what this run has done so far.

The checkpoint holds what the manifest does not know yet and is replaced after every batch; when it has grown to a part
of the manifest, the manifest is written anew. So each costs little, and a process that is killed leaves them whole.
"""

from __future__ import annotations

from collections.abc import Callable

from hindbrain.generic._import._record import QUEUED, FileRecord, Imported, Records
from hindbrain.store import StateFile, StateFileDistrustedError

MANIFEST, CHECKPOINT = "import-manifest.json", "import-checkpoint.json"
_LEAST = 500
_PART = 4


class ImportLedger:
    """What is known of imports into one state folder. Blocking; one process at a time.

    Every method that reads or writes may raise StoreError.

    Args:
        manifest: the file of what is known for good.
        checkpoint: the file of what came since.
        run: names this run.
        now: ISO 8601.
    """

    def __init__(self, manifest: StateFile, checkpoint: StateFile, *, run: str, now: Callable[[], str]) -> None:
        self._manifest = manifest
        self._checkpoint = checkpoint
        self._run = run
        self._now = now
        self._started = now()
        self._known = Records()
        self._since = Records()
        self._by_session: dict[str, dict[tuple[str, str], Imported]] = {}

    def load(self) -> None:
        """Read both files.

        Raises:
            StateFileDistrustedError: one is damaged or another user's; nothing is forgotten in silence.
        """
        self._known, self._since = _records(self._manifest), _records(self._checkpoint)
        self._known.update(self._since)
        for place, documents in self._known.imports.items():
            for name, imported in documents.items():
                self._by_session.setdefault(imported.session, {})[place, name] = imported

    def document(self, place: str, document: str) -> Imported | None:
        """What is known of a document."""
        return self._known.imports.get(place, {}).get(document)

    def of_session(self, bank: str, session: str) -> list[Imported]:
        """The documents of a session that are known in a bank of this name, of whatever backend."""
        documents = self._by_session.get(session, {}).items()
        return [each for (place, _), each in documents if place.endswith(f" {bank}")]

    def file(self, path: str) -> FileRecord | None:
        """What is known of a file."""
        return self._known.files.get(path)

    def put(self, place: str, document: str, imported: Imported) -> None:
        """Know a document from now on."""
        self._known.put(place, document, imported)
        self._since.put(place, document, imported)
        self._by_session.setdefault(imported.session, {})[place, document] = imported

    def put_file(self, path: str, record: FileRecord) -> None:
        """Know a file from now on."""
        self._known.files[path] = self._since.files[path] = record

    def queued(self) -> list[tuple[str, str, Imported]]:
        """The documents that were in the queue when it was last looked at, with place and id."""
        return [
            (place, name, each)
            for place, documents in self._known.imports.items()
            for name, each in documents.items()
            if each.status == QUEUED
        ]

    def save(self, *, finished: bool = False) -> None:
        """Make durable what is known; ``finished`` writes the manifest and empties the checkpoint."""
        if finished or len(self._since) > max(_LEAST, len(self._known) // _PART):
            if len(self._since):
                self._manifest.write(self._known.body())
            self._since = Records()
        state = {"runId": self._run, "startedAt": self._started, "updatedAt": self._now(), "finished": finished}
        self._checkpoint.write({**state, **self._since.body()})


def _records(file: StateFile) -> Records:
    try:
        return Records.of(file.read())
    except (KeyError, TypeError, AttributeError):
        raise StateFileDistrustedError(f"{file.path} has another form; it was left as it is.") from None
