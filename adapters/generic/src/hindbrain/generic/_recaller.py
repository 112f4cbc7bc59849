"""Automatic recall for one session: one attempt a turn, what was found shown again, patience after an outage."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence

from hindbrain.contracts import Backend, Message
from hindbrain.generic._patch import ContextPatch
from hindbrain.memory import (
    Project,
    RecallConfig,
    RecallOutcome,
    RecallScope,
    TurnKey,
    Turns,
    iso,
    last_user,
    recall_for,
)


class Recaller:
    """Asks the scopes of a session.

    Args:
        backend: where to ask.
        scopes: the banks, with their filters.
        config: the recall settings.
        project: the identity named in queries.
        clock: milliseconds since 1970 UTC.
    """

    def __init__(
        self,
        backend: Backend,
        scopes: Sequence[RecallScope],
        config: RecallConfig,
        project: Project,
        clock: Callable[[], int],
    ) -> None:
        self._backend = backend
        self._scopes = tuple(scopes)
        self._config = config
        self._project = project
        self._clock = clock
        self._turns: Turns[RecallOutcome] = Turns(config.cache_ttl_ms)

    async def recall(
        self,
        messages: Sequence[Message],
        *,
        sources: bool = False,
        abort: asyncio.Event | None = None,
        suppressed: frozenset[str] = frozenset(),
    ) -> ContextPatch:
        """The patch for these messages; its text is empty where there is nothing to show, with the reason.

        Args:
            messages: the conversation, oldest first.
            sources: ask for source facts too.
            abort: set by the host when the user gave up; requests are then cancelled and nothing is remembered.
            suppressed: ids of memories the user does not want to see; a change of them asks again.
        """
        at = last_user(messages)
        if not self._scopes or at is None or messages[-1].role == "assistant":
            return ContextPatch(skipped="append-requires-user" if self._scopes else "no-scopes")
        if abort is not None and abort.is_set():
            return ContextPatch(skipped="aborted")
        key = self._key(messages[at], sources=sources, suppressed=suppressed)
        turn = sum(message.role == "user" for message in messages)
        shown = self._turns.recall(key, self._clock())
        if shown is None:
            if not self._turns.may_ask(key, turn):
                return ContextPatch(skipped="backing-off")
            outcome = await _unless(abort, self._ask(messages[: at + 1], sources=sources, suppressed=suppressed))
            if outcome is None:
                return ContextPatch(skipped="aborted")
            if outcome.failures and len(outcome.failures) == len(self._scopes):
                self._turns.failed(key, turn)
                return ContextPatch(outcome=outcome, skipped="recall-failed")
            shown = self._turns.found(key, outcome, self._clock())
        return ContextPatch(
            text=shown.value.block.text, position=self._config.injection_position, at=shown.at, outcome=shown.value
        )

    def _key(self, message: Message, *, sources: bool, suppressed: frozenset[str]) -> TurnKey:
        return TurnKey(asked=(self._scopes, self._config, self._project, sources, suppressed), said=message.parts)

    async def _ask(self, messages: Sequence[Message], *, sources: bool, suppressed: frozenset[str]) -> RecallOutcome:
        return await recall_for(
            self._backend,
            messages,
            self._scopes,
            self._config,
            project=self._project,
            date=iso(self._clock())[:10],
            sources=sources,
            suppressed=suppressed,
        )


async def _unless(abort: asyncio.Event | None, asking: Coroutine[None, None, RecallOutcome]) -> RecallOutcome | None:
    """The outcome, or None where the abort came first; the requests are then cancelled, not only no longer awaited."""
    if abort is None:
        return await asking
    task = asyncio.ensure_future(asking)
    aborted = asyncio.ensure_future(abort.wait())
    try:
        await asyncio.wait({task, aborted}, return_when=asyncio.FIRST_COMPLETED)
        return None if abort.is_set() else task.result()
    finally:
        for each in (task, aborted):
            each.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await each
