"""A host that lives in this process: for Python agents, the command line and tests."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping

from hindbrain.contracts import (
    Branch,
    ContextUsage,
    Entry,
    HindbrainError,
    JsonValue,
    TaskState,
    TelemetryEvent,
)

_EVENTS = 1000


class BranchMovedError(HindbrainError):
    """An entry was meant for a branch that is no longer the present one; nothing was appended."""

    code = "branch-moved"

    def __init__(self) -> None:
        super().__init__("The branch has moved on; the entry was not appended.")


def _quiet(_text: str, _level: str) -> None:
    return


class InProcessHost:
    """Implements the ``Host`` port over entries held in memory.

    Add the conversation's entries with :meth:`add`; the last one added is the leaf.
    """

    def __init__(self, *, notify: Callable[[str, str], None] = _quiet) -> None:
        self._entries: dict[str, Entry] = {}
        self._leaf: str | None = None
        self._notify = notify
        self.events: deque[TelemetryEvent] = deque(maxlen=_EVENTS)

    def add(self, entry: Entry) -> None:
        """Take one entry as the new leaf. An id that is there already is replaced."""
        self._entries[entry.id] = entry
        self._leaf = entry.id

    async def branch(self) -> Branch:
        """The entries so far, with the last one added as the leaf."""
        return Branch(self._entries, self._leaf)

    async def append(self, custom_type: str, data: Mapping[str, JsonValue], *, expect_ancestor: str | None) -> str:
        """Append a custom entry.

        Raises:
            BranchMovedError: ``expect_ancestor`` is not on the present branch.
        """
        path = Branch(self._entries, self._leaf).path()
        if expect_ancestor is not None and all(entry.id != expect_ancestor for entry in path):
            raise BranchMovedError
        number = len(self._entries) + 1
        text = json.dumps(data, ensure_ascii=False)
        self.add(Entry(id=f"own-{number}", parent_id=self._leaf, kind="custom", custom_type=custom_type, data=text))
        return f"own-{number}"

    async def notify(self, text: str, level: str = "info") -> None:
        """Hand the line to the callback given at construction."""
        self._notify(text, level)

    async def confirm(self, title: str, text: str) -> bool:  # noqa: ARG002  (the port's names)
        """No user can answer here."""
        return False

    async def task_state(self) -> TaskState:
        """Not known here."""
        return TaskState(available=False)

    async def context_usage(self) -> ContextUsage:
        """Not known here."""
        return ContextUsage()

    async def emit(self, event: TelemetryEvent) -> None:
        """Keep the event among the newest thousand, for whoever looks."""
        self.events.append(event)

    async def idle(self) -> bool:
        """Whoever lives in this process says itself when a run is over."""
        return True

    async def compact(self, instructions: str | None = None) -> bool:  # noqa: ARG002  (the port's names)
        """An agent in this process compacts its own context, and asks for a summary then."""
        return False

    async def copy(self, text: str) -> str | None:  # noqa: ARG002  (the port's names)
        """There is no clipboard here."""
        return None
