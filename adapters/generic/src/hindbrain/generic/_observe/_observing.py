"""Observational memory of one session: what a host tells it, and what a user asks of it.

Source: 004_d1a6c9e182f889a8.txt, "Commands and agent tool"; spec/observe.md sections 4, 6 and 7.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from hindbrain.contracts import ContextUsage, Host, JsonValue
from hindbrain.generic._observe._compactor import Compactor
from hindbrain.generic._observe._consolidator import Consolidator
from hindbrain.generic._observe._debug import DebugLog
from hindbrain.generic._observe._idle import IdleTimer
from hindbrain.generic._observe._ledger import HostLedger
from hindbrain.generic._observe._manual import Manual
from hindbrain.generic._observe._silence import Silence
from hindbrain.generic._observe._values import Cancelled, CompactionAnswer, CompactionAsk, Told
from hindbrain.memory import iso
from hindbrain.observe import (
    Activity,
    BranchMovedError,
    Gate,
    ModelSource,
    ObserveConfig,
    RecallPage,
    append_of,
    recall,
    recall_page,
    status_lines,
    view,
)

NOT_YET = "The model sees memory from the first compaction on; /om view full shows what is recorded."


class Observing:
    """The engine of one session. No method raises for a broken memory, but for ``set_gate``, which says what failed.

    Tell it what happens (:meth:`started`, :meth:`turn_ended`, :meth:`settled`), let it answer compactions, and close
    it: workers and timers end with it.

    Args:
        host: where the conversation lives.
        source: where the workers' model comes from; it tells the user where there is none.
        config: the settings.
        clock: milliseconds since 1970 UTC.
        debug: the debug log; None writes none.
        zone: the zone of times in a ledger that has none yet, by its name in the zone database or as an offset.
        sleep: waits so many seconds; of the silence and of retries.
    """

    def __init__(
        self,
        host: Host,
        source: ModelSource,
        config: ObserveConfig,
        *,
        clock: Callable[[], int],
        debug: DebugLog | None = None,
        zone: str = "UTC",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._host = host
        self._config = config
        self._clock = clock
        self._debug = debug if config.debug_log else None
        self._ledger = HostLedger(host)
        self._workers = Consolidator(
            self._ledger,
            source,
            config,
            usage=self._usage,
            tell=self._tell,
            note=self._note,
            clock=clock,
            zone=zone,
            sleep=sleep,
        )
        self._compactor = Compactor(
            host,
            self._ledger,
            config,
            usage=self._usage,
            tell=self._tell,
            note=self._note,
            sleep=sleep,
        )
        self._silence = Silence(
            self._ledger,
            self._workers,
            self._compactor,
            config,
            timer=IdleTimer(sleep),
            note=self._note,
            clock=clock,
        )
        self._manual = Manual(self._ledger, self._workers, self._compactor)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def config(self) -> ObserveConfig:
        """The settings."""
        return self._config

    def opened(self) -> None:
        """The session was opened, perhaps after a long time."""
        self._spawn(partial(self._silence.resumed, self._silence.broken))

    def started(self) -> None:
        """A run of the agent begins: the silence is over, and what is due may be observed beside it."""
        self._silence.end()
        self.turn_ended()

    def turn_ended(self) -> None:
        """A turn is over. Returns at once; what is due is observed in the background."""
        if not (self._closed or self._config.passive):
            self._workers.start()

    def settled(self) -> None:
        """The agent has come to rest. Returns at once; a compaction that is due is asked for in the background."""
        self._spawn(partial(self._at_rest, self._silence.broken))

    async def before_settle(self, ask: CompactionAsk, keep: int) -> CompactionAnswer | None:
        """The compaction for a host that is about to come to rest and can take one now; None where none is due.

        Args:
            ask: what the host tells; where it keeps from is decided here.
            keep: the tokens of the tail that stay.
        """
        if self._closed:
            return None
        try:
            return await self._compactor.at_boundary(ask, keep)
        except Exception as error:  # noqa: BLE001  (the border to the host: it settles as it would without us)
            self._note("compaction.failed", {"kind": type(error).__name__}, None)
            return None

    async def compaction(self, ask: CompactionAsk) -> CompactionAnswer | Cancelled | None:
        """Answer a host that compacts; None lets it summarise as it would without us."""
        if self._closed:
            return Cancelled(text="The session was closed.")
        try:
            return await self._compactor.answer(ask)
        except Exception as error:  # noqa: BLE001  (the border to the host: it compacts as it would without us)
            self._note("compaction.failed", {"kind": type(error).__name__}, None)
            return None

    async def recall(self, record_id: str, page: int = 1) -> RecallPage:
        """What a record rests on, a page at a time."""
        index = await self._ledger.index()
        return recall_page(recall(index, record_id), page=page, zone=index.zone or "UTC")

    async def set_gate(self, *, on: bool) -> Told:
        """Switch observation on or off for this branch; durable before it is told.

        Raises:
            Exception: the host did not take the entry; nothing was switched.
        """
        index = await self._ledger.index()
        word = "on" if on else "off"
        if index.gate_on is on:
            return Told(text=f"Observational memory is {word} already.")
        entry = append_of(Gate(enabled=on))
        assert entry is not None  # noqa: S101  (a gate is never nothing)
        try:
            await self._ledger.append(entry, expect_ancestor=index.entries[-1].id if index.entries else None)
        except BranchMovedError:
            return Told(
                text="The conversation moved to another branch meanwhile; nothing was switched.", level="warning"
            )
        if not on:
            self._silence.drop()
            await self._workers.stop()
        return Told(text=f"Observational memory is {word} in this session.")

    async def state(self) -> Told:
        """Whether it is on."""
        index = await self._ledger.index()
        mode = " Nothing starts by itself (observe.passive)." if self._config.passive else ""
        return Told(text=f"Observational memory is {'on' if index.gate_on else 'off'} in this session.{mode}")

    async def status(self, width: int = 80, *, hindsight: Sequence[str] = ()) -> Told:
        """All there is to say, in lines of at most ``width`` cells.

        Args:
            width: of the terminal.
            hindsight: lines about the memory that outlives the session.
        """
        index, workers = await self._ledger.index(), self._workers
        activity = Activity(
            passive=self._config.passive,
            stage=workers.stage,
            compacting=self._compactor.busy,
            spend_usd=workers.spend.usd,
            calls=dict(workers.spend.calls),
            errors=dict(workers.errors),
            hindsight=tuple(hindsight),
        )
        lines = status_lines(index, self._config, await self._window(), width=width, activity=activity)
        return Told(text="\n".join(lines))

    async def view(self, *, whole: bool = False) -> Told:
        """What the model sees of memory, or all that is in force on the branch. An empty memory is not for copying."""
        shown = view(await self._ledger.index(), whole=whole)
        if not shown.is_empty:
            return Told(text=shown.text, copy=shown.text)
        return Told(text=shown.text if whole else f"{shown.text}\n\n{NOT_YET}")

    async def consolidate_now(self) -> Told:
        """Run the workers at once, whatever the thresholds say."""
        return await self._manual.consolidate()

    async def compact_now(self) -> Told:
        """Compact from memory at once; the workers that are at work are waited for first."""
        return await self._manual.compact()

    async def close(self) -> None:
        """End workers and timers. What they recorded stays, and what they did not is observed in the next session."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(self._workers.stop(), self._silence.close(), *self._tasks, return_exceptions=True)

    async def _at_rest(self, broken: int) -> None:
        if self._config.passive or self._compactor.busy:
            return
        if await self._compactor.due():
            await self._compactor.ask(again=self._compactor.due)
        else:
            await self._silence.listen(broken)

    async def _usage(self) -> ContextUsage:
        with contextlib.suppress(Exception):  # a host that does not say how full it is is asked again the next time
            return await self._host.context_usage()
        return ContextUsage()

    async def _window(self) -> int | None:
        return (await self._usage()).window

    async def _tell(self, text: str, level: str) -> None:
        with contextlib.suppress(Exception):  # a host that shows nothing has heard nothing
            await self._host.notify(text, level)

    def _note(self, event: str, data: Mapping[str, JsonValue], run: str | None) -> None:
        if self._debug is not None:
            self._debug.write(event, data, at=iso(self._clock()), run=run)

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        if self._closed:
            return
        task = asyncio.create_task(self._safely(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _safely(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001  (the border to the host: what is not done now is done at the next turn)
            self._note("failed", {"kind": type(error).__name__}, None)
