"""What the application behind the bridge has of its host."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from hindbrain.bridge._errors import ConnectionLostError

if TYPE_CHECKING:
    import os

    from hindbrain.bridge._connection import Connection
    from hindbrain.bridge._log import Log

EARLY: Final = 200
"""Notes that are kept until a folder for the log is known."""


class Peer:
    """The host, as a loaded application sees it.

    Attributes:
        hello: the parameters of ``initialize``, as the host sent them.
    """

    def __init__(self) -> None:
        self.hello: dict[str, Any] = {}
        self._connection: Connection | None = None
        self._early: deque[tuple[float, str, dict[str, str | int]]] = deque(maxlen=EARLY)
        self._log: Log | None = None
        self._line: Callable[[float, str, dict[str, str | int]], str] | None = None

    def attach(self, connection: Connection) -> None:
        """Use this connection from now on."""
        self._connection = connection

    async def call(self, method: str, params: Mapping[str, Any], timeout: float) -> Any:  # noqa: ASYNC109  (its own)
        """Call the host; see `Connection.call`."""
        if self._connection is None:
            raise ConnectionLostError
        return await self._connection.call(method, params, timeout)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the host something; where it cannot be told, it is not. See `Connection.notify`."""
        if self._connection is not None:
            self._connection.notify(method, params)

    def log_to(self, folder: str | os.PathLike[str]) -> None:
        """Keep the log in this folder, which is there and is ours, from now on. The notes so far are written, too."""
        from pathlib import Path

        from hindbrain.bridge import _log

        self._log, self._line = _log.Log(Path(folder)), _log.line
        early = "".join(_log.line(*note) for note in self._early)
        self._early.clear()
        if early:
            self._log.write(early)

    def note(self, event: str, **figures: str | int) -> None:
        """Note an event with ids and counts; a text that is no plain id is not written. Never raises."""
        if self._log is None or self._line is None:
            self._early.append((time.time(), event, figures))
        else:
            self._log.write(self._line(time.time(), event, figures))
