"""The host at the other end of the pipe, as the port that a session lives in."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from hindbrain.contracts import (
    CHANNEL,
    Branch,
    ContextUsage,
    JsonValue,
    TaskState,
    TelemetryEvent,
)
from hindbrain.generic.sidecar._peer import Peer
from hindbrain.generic.sidecar._tasks import tasks_of
from hindbrain.generic.sidecar._view import Missing, SessionView

_QUICK = 2.0
_COPYING = 10.0
_PATIENT = 600.0
"""Seconds: for what a host knows at once, for a clipboard's own program, and for what its user is asked."""
_MOST_BYTES = 1024 * 1024


class PeerHost:
    """Implements the ``Host`` port by calls into the host process.

    Args:
        peer: the other end.
        session: the host's own id of the session.
    """

    def __init__(self, peer: Peer, session: str) -> None:
        self._peer = peer
        self._session = session
        self.view = SessionView(self._missing)
        self.file: str | None = None
        self.leaf: str | None = None

    async def look(self) -> None:
        """Read what is new of the session."""
        await self.view.look(self.file, self.leaf)

    async def branch(self) -> Branch:
        """The session as the last event named it."""
        await self.look()
        return self.view.branch

    async def append(self, custom_type: str, data: Mapping[str, JsonValue], *, expect_ancestor: str | None) -> str:
        """Append an entry. Raises where the branch has moved on; nothing was appended then."""
        params = {"customType": custom_type, "data": dict(data), "expectAncestor": expect_ancestor}
        answer = await self._ask("host/append", params)
        self.leaf = str(answer["id"])  # where the host stands now, until it says otherwise
        return self.leaf

    async def notify(self, text: str, level: str = "info") -> None:
        """Show one line."""
        await self._ask("host/notify", {"text": text, "level": level})

    async def confirm(self, title: str, text: str) -> bool:
        """Ask the user."""
        answer = await self._ask("host/confirm", {"title": title, "text": text}, within=_PATIENT)
        return answer.get("yes") is True

    async def select(self, title: str, items: list[str]) -> int | None:
        """Let the user choose; None where they chose nothing."""
        answer = await self._ask("host/select", {"title": title, "items": items}, within=_PATIENT)
        return _index(answer.get("index"), len(items))

    async def view_list(
        self, title: str, lines: list[str], items: list[str], keys: Mapping[str, str]
    ) -> tuple[str | None, int | None]:
        """Show a list with keys, and say which key was pressed on which item.

        None twice where it cannot be shown, or was left.
        """
        params = {"title": title, "lines": lines, "items": items, "keys": dict(keys)}
        answer = await self._ask("host/view", params, within=_PATIENT)
        key = answer.get("key")
        return key if key in keys else None, _index(answer.get("index"), len(items))

    def status(self, text: str | None) -> None:
        """Set or clear the footer."""
        self._peer.notify("host/status", {"session": self._session, "text": text})

    async def task_state(self) -> TaskState:
        """What work is open, as the entries on the branch say."""
        entries = (await self._ask("host/tasks", {})).get("entries")
        return tasks_of(entries if isinstance(entries, list) else ())

    async def context_usage(self) -> ContextUsage:
        """How full the window is."""
        answer = await self._ask("host/usage", {})
        return ContextUsage(tokens=_count(answer.get("tokens")), window=_count(answer.get("window")))

    async def emit(self, event: TelemetryEvent) -> None:
        """Hand the event to whoever listens on the host's bus."""
        self._peer.notify("host/emit", {"channel": CHANNEL, "data": event.payload()})

    async def idle(self) -> bool:
        """Whether no run of the agent is under way."""
        return (await self._ask("host/idle", {})).get("idle") is True

    async def compact(self, instructions: str | None = None) -> bool:
        """Let the host compact; it asks for the summary meanwhile."""
        return (await self._ask("host/compact", {"instructions": instructions}, within=_PATIENT)).get("done") is True

    async def copy(self, text: str) -> str | None:
        """Put a text on the clipboard of whoever sits at the host."""
        how = (await self._ask("host/copy", {"text": text}, within=_COPYING)).get("how")
        return how if isinstance(how, str) and how else None

    async def other_memory(self) -> str | None:
        """The host's own memory where that is on."""
        with contextlib.suppress(Exception):  # a host that has none does not know the question
            backend = (await self._ask("host/memory", {})).get("backend")
            return backend if isinstance(backend, str) and backend != "off" else None
        return None

    async def _missing(self, after: str | None) -> Missing:
        answer = await self._ask("host/entries", {"after": after, "limitBytes": _MOST_BYTES})
        entries = answer.get("entries")
        return Missing(
            entries=entries if isinstance(entries, list) else (),
            leaf=answer.get("leaf"),
            more=answer.get("more") is True,
        )

    async def _ask(
        self, method: str, params: Mapping[str, JsonValue], *, within: float = _QUICK
    ) -> Mapping[str, JsonValue]:
        answer = await self._peer.call(method, {"session": self._session, **params}, within)
        return answer if isinstance(answer, Mapping) else {}


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _index(value: JsonValue, length: int) -> int | None:
    number = _count(value)
    return number if number is not None and number < length else None
