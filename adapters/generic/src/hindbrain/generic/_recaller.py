"""Automatic recall for one session: one attempt a turn, what was found shown again, patience after an outage."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping, Sequence

from attrs import evolve, frozen

from hindbrain.contracts import Backend, Message
from hindbrain.generic._events import new_id
from hindbrain.generic._patch import ContextPatch
from hindbrain.memory import (
    Patience,
    Project,
    RecallConfig,
    RecallOutcome,
    RecallScope,
    Turn,
    TurnKey,
    Turns,
    iso,
    last_user,
    recall_for,
)


@frozen
class _Found:
    """What came back, and the id of each bank's request."""

    outcome: RecallOutcome
    retrievals: Mapping[str, str]


class Recaller:
    """Asks the scopes of a session.

    Args:
        backend: where to ask.
        scopes: the banks, with their filters.
        config: the recall settings.
        project: the identity named in queries.
        clock: milliseconds since 1970 UTC.
        new_id: names a request.
        on_ask: called before the banks are asked.
    """

    def __init__(
        self,
        backend: Backend,
        scopes: Sequence[RecallScope],
        config: RecallConfig,
        project: Project,
        clock: Callable[[], int],
        *,
        new_id: Callable[[], str] = new_id,
        on_ask: Callable[[], None] = lambda: None,
    ) -> None:
        self._backend = backend
        self._scopes = tuple(scopes)
        self._config = config
        self._project = project
        self._clock = clock
        self._new_id = new_id
        self._on_ask = on_ask
        self._turns: Turns[_Found] = Turns(config.cache_ttl_ms)
        self._patience = {scope.bank: Patience() for scope in self._scopes}

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
        if not self._scopes:
            return ContextPatch(skipped="no-scopes")
        if at is None or (self._config.injection_position == "append" and messages[-1].role == "assistant"):
            return ContextPatch(skipped="append-requires-user")
        if abort is not None and abort.is_set():
            return ContextPatch(skipped="aborted")
        turn = Turn(self._key(messages[at], sources=sources, suppressed=suppressed), at)
        shown = self._turns.recall(turn, self._clock(), goes_on=at < len(messages) - 1)
        if shown is not None:
            return self._patch(shown.value, shown.at, cache="hit")
        asked = tuple(scope for scope in self._scopes if self._patience[scope.bank].may_ask(turn))
        if not asked:
            return ContextPatch(skipped="backing-off", left_alone=tuple(self._patience))
        self._on_ask()
        outcome = await _unless(abort, self._ask(messages, at + 1, asked, sources=sources, suppressed=suppressed))
        return ContextPatch(skipped="aborted") if outcome is None else self._found(turn, asked, outcome)

    def _found(self, turn: Turn, asked: tuple[RecallScope, ...], outcome: RecallOutcome) -> ContextPatch:
        failed = {failure.bank: failure for failure in outcome.failures}
        for scope in asked:
            if (failure := failed.get(scope.bank)) is not None:
                self._patience[scope.bank].failed(turn, outage=failure.outage)
            else:
                self._patience[scope.bank].answered()
        found = _Found(outcome, {scope.bank: self._new_id() for scope in asked})
        if len(failed) == len(asked):
            return evolve(self._patch(found, None, cache="miss"), skipped="recall-failed")
        whole = not failed and asked == self._scopes
        return self._patch(found, self._turns.found(turn, found, self._clock(), whole=whole).at, cache="miss")

    def _patch(self, found: _Found, at: int | None, *, cache: str) -> ContextPatch:
        return ContextPatch(
            text=found.outcome.block.text,
            position=self._config.injection_position,
            at=at,
            outcome=found.outcome,
            cache=cache,
            retrievals=found.retrievals,
            left_alone=tuple(bank for bank in self._patience if bank not in found.retrievals),
        )

    def _key(self, message: Message, *, sources: bool, suppressed: frozenset[str]) -> TurnKey:
        return TurnKey(asked=(self._scopes, self._config, self._project, sources, suppressed), said=message.parts)

    async def _ask(
        self,
        messages: Sequence[Message],
        end: int,
        asked: tuple[RecallScope, ...],
        *,
        sources: bool,
        suppressed: frozenset[str],
    ) -> RecallOutcome:
        return await recall_for(
            self._backend,
            messages,
            asked,
            self._config,
            project=self._project,
            date=iso(self._clock())[:10],
            sources=sources,
            suppressed=suppressed,
            end=end,
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
