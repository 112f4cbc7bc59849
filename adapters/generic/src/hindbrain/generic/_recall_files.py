"""What recall reads and leaves behind on the disk: the memories the user suppressed, and the last recall."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Protocol, TypeVar

from hindbrain.contracts import JsonValue
from hindbrain.generic._seen import Seen
from hindbrain.memory import RecallConfig
from hindbrain.store import HostState, LastRecall

T = TypeVar("T")


class RecallFiles(Protocol):
    """What stands beside a session's recall: what is not to be shown, and what was shown last."""

    async def suppressed(self) -> frozenset[str]:
        """The ids of memories that are not to be shown, as they are now. Never raises."""
        ...

    async def suppress(self, memory_id: str) -> bool:
        """Never show a memory again; False where it was suppressed already.

        Raises:
            InvalidValueError, StoreError: the id is refused, or it could not be made durable; nothing was changed.
        """
        ...

    async def show_again(self, memory_id: str) -> bool:
        """Let a memory be shown again; False where it was not suppressed. Raises as ``suppress``."""
        ...

    async def keep(self, body: Mapping[str, JsonValue], *, wanted: Callable[[], bool]) -> None:
        """Put this in place of the last recall, unless ``wanted`` says no by the time it is written.

        Raises:
            StoreError: the path is refused, or the disk did not take it.
        """
        ...

    async def last(self) -> Mapping[str, JsonValue] | None:
        """The last recall that was stored, None where there is none; ``read_recall`` makes values of it.

        Raises:
            StoreError: it is broken, or may not be read.
        """
        ...


class MemoryRecallFiles:
    """No disk: what is suppressed and stored is lost with this process."""

    def __init__(self) -> None:
        self._suppressed: frozenset[str] = frozenset()
        self._last: Mapping[str, JsonValue] | None = None

    async def suppressed(self) -> frozenset[str]:
        """See :class:`RecallFiles`."""
        return self._suppressed

    async def suppress(self, memory_id: str) -> bool:
        """See :class:`RecallFiles`."""
        before = self._suppressed
        self._suppressed = before | {memory_id}
        return self._suppressed != before

    async def show_again(self, memory_id: str) -> bool:
        """See :class:`RecallFiles`."""
        before = self._suppressed
        self._suppressed = before - {memory_id}
        return self._suppressed != before

    async def keep(self, body: Mapping[str, JsonValue], *, wanted: Callable[[], bool]) -> None:
        """See :class:`RecallFiles`."""
        if wanted():
            self._last = body

    async def last(self) -> Mapping[str, JsonValue] | None:
        """See :class:`RecallFiles`."""
        return self._last


class DiskRecallFiles:
    """The files in a state folder, or where ``recall.lastRecallPath`` says.

    Args:
        state: the opened state folder.
        config: the recall settings.
        root: the project's root, where relative paths begin.
    """

    def __init__(self, state: HostState, config: RecallConfig, root: Path) -> None:
        self._state = state
        self._hidden: Seen[frozenset[str]] = Seen(
            state.suppressed.mark, lambda: state.run(state.suppressed.ids), lambda _: state.suppressed.sure
        )
        self._named = own_path(config.last_recall_path)
        self._root = root

    async def suppressed(self) -> frozenset[str]:
        """See :class:`RecallFiles`."""
        return await self._hidden.now()

    async def suppress(self, memory_id: str) -> bool:
        """See :class:`RecallFiles`."""
        return await self._state.run(lambda: self._state.suppressed.add(memory_id))

    async def show_again(self, memory_id: str) -> bool:
        """See :class:`RecallFiles`."""
        return await self._state.run(lambda: self._state.suppressed.remove(memory_id))

    async def keep(self, body: Mapping[str, JsonValue], *, wanted: Callable[[], bool]) -> None:
        """See :class:`RecallFiles`."""
        await self._use(lambda file: file.write(body, wanted=wanted))

    async def last(self) -> Mapping[str, JsonValue] | None:
        """See :class:`RecallFiles`."""
        return await self._use(lambda file: file.read())

    async def _use(self, use: Callable[[LastRecall], T]) -> T:
        def work() -> T:
            with closing(self._state.last_recall(root=self._root, named=self._named)) as file:
                return use(file)

        return await self._state.run(work)


def own_path(named: str | None) -> str | None:
    """The setting with ``~`` read as this user's home."""
    return None if named is None else str(Path(named).expanduser())
