"""The host at the other end of the pipe, as far as the application needs to know it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from hindbrain.contracts import JsonValue


class Peer(Protocol):
    """Calls into the host process. The bridge implements it; the application knows no pipe.

    Source: docs/protocol.md.
    """

    async def call(self, method: str, params: Mapping[str, JsonValue], timeout: float) -> JsonValue:  # noqa: ASYNC109  (the bridge's)
        """Ask the host; ``timeout`` is in seconds.

        Raises:
            Exception: the host refused, did not answer in time, or is gone.
        """
        ...

    def notify(self, method: str, params: Mapping[str, JsonValue]) -> object:
        """Tell the host; nobody waits for it, and it may be lost."""
        ...
