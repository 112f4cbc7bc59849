"""A session that rests long enough is compacted, while nobody waits for it.

Source: spec/observe.md section 4 (idle compaction).
"""

from __future__ import annotations

from collections.abc import Callable

from hindbrain.generic._observe._compactor import Compactor, is_without_memory
from hindbrain.generic._observe._consolidator import Consolidator, Note
from hindbrain.generic._observe._idle import IdleTimer
from hindbrain.generic._observe._ledger import HostLedger
from hindbrain.observe import LedgerIndex, ObserveConfig, clocks

SOON = 5.0
"""Seconds until a session is compacted whose silence had lasted long enough before it was opened again."""
PATIENCE = 600.0
"""Seconds that a silence's compaction waits for workers."""
_DONE = frozenset({"stop", "end_turn", "endTurn", "length", None})


class Silence:
    """Listens to one session.

    Args:
        ledger: the session's ledger.
        workers: waited for before anything is compacted.
        compactor: asks the host.
        config: the settings.
        timer: the silence.
        note: the debug log.
        clock: milliseconds since 1970 UTC.

    Attributes:
        broken: how many runs of the agent have begun.
    """

    def __init__(
        self,
        ledger: HostLedger,
        workers: Consolidator,
        compactor: Compactor,
        config: ObserveConfig,
        *,
        timer: IdleTimer,
        note: Note,
        clock: Callable[[], int],
    ) -> None:
        self._ledger = ledger
        self._workers = workers
        self._compactor = compactor
        self._config = config
        self._timer = timer
        self._note = note
        self._clock = clock
        self.broken = 0

    def end(self) -> None:
        """A run of the agent begins."""
        self.broken += 1
        self._timer.drop()

    def drop(self) -> None:
        """Listen no longer, until the session rests again."""
        self._timer.drop()

    async def close(self) -> None:
        """Listen no longer, and break off what has begun."""
        await self._timer.close()

    async def listen(self, broken: int, *, since: int | None = None) -> None:
        """Compact after a silence, where there is enough to compact and a memory to do it from.

        Args:
            broken: how often the silence had been broken when it began; where it was since, there is none.
            since: when it began, in milliseconds since 1970 UTC; None is now.
        """
        ttl = self._config.idle_compaction_ttl
        pays = ttl is not None and not self._config.passive and self._pays(await self._ledger.index())
        if broken != self.broken:
            return
        if ttl is None or not pays:
            self._timer.drop()
            return
        left = ttl if since is None else max(SOON, ttl - (self._clock() - since) / 1000)
        self._timer.arm(left, self._over)

    async def resumed(self, broken: int) -> None:
        """A session was opened again: its silence may have begun before."""
        since = last_rest(await self._ledger.index(), self._clock())
        if since is not None:
            await self.listen(broken, since=since)

    async def _over(self) -> None:
        try:
            if await self._workers.wait(PATIENCE):
                await self._compactor.ask(again=self._still_pays, in_silence=True)
        except Exception as error:  # noqa: BLE001  (the border to the host: the session stays as it is)
            self._note("silence.failed", {"kind": type(error).__name__}, None)

    async def _still_pays(self) -> bool:
        return self._pays(await self._ledger.index())

    def _pays(self, index: LedgerIndex) -> bool:
        return (
            index.gate_on
            and clocks(index).compact >= self._config.idle_compaction_min_tokens
            and index.tokens_from(index.compacted_at + 1) > 0
            and not is_without_memory(index)
        )


def last_rest(index: LedgerIndex, now: int) -> int | None:
    """When the session came to rest: at its last answer or compaction; None where it did not, or nobody knows."""
    last = next((entry for entry in reversed(index.entries) if entry.kind in {"message", "compaction"}), None)
    if last is None or last.at is None or last.at > now:
        return None
    if last.kind == "message" and (last.message is None or last.message.role != "assistant"):
        return None
    stopped = last.message.stop_reason if last.message is not None else None
    return last.at if stopped in _DONE else None
