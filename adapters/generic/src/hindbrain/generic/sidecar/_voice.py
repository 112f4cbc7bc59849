"""All that a session says of memory by itself, as the user wants it said."""

from __future__ import annotations

import asyncio
import contextlib

from hindbrain.generic._config import Settings
from hindbrain.generic._patch import ContextPatch
from hindbrain.generic.sidecar._footer import Footer, Notices, Word
from hindbrain.generic.sidecar._host import PeerHost


class Voice:
    """The footer and the notices of one session. Until the settings are known it speaks as by default.

    Args:
        host: where it is shown.
    """

    def __init__(self, host: PeerHost) -> None:
        self._host = host
        self._footer, self._notices = Footer(), Notices()
        self._asides: set[asyncio.Task[None]] = set()
        self.project = ""

    @property
    def warns(self) -> bool:
        """Whether something is said when a session opens."""
        return self._notices.startup

    def follow(self, settings: Settings) -> None:
        """Speak as the settings say."""
        self._footer, self._notices = Footer.of(settings), Notices.of(settings)

    def show(self, word: Word | None) -> None:
        """Write the footer, or clear it."""
        self._host.status(self._footer.line(word, self.project))

    def recalled(self, patch: ContextPatch) -> None:
        """A prompt was recalled for."""
        self._say(self._notices.recalled(patch))

    def retained(self, sent: int) -> None:
        """Turns were sent."""
        self._say(self._notices.retained(sent))

    async def warn(self, text: str) -> None:
        """Say what is wrong with a session that opens."""
        if self.warns:
            await self._tell(text, "warning")

    def close(self) -> None:
        """Be silent."""
        for task in self._asides:
            task.cancel()
        self.show(None)

    def _say(self, text: str | None) -> None:
        """Tell something beside the turn, which does not wait for it."""
        if text is not None:
            task = asyncio.create_task(self._tell(text, "info"))
            self._asides.add(task)
            task.add_done_callback(self._asides.discard)

    async def _tell(self, text: str, level: str) -> None:
        with contextlib.suppress(Exception):  # a host that shows nothing has heard nothing
            await self._host.notify(text, level)
