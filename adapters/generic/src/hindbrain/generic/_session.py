"""One session of any host: the same class for pi, omp, the command line and a Python agent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from attrs import field, frozen

from hindbrain.contracts import (
    Backend,
    Coverage,
    Host,
    Message,
    RetainJob,
    TelemetryEvent,
    TextPart,
)
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._open import SessionPlace, find_project, name_session, origin_of
from hindbrain.generic._outbox import Flush, MemoryOutbox, Outbox
from hindbrain.memory import (
    MemoryConfig,
    Project,
    RecallOutcome,
    SessionIdentity,
    build_job,
    recall_for,
    recall_scopes,
)


def utc_now() -> str:
    """This moment as ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@frozen(kw_only=True)
class ContextPatch:
    """What to show the model this once. ``text`` is empty where nothing is injected; it is never persisted."""

    text: str = ""
    position: str = "append"
    outcome: RecallOutcome = field(factory=RecallOutcome)
    skipped: str | None = None

    def apply(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The messages with the block before the final user message, or first where it is prepended.

        Source: spec/memory.md section 5.2.
        """
        if not self.text:
            return tuple(messages)
        block = Message(role="user", parts=(TextPart(self.text),))
        return (block, *messages) if self.position == "prepend" else (*messages[:-1], block, *messages[-1:])


@frozen(kw_only=True)
class SettledTurn:
    """What a settled turn came to: the job made of its new entries, if any, and what the flush did."""

    job: RetainJob | None = None
    flush: Flush = field(factory=Flush)
    skipped: str | None = None

    @property
    def covers(self) -> Coverage | None:
        """The range of the session that the job stands for."""
        return self.job.covers if self.job else None


class Session:
    """Memory for one session.

    Call :meth:`context` before each model call, :meth:`settled` after each finished turn and :meth:`close` at the end.
    Neither raises for a broken memory: a turn never fails because of it.
    """

    def __init__(
        self,
        *,
        host: Host,
        backend: Backend,
        config: MemoryConfig,
        project: Project,
        identity: SessionIdentity,
        outbox: Outbox | None = None,
        now: Callable[[], str] = utc_now,
    ) -> None:
        """Compose a session of parts; :meth:`open` looks them up from settings and place.

        Args:
            host: where the conversation lives.
            backend: where memory lives; the session does not close it.
            config: the memory path's settings.
            project: the project's identity, resolved once for the whole session.
            identity: the session's names.
            outbox: where turns wait; None keeps them in this process only. The session closes it.
            now: the clock, ISO 8601 in UTC.
        """
        self._host = host
        self._backend = backend
        self._config = config
        self._project = project
        self._identity = identity
        self._now = now
        self._outbox = outbox or MemoryOutbox(backend)
        self._warned: set[str] = set()
        self._one_at_a_time = asyncio.Lock()
        self._scopes = recall_scopes(config, project, identity.host)

    @classmethod
    async def open(
        cls, host: Host, backend: Backend, settings: Settings, place: SessionPlace, *, outbox: Outbox | None = None
    ) -> Session:
        """Open the session of a place: its project is found once, here, and stays what it is until the end.

        Args:
            host: where the conversation lives.
            backend: where memory lives; the session does not close it.
            settings: the effective settings.
            place: the host's name, the working directory and the session file.
            outbox: where turns wait; None keeps them in this process only. The session closes it.

        Raises:
            NoProjectError: the directory is no project; memory must stay off.
            InvalidValueError: the settings name an address that is refused.
        """
        project = await find_project(place.cwd, settings)
        identity = name_session(place, origin_of(settings))
        config = memory_config(settings)
        return cls(host=host, backend=backend, config=config, project=project, identity=identity, outbox=outbox)

    @property
    def project(self) -> Project:
        """The project's identity."""
        return self._project

    @property
    def identity(self) -> SessionIdentity:
        """The session's names."""
        return self._identity

    @property
    def banks(self) -> tuple[str, ...]:
        """The banks this session reads, the project's first."""
        return tuple(scope.bank for scope in self._scopes)

    async def context(self, messages: Sequence[Message], *, sources: bool = False) -> ContextPatch:
        """Recall for the last messages and say what to inject.

        Args:
            messages: the conversation as the model will see it, oldest first.
            sources: ask for source facts too, so that each line can be traced to its document.

        Returns:
            The patch; its text is empty where memory is off, the last message is not the user's, nothing was found, or
            memory failed. A failure is told to the user once a session.
        """
        recall = self._config.recall
        if not (self._config.enabled and recall.enabled):
            return ContextPatch(skipped="disabled")
        if not messages or (recall.injection_position == "append" and messages[-1].role != "user"):
            return ContextPatch(skipped="append-requires-user")
        try:
            outcome = await self._recall(messages, sources=sources)
        except Exception as error:  # noqa: BLE001  (the border to the host: nothing of ours may break a turn)
            await self._warn(f"Memory could not be recalled ({type(error).__name__}); this turn goes on without it.")
            return ContextPatch(skipped="error")
        for failure in outcome.failures:
            await self._warn(f"Memory could not be recalled ({failure.code}); this turn goes on without it.")
        await self._emit("retrieval", outcome)
        return ContextPatch(text=outcome.block.text, position=recall.injection_position, outcome=outcome)

    async def settled(self) -> SettledTurn:
        """Keep what is new on the branch in the outbox, and send what waits.

        The entries count as retained once their job is kept; the job itself is tried again, under the same operation
        id, until the backend takes it.
        """
        if not (self._config.enabled and self._config.retain.enabled):
            return SettledTurn(skipped="disabled")
        try:
            async with self._one_at_a_time:
                return await self._settle()
        except Exception as error:  # noqa: BLE001  (the border to the host: nothing of ours may break a turn)
            await self._warn(f"The turn could not be retained ({type(error).__name__}); it is tried again at the next.")
            return SettledTurn(skipped="error")

    async def close(self) -> Flush:
        """Send what waits, once, and close the outbox. What is not taken waits there, and the user is told how much."""
        try:
            async with self._one_at_a_time:
                flush = await self._outbox.last_flush()
                await self._outbox.close()
        except Exception as error:  # noqa: BLE001  (the border to the host: nothing of ours may break its shutdown)
            flush = Flush(code=type(error).__name__)
        if flush.waiting or flush.code:
            await self._warn(f"{flush.waiting} turns could not be retained yet ({flush.code}).")
        return flush

    async def _recall(self, messages: Sequence[Message], *, sources: bool) -> RecallOutcome:
        return await recall_for(
            self._backend,
            messages,
            self._scopes,
            self._config.recall,
            project=self._project,
            date=self._now()[:10],
            sources=sources,
        )

    async def _settle(self) -> SettledTurn:
        branch = await self._host.branch()
        lineage, bank = self._identity.lineage, self._scopes[0].bank
        fresh = await self._outbox.new_entries(lineage, bank, branch)
        moved = await self._outbox.plan(lineage, bank, branch, fresh)
        job = None
        if moved is not None:
            covers = moved.coverage(lineage, bank)
            job = build_job(fresh, self._config, self._identity, self._project, covers=covers, now=self._now())
            await self._outbox.keep(lineage, bank, moved, job)
        return SettledTurn(job=job, flush=await self._flush(), skipped=None if job else "nothing-new")

    async def _flush(self) -> Flush:
        flush = await self._outbox.flush()
        if flush.code:
            await self._warn(f"Memory did not take a turn ({flush.code}); it is kept and tried again.")
        return flush

    async def _warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            await self._safely(self._host.notify(text, "warning"))

    async def _emit(self, phase: str, outcome: RecallOutcome) -> None:
        event = TelemetryEvent(
            phase=phase,
            status="failed" if outcome.failures and not outcome.block.items else "ok",
            session_id=self._identity.key,
            bank_ids=self.banks,
            counts={"candidates": len(outcome.verdicts), "injected": len(outcome.block.items)},
            ids=tuple(item.fact.id for item in outcome.block.items),
        )
        await self._safely(self._host.emit(event))

    @staticmethod
    async def _safely(call: Awaitable[object]) -> None:
        """Await a call of the host whose failure must not break the turn."""
        with contextlib.suppress(Exception):  # a host may raise anything; memory stays silent then
            await call
