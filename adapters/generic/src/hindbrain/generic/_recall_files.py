"""What recall reads and leaves behind on the disk: the memories the user suppressed, and the last recall."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from hindbrain.contracts import JsonValue
from hindbrain.memory import RecallConfig
from hindbrain.store import HostState


class RecallFiles(Protocol):
    """The files beside a session's recall."""

    async def suppressed(self) -> frozenset[str]:
        """The ids of memories that are not to be shown, as they are now."""
        ...

    async def keep(self, body: Mapping[str, JsonValue], *, wanted: Callable[[], bool]) -> None:
        """Put this in place of the last recall, unless ``wanted`` says no by the time it is written."""
        ...


class NoRecallFiles:
    """No disk: nothing is suppressed and nothing is left behind."""

    async def suppressed(self) -> frozenset[str]:
        """See :class:`RecallFiles`."""
        return frozenset()

    async def keep(self, body: Mapping[str, JsonValue], *, wanted: Callable[[], bool]) -> None:
        """See :class:`RecallFiles`."""


class DiskRecallFiles:
    """The files in a state folder, or where ``recall.lastRecallPath`` says.

    Args:
        state: the opened state folder.
        config: the recall settings.
        root: the project's root, where relative paths begin.
    """

    def __init__(self, state: HostState, config: RecallConfig, root: Path) -> None:
        self._state = state
        self._named = own_path(config.last_recall_path)
        self._root = root

    async def suppressed(self) -> frozenset[str]:
        """See :class:`RecallFiles`. Never raises."""
        return await self._state.run(self._state.suppressed.ids)

    async def keep(self, body: Mapping[str, JsonValue], *, wanted: Callable[[], bool]) -> None:
        """See :class:`RecallFiles`.

        Raises:
            StoreError: the path is refused, or the disk did not take it.
        """

        def work() -> None:
            file = self._state.last_recall(root=self._root, named=self._named)
            try:
                file.write(body, wanted=wanted)
            finally:
                file.close()

        await self._state.run(work)


def own_path(named: str | None) -> str | None:
    """The setting with ``~`` read as this user's home."""
    return None if named is None else str(Path(named).expanduser())
