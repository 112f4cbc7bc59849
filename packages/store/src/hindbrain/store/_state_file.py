"""A sealed JSON file of the state folder for what has no form of its own here: whole, or as it was before.

Source: decisions.md, "Durability" (nothing is written in place; state carries this user's seal).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hindbrain.contracts import JsonValue, Outcome
from hindbrain.store._errors import StoreError
from hindbrain.store._files import FileLayer, atomic_replace, disk_errors, read_file, remove_leftovers
from hindbrain.store._seal import SealKey
from hindbrain.store._sealed import Distrusted, open_document, seal_document

LIMIT = 256 << 20


class StateFileDistrustedError(StoreError):
    """A state file is damaged, or another wrote it; it was left as it is and nothing was done."""

    code = "state-file-distrusted"
    outcome = Outcome.NOT_SENT
    advice = "Look at it, and move it away to begin anew."


class StateFileNewerError(StoreError):
    """A newer version of hindbrain wrote a state file; it was left as it is and nothing was done."""

    code = "state-file-newer"
    outcome = Outcome.NOT_SENT
    advice = "Upgrade hindbrain on this machine."


class StateFile:
    """One such file. Blocking, and for one writer at a time: see ``HostState.alone``.

    Every method may raise StoreError where the disk refused or no plain file of this user lies there.

    Args:
        layer: the disk.
        path: the file; its name is part of the seal, so that one file never passes for another.
        key: this user's seal.
        version: of what stands in it. A file of a higher one is refused.
    """

    def __init__(self, layer: FileLayer, path: Path, key: SealKey, version: int) -> None:
        self._layer = layer
        self.path = path
        self._key = key
        self._version = version

    def read(self) -> Mapping[str, JsonValue] | None:
        """What stands in it, or None where there is no file.

        Raises:
            StateFileDistrustedError: it is damaged, or does not bear this user's seal.
            StateFileNewerError: a newer version wrote it.
        """
        with disk_errors(self.path):
            data = read_file(self._layer, self.path, LIMIT)
        if data is None:
            return None
        found = open_document(self._key, self.path.name, data)
        if isinstance(found, Distrusted):
            raise StateFileDistrustedError(
                f"{self.path} is damaged, or was not written by this user's hindbrain; it was left as it is."
            )
        if found.version > self._version:
            raise StateFileNewerError
        return found.body

    def write(self, body: Mapping[str, JsonValue]) -> None:
        """Put this in its place; durable on return. ``body`` has at least one field."""
        data = seal_document(self._key, self.path.name, self._version, body)
        with disk_errors(self.path):
            remove_leftovers(self._layer, self.path)
            atomic_replace(self._layer, self.path, data)
