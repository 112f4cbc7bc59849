"""One session of any host: the same class for pi, omp, the command line and a Python agent."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence

from hindbrain.contracts import Backend, Host, Message
from hindbrain.generic._asker import Asker
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._deadline import within_host
from hindbrain.generic._events import Span, asked_events, new_id, recall_events, retain_event
from hindbrain.generic._explicit import LONGEST, Explicit
from hindbrain.generic._governance import Governance, HeldGovernance
from hindbrain.generic._open import SessionPlace, find_project, name_session, origin_of
from hindbrain.generic._otel import record_span
from hindbrain.generic._outbox import Flush, MemoryOutbox, Outbox
from hindbrain.generic._patch import ContextPatch
from hindbrain.generic._recall_files import MemoryRecallFiles, RecallFiles
from hindbrain.generic._recaller import Recaller
from hindbrain.generic._retainer import Retainer
from hindbrain.generic._settled import SettledTurn
from hindbrain.generic._snapshots import Snapshots
from hindbrain.generic._status import MemoryStatus, status_of
from hindbrain.generic._telemetry import Listener, Telemetry
from hindbrain.memory import (
    MemoryConfig,
    Project,
    Question,
    RecallAnswer,
    SessionIdentity,
    project_bank,
    recall_scopes,
    retain_banks,
)
from hindbrain.store import permissions


def now_ms() -> int:
    """This moment in milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


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
        governance: Governance | None = None,
        recall_files: RecallFiles | None = None,
        notices: list[str] | None = None,
        clock: Callable[[], int] = now_ms,
        on_event: Listener | None = record_span,
    ) -> None:
        """Compose a session of parts; :meth:`open` looks them up from settings and place.

        Args:
            host: where the conversation lives.
            backend: where memory lives; the session does not close it.
            config: the memory path's settings.
            project: the project's identity, resolved once for the whole session.
            identity: the session's names.
            outbox: where turns wait; None keeps them in this process only. The session closes it.
            governance: what the user has decided about the session; None means everything is normal.
            recall_files: the memories the user suppressed, and the last recall; None keeps both in this process only.
            notices: sentences that parts on the disk leave for the user; taken out and shown with the next call.
            clock: milliseconds since 1970 UTC.
            on_event: called for each telemetry event, beside the host's bus, once the call it is about has returned and
                before :meth:`close` does; by default OpenTelemetry, where its extra is installed and the process has
                set it up.
        """
        self._host = host
        self._config = config
        self._project = project
        self._identity = identity
        self._outbox = outbox or MemoryOutbox(backend)
        self._governance = governance or HeldGovernance()
        self._scopes = recall_scopes(config, project, identity.host)
        self._recall_config = within_host(config.recall, identity.host)
        self._recaller = Recaller(
            backend, self._scopes, self._recall_config, project, clock, on_ask=lambda: self._now(MemoryStatus.RECALLING)
        )
        self._status = MemoryStatus.IDLE
        self._last_patch: ContextPatch | None = None
        self._scope_problems = identity.observation_scopes(config, project, project_bank(config, project)).problems
        self._clock = clock
        self._telemetry = Telemetry(host, on_event)
        self._recall_files = recall_files or MemoryRecallFiles()
        self._snapshots = Snapshots(
            self._recall_files, self._scopes, self._recall_config, session=identity.key, clock=clock, warn=self._warn
        )
        self._asker = Asker(backend, config, project, identity.host)
        self._retainer = Retainer(
            self._outbox,
            self._governance,
            config,
            project=project,
            identity=identity,
            bank=project_bank(config, project),
            always=retain_banks(config, project),
            clock=clock,
        )
        self._notices = [] if notices is None else notices
        # Two locks: a turn is kept at once, also while an older one is on its way to a server that does not answer.
        self._keeping, self._sending = asyncio.Lock(), asyncio.Lock()
        self._explicit = Explicit(
            self._outbox,
            config,
            lambda: self._flush(lambda: self._outbox.flush(max_seconds=LONGEST)),
            project=project,
            identity=identity,
            in_session=True,
            sending=self._sending,
            clock=clock,
        )
        self._warned: set[str] = set()

    @classmethod
    async def open(
        cls,
        host: Host,
        backend: Backend,
        settings: Settings,
        place: SessionPlace,
        *,
        outbox: Outbox | None = None,
        on_event: Listener | None = record_span,
    ) -> Session:
        """Open the session of a place: its project is found once, here, and stays what it is until the end.

        Args:
            host: where the conversation lives.
            backend: where memory lives; the session does not close it.
            settings: the effective settings.
            place: the host's name, the working directory and the session file.
            outbox: where turns wait; None keeps them in this process only. The session closes it.
            on_event: called for each telemetry event, as in the constructor.

        Raises:
            NoProjectError: the directory is no project; memory must stay off.
            InvalidValueError: the settings name an address that is refused.
        """
        project = await find_project(place.cwd, settings)
        identity = name_session(place, origin_of(settings))
        return cls(
            host=host,
            backend=backend,
            config=memory_config(settings),
            project=project,
            identity=identity,
            outbox=outbox,
            on_event=on_event,
        )

    @property
    def project(self) -> Project:
        """The project's identity."""
        return self._project

    @property
    def identity(self) -> SessionIdentity:
        """The session's names."""
        return self._identity

    @property
    def status(self) -> MemoryStatus:
        """What automatic recall is doing, or came to last."""
        return self._status

    def _now(self, status: MemoryStatus) -> None:
        self._status = status

    @property
    def banks(self) -> tuple[str, ...]:
        """The banks this session reads, in the order of the settings."""
        return tuple(scope.bank for scope in self._scopes)

    @property
    def bank(self) -> str:
        """The project's bank."""
        return project_bank(self._config, self._project)

    @property
    def outbox(self) -> Outbox:
        """Where turns wait."""
        return self._outbox

    @property
    def last_patch(self) -> ContextPatch | None:
        """What the last call of :meth:`context` came to."""
        return self._last_patch

    @property
    def explicit(self) -> Explicit:
        """Retain and forget what somebody asks for, whatever the mode. Unlike the rest of a session they raise."""
        return self._explicit

    @property
    def governance(self) -> Governance:
        """What the user has decided about the session, and the way to change it."""
        return self._governance

    @property
    def recall_files(self) -> RecallFiles:
        """The last recall that was stored, and the memories that are suppressed, with the way to change that."""
        return self._recall_files

    async def context(
        self, messages: Sequence[Message], *, sources: bool = False, abort: asyncio.Event | None = None
    ) -> ContextPatch:
        """Recall for the last messages and say what to inject.

        Args:
            messages: the conversation as the model will see it, oldest first.
            sources: ask for source facts too, so that each line can be traced to its document.
            abort: set by the host when the user gives up: requests are cancelled, nothing is injected or remembered.

        Returns:
            The patch; its text is empty where memory is off, there is no message of the user, nothing was found, or
            memory failed. A failure is told to the user once a session.
        """
        started = self._clock()
        try:
            patch = await self._recall(messages, sources=sources, abort=abort)
        except Exception as error:  # noqa: BLE001  (the border to the host: nothing of ours may break a turn)
            await self._warn(f"Memory could not be recalled ({type(error).__name__}); this turn goes on without it.")
            await self._snapshots.broke(type(error).__name__, abort)
            patch = ContextPatch(skipped="error")
        except asyncio.CancelledError:
            self._now(MemoryStatus.IDLE)
            raise
        for failure in patch.outcome.failures:
            await self._warn(f"Memory could not be recalled ({failure.code}); this turn goes on without it.")
        await self._snapshots.keep(patch, abort)
        await self._show_notices()
        if abort is not None and abort.is_set():
            patch = ContextPatch(skipped="aborted")
        self._now(status_of(patch))
        self._last_patch = patch
        span = self._span(started)
        self._telemetry.tell(lambda: recall_events(patch, self._scopes, self._recall_config, span, new_id))
        return patch

    async def _recall(self, messages: Sequence[Message], *, sources: bool, abort: asyncio.Event | None) -> ContextPatch:
        if not (self._config.enabled and self._config.recall.enabled):
            return ContextPatch(skipped="disabled")
        # One after the other: both are known but for the first time, and two tasks would cost more than they save.
        record = await self._governance.record()
        if not permissions(record).recalls:
            return ContextPatch(skipped="session-disabled")
        suppressed = await self._recall_files.suppressed()
        patch = await self._recaller.recall(messages, sources=sources, abort=abort, suppressed=suppressed)
        failed = {failure.bank for failure in patch.outcome.failures}
        if patch.cache == "miss" and not failed.issuperset(patch.retrievals):
            self._outbox.answered()
        return patch

    async def recall(self, question: Question, *, bank: str | None = None) -> RecallAnswer:
        """Recall because somebody asked, whatever the session's mode. Nothing that is found is judged.

        Only what the user suppressed is left out.

        Args:
            question: the question, and what it says beside the settings.
            bank: the one bank to ask; None asks all that the session reads.

        Raises:
            SettingsError: the settings do not let this bank be read; nothing was sent.
            BackendRequestError: the bank, a filter or a minimum is refused; nothing was sent.
        """
        started = self._clock()
        answer = (await self._asker.ask(question, bank=bank)).without(await self._recall_files.suppressed())
        span = self._span(started)
        self._telemetry.tell(lambda: asked_events(answer, span))
        return answer

    async def settled(self, *, send: bool = True) -> SettledTurn:
        """Keep what is new on the branch in the outbox, and send what waits.

        A host that waits for this leaves ``send`` out and calls :meth:`send` when it has time.

        The entries count as retained once their job is kept; the job itself is tried again, under the same operation
        id, until the backend takes it. What the user kept out is passed over for good.
        """
        started = self._clock()
        try:
            turn = await self._settle(send=send)
        except Exception as error:  # noqa: BLE001  (the border to the host: nothing of ours may break a turn)
            await self._warn(f"The turn could not be retained ({type(error).__name__}); it is tried again at the next.")
            turn = SettledTurn(skipped="error")
        await self._show_notices()
        span = self._span(started)
        self._telemetry.tell(lambda: [retain_event(turn, span)])
        return turn

    async def _settle(self, *, send: bool) -> SettledTurn:
        if not self._config.enabled:
            return SettledTurn(skipped="disabled")
        for problem in self._scope_problems:
            await self._warn(f"{problem} See `hindbrain doctor`.")
        async with self._keeping:
            kept = await self._retainer.settle(await self._host.branch())
        flush = await self.send() if send else Flush()
        reason = "disabled" if kept.passed_over else "nothing-new"
        return SettledTurn(
            jobs=kept.jobs, passed_over=kept.passed_over, flush=flush, skipped=None if kept.jobs else reason
        )

    def _span(self, started: int) -> Span:
        return Span(session_id=self._identity.key, context_id=new_id(), started_at=started, ended_at=self._clock())

    async def send(self) -> Flush:
        """Send all that waits. What is not taken is told to the user, and waits on."""
        return await self._flush(self._outbox.flush)

    async def tick(self) -> Flush:
        """Send a little of what waits; nothing is done where something is being sent. For the host's timer."""
        return Flush() if self._sending.locked() else await self._flush(self._outbox.tick)

    async def close(self) -> Flush:
        """Send what waits, once, and close the outbox. What is not taken waits there, and the user is told how much."""
        try:
            async with self._keeping, self._sending:
                flush = await self._outbox.last_flush()
        except Exception as error:  # noqa: BLE001  (the border to the host: nothing of ours may break its shutdown)
            flush = Flush(code=type(error).__name__)
        await self._safely(self._outbox.close())
        await self._safely(self._telemetry.close())
        if flush.waiting or flush.code:
            why = f" ({flush.code})" if flush.code else ""
            await self._warn(f"{flush.waiting} turns could not be retained yet{why}; they are kept and sent later.")
        return flush

    async def _flush(self, how: Callable[[], Awaitable[Flush]]) -> Flush:
        try:
            async with self._sending:
                flush = await how()
        except Exception as error:  # noqa: BLE001  (the border to the host: nothing of ours may break a turn)
            flush = Flush(code=type(error).__name__)
        if flush.code:
            await self._warn(f"Memory did not take what waits ({flush.code}); it is kept and tried again.")
        return flush

    async def _warn(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            await self._safely(self._host.notify(text, "warning"))

    async def _show_notices(self) -> None:
        while self._notices:
            await self._warn(self._notices.pop(0))

    @staticmethod
    async def _safely(call: Awaitable[object]) -> None:
        """Await a call whose failure must not break the turn."""
        with contextlib.suppress(Exception):  # a host may raise anything; memory stays silent then
            await call
