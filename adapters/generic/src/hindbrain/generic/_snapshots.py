"""Leaves the last recall of a session in its file, where the user asked for that."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from hindbrain.contracts import HindbrainError, JsonValue
from hindbrain.generic._patch import ContextPatch
from hindbrain.generic._recall_files import RecallFiles
from hindbrain.memory import RecallConfig, RecallOutcome, RecallScope, broken_snapshot, recall_snapshot


class Snapshots:
    """Writes after each recall that was made: not after one that was skipped, and nothing once the user gave up.

    Args:
        files: where to write.
        scopes: the banks that are asked.
        config: whether to write at all, and whether failures, too.
        session: the session's key.
        clock: milliseconds since 1970 UTC.
        warn: told, in a sentence, that the file could not be written. The turn goes on.

    Source: spec/memory.md section 5.5; seed 000, "Last-recall snapshots".
    """

    def __init__(
        self,
        files: RecallFiles,
        scopes: Sequence[RecallScope],
        config: RecallConfig,
        *,
        session: str,
        clock: Callable[[], int],
        warn: Callable[[str], Awaitable[None]],
    ) -> None:
        self._files = files
        self._scopes = tuple(scopes)
        self._config = config
        self._session = session
        self._clock = clock
        self._warn = warn
        self._written: RecallOutcome | None = None

    async def keep(self, patch: ContextPatch, abort: asyncio.Event | None) -> None:
        """Write what this recall came to; one that is shown again is there already."""
        if not self._config.store_last_recall or patch.skipped not in {None, "recall-failed"}:
            return
        if patch.outcome is self._written:
            return
        body = recall_snapshot(
            patch.outcome,
            self._scopes,
            at=self._clock() if patch.at is None else patch.at,
            session=self._session,
            failures=self._config.store_last_recall_failures,
        )
        if body is not None and await self._write(body, abort):
            self._written = patch.outcome

    async def broke(self, error: str, abort: asyncio.Event | None) -> None:
        """Write that a recall broke by itself; ``error`` is the class of what was raised."""
        if self._config.store_last_recall and self._config.store_last_recall_failures:
            await self._write(broken_snapshot(error, at=self._clock(), session=self._session), abort)

    async def _write(self, body: Mapping[str, JsonValue], abort: asyncio.Event | None) -> bool:
        def wanted() -> bool:
            return abort is None or not abort.is_set()

        if not wanted():
            return False
        try:
            await self._files.keep(body, wanted=wanted)
        except HindbrainError as error:
            await self._warn(f"The last recall was not stored. {error}")
            return False
        except Exception as error:  # noqa: BLE001  (the border to the host: a debug file must not break a turn)
            await self._warn(f"The last recall was not stored ({type(error).__name__}).")
            return False
        return wanted()
