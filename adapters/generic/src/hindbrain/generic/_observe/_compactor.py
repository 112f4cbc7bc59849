"""When a session is compacted, and the answer to a host that does it: prepared memory, no model, no waiting.

Source: 004_d1a6c9e182f889a8.txt, "Scaling compaction"; spec/observe.md sections 4 and 5.4.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from attrs import evolve

from hindbrain.contracts import ContextUsage, Host
from hindbrain.generic._observe._consolidator import Note, Sleep
from hindbrain.generic._observe._ledger import HostLedger
from hindbrain.generic._observe._values import Cancelled, CompactionAnswer, CompactionAsk, Tell
from hindbrain.observe import (
    Delegated,
    LedgerIndex,
    Moment,
    ObserveConfig,
    ObserveError,
    compact,
    compact_due,
    cut_place,
    folded_details,
)

QUIET = 0.25
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Seconds between two looks at a host: at one that is idle, and at one that is about to come to rest."""


class Compactor:
    """The compactions of one session.

    Args:
        host: where the session lives.
        ledger: its ledger.
        config: the settings.
        usage: how full the model's window is.
        tell: shows a line to the user.
        note: the debug log.
        sleep: how a host is waited for that has not come to rest yet.

    Attributes:
        asked: whether a compaction that we asked for is under way.
    """

    def __init__(
        self,
        host: Host,
        ledger: HostLedger,
        config: ObserveConfig,
        *,
        usage: Callable[[], Awaitable[ContextUsage]],
        tell: Tell,
        note: Note,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._host = host
        self._ledger = ledger
        self._config = config
        self._usage = usage
        self._tell = tell
        self._note = note
        self._sleep = sleep
        self._answering = False
        self._in_silence = False
        self.asked = False

    @property
    def busy(self) -> bool:
        """Whether a compaction is asked for or being answered."""
        return self.asked or self._answering

    async def due(self) -> bool:
        """Whether the branch has grown enough for a compaction that can shrink it, and there is a memory to make it of.

        Without one the host would summarise: when that is due is its own affair.
        """
        index = await self._ledger.index()
        return not is_without_memory(index) and compact_due(index, self._config, (await self._usage()).window)

    async def ask(self, *, again: Callable[[], Awaitable[bool]] | None = None, in_silence: bool = False) -> bool:
        """Let the host compact, unless it is busy or it is not due any more; whether it did.

        Args:
            again: looks once more, after the host has said that it is idle; None where the user asked.
            in_silence: nobody waits for it: where memory has nothing to show, nothing is compacted.
        """
        if self.busy:
            return False
        self.asked, self._in_silence = True, in_silence
        try:
            if not await self._comes_to_rest() or (again is not None and not await again()):
                self._note("compaction.deferred", {}, None)
                return False
            if again is not None:
                await self._tell("The conversation is compacted from memory.", "info")
            done = await self._host.compact()
        except Exception as error:  # noqa: BLE001  (the border to the host: what is due is asked for at the next rest)
            self._note("compaction.failed", {"kind": type(error).__name__}, None)
            return False
        finally:
            self.asked = self._in_silence = False
        self._note("compaction.asked", {"done": done}, None)
        return done

    async def _comes_to_rest(self) -> bool:
        """Whether the host comes to rest soon: idle at two looks in a row.

        It tells of the end of a run a moment before it is idle, and a program that speaks to it says the next thing at
        once: a host that compacts would turn that away. A run that begins meanwhile is waited for, too: who settles
        while this waits does not ask a second time.
        """
        rested = False
        for pause in (*PAUSES, 0.0):
            idle = await self._host.idle()
            if idle and rested:
                return True
            rested = idle
            await self._sleep(QUIET if idle else pause)
        return False

    async def answer(self, ask: CompactionAsk) -> CompactionAnswer | Cancelled | None:
        """The compaction to store; None leaves the host to summarise as it would without us."""
        if self._answering:
            return Cancelled(text="A compaction is being prepared already.")
        self._answering = True
        try:
            return await self._answer(ask)
        finally:
            self._answering = False

    async def _answer(self, ask: CompactionAsk) -> CompactionAnswer | Cancelled | None:
        index = await self._ledger.index()
        moment = Moment(
            window=ask.window, reserve=ask.reserve, system=ask.system_tokens, overflow=ask.reason == "overflow"
        )
        try:
            made = compact(index, ask.first_kept, self._config, moment, instructions=ask.instructions)
        except ObserveError as error:
            self._note("compaction.refused", {"code": error.code}, None)
            return None
        if made.notice is not None:
            await self._tell(made.notice.text, "warning" if made.notice.warning else "info")
        if isinstance(made, Delegated):
            self._note("compaction.delegated", {"reason": made.reason.value}, None)
            if self._in_silence:  # nobody waits for it, and nobody asked for the host's own summary
                return Cancelled(text="Nothing was compacted in the silence: memory has nothing to show.")
            return None
        self._note("compaction.answered", {"tokensBefore": ask.tokens_before, "render": made.budget.render}, None)
        return CompactionAnswer(
            summary=made.summary,
            first_kept=made.first_kept,
            tokens_before=ask.tokens_before,
            details=folded_details(made.details),
        )

    async def at_boundary(self, ask: CompactionAsk, keep: int) -> CompactionAnswer | None:
        """The compaction of a host that can take one while its run still goes on; None where none is due.

        Args:
            ask: what the host tells; where it keeps from is decided here.
            keep: the tokens of the tail that stay.
        """
        if self._config.passive or self.busy:
            return None
        index = await self._ledger.index()
        if not compact_due(index, self._config, ask.window) or is_without_memory(index):
            return None
        place = cut_place(index, keep)
        if place is None:
            return None
        before = index.tokens_from(index.kept_from)
        answer = await self.answer(evolve(ask, first_kept=index.entries[place].id, tokens_before=before))
        return answer if isinstance(answer, CompactionAnswer) else None


def is_without_memory(index: LedgerIndex) -> bool:
    """Whether nothing of the branch is in force."""
    return not index.fold.active_observations and not index.fold.active_reflections
