"""One session of the host, from the moment it is opened until it is closed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from hindbrain.contracts import HindbrainError, JsonValue
from hindbrain.generic._config import Settings
from hindbrain.generic._doctor import examine
from hindbrain.generic._live import live_session
from hindbrain.generic._observe import Observing
from hindbrain.generic._open import SessionPlace
from hindbrain.generic._session import Session
from hindbrain.generic.sidecar._footer import RECALLING, Word, found, kept, waiting
from hindbrain.generic.sidecar._host import PeerHost
from hindbrain.generic.sidecar._newest import with_newest
from hindbrain.generic.sidecar._observed import SittingObserved, ask_of, boundary_of, compaction_of
from hindbrain.generic.sidecar._params import BeforeSettle, CommandRun, Compact, Context, Open, Settled, ToolCall, Turn
from hindbrain.generic.sidecar._peer import Peer
from hindbrain.generic.sidecar._voice import Voice
from hindbrain.memory import NoProjectError
from hindbrain.observe import KEEP

_LASTING = frozenset({"tui", "rpc"})
LoadSettings = Callable[[str], Awaitable[Settings]]
"""The effective settings for a working directory."""


class Sitting:
    """Opens the session's memory when it is first needed, in a task of its own, which also closes it.

    Args:
        peer: the host.
        host: its name.
        opened: what it said of the session.
        settings: looks the settings up.
        folder: the host's own settings folder; None writes no debug log.
    """

    def __init__(self, peer: Peer, host: str, opened: Open, settings: LoadSettings, folder: Path | None = None) -> None:
        self._observed = SittingObserved(peer, opened, self._looked_up, folder)
        self.host = PeerHost(peer, opened.session)
        self.voice = Voice(self.host)
        self.opened = opened
        self.settings: Settings | None = None
        self._name = host
        self._load = settings
        self._looking: asyncio.Future[Settings] | None = None
        self._session: asyncio.Future[Session | None] | None = None
        self._life: asyncio.Task[None] | None = None
        self._over = asyncio.Event()
        self._sending: set[asyncio.Task[None]] = set()
        self._unsettled = False

    async def session(self) -> Session | None:
        """The session with its memory; None where there is none here, which the user has been told where it matters."""
        if self._session is None:
            self._session = asyncio.get_running_loop().create_future()
            self._life = asyncio.create_task(self._live(self._session))
        return await asyncio.shield(self._session)

    async def observing(self) -> Observing | None:
        """The session's observational memory; None where it is not observed."""
        return await self._observed.get(self.host)

    def wake(self) -> None:
        """The session is open: where it lives on, its silence may have begun long ago."""
        if self.opened.mode in _LASTING and self.opened.file is not None:
            self.host.file = self.opened.file
            self._observed.begin(self.host)

    def stands(self, asked: ToolCall | CommandRun) -> None:
        """Where the host stood when it asked, if it says so: a user may have gone to another branch since its turn."""
        if asked.file is not None or asked.leaf is not None:
            self._at(asked.file, asked.leaf)

    async def turn(self, told: Turn) -> None:
        """A run begins, or a turn of it is over."""
        self._at(told.file, told.leaf)
        observing = await self.observing()
        if observing is not None:
            observing.started() if told.phase == "start" else observing.turn_ended()

    async def compact(self, asked: Compact) -> dict[str, JsonValue]:
        """The compaction that the host stores; empty where it summarises as it would without us."""
        self._at(asked.file, asked.leaf)
        observing = await self.observing()
        return {} if observing is None else compaction_of(await observing.compaction(ask_of(asked)))

    async def before_settle(self, asked: BeforeSettle) -> dict[str, JsonValue]:
        """A compaction at the end of a run, where one is due."""
        self._at(asked.file, asked.leaf)
        observing = await self.observing()
        if observing is None:
            return {}
        keep = KEEP if asked.keep is None else asked.keep
        return compaction_of(await observing.before_settle(boundary_of(asked), keep))

    async def context(self, asked: Context) -> dict[str, JsonValue]:
        """The block for this model call, as the host is to place it; empty where there is none."""
        session = await self.session()
        if session is None:
            return {}
        self._at(asked.file, asked.leaf)
        self._unsettled = True
        with contextlib.suppress(Exception):  # what the host sent along is enough to ask with
            await self.host.look()
        self.voice.show(RECALLING)
        try:
            patch = await session.context(with_newest(self.host.view.messages, asked.user))
        except asyncio.CancelledError:
            self.voice.show(None)
            raise
        self.voice.show(found(patch))
        self.voice.recalled(patch)
        return {patch.position: patch.text} if patch.text else {}

    async def settled(self, told: Settled) -> dict[str, JsonValue]:
        """Keep the turn, durably, and send it in the background. A run that was broken off waits for the next one."""
        await self._keep(told)
        await self._rest(told.outcome)
        return {}

    async def _keep(self, told: Settled) -> None:
        session = await self.session()
        self._at(told.file, told.leaf)
        if session is None or told.outcome == "aborted":
            return
        turn = await session.settled(send=False)
        self._unsettled = False
        self.voice.show(kept(turn))
        if turn.jobs:
            self._send(session)

    async def _rest(self, outcome: str) -> None:
        # A host that answers one prompt and ends has no time for a compaction.
        if outcome != "aborted" and self.opened.mode in _LASTING:
            observing = await self.observing()
            if observing is not None:
                observing.settled()

    async def close(self) -> None:
        """Keep what is not kept yet, send a little, and let go of all files."""
        await self._observed.close()
        if self._session is None or self._life is None:
            return
        session = await self.session()
        if session is not None and self._unsettled:
            await session.settled(send=False)
        self._over.set()
        for task in self._sending:
            task.cancel()
        await self._life
        self.voice.close()

    def is_of(self, opened: Open) -> bool:
        """Whether these are the same session still: one that lies elsewhere has another project or past."""
        mine = self.opened
        return (mine.cwd, mine.file, mine.parent) == (opened.cwd, opened.file, opened.parent)

    async def doctor(self) -> list[str]:
        """What `hindbrain doctor` says of this session's place, a line each."""
        session = await self.session()
        if session is None or self.settings is None:
            return ["Memory is off in this session."]
        found = await examine(self.settings, online=False, host=self._name, cwd=self.opened.cwd)
        return [f"{each.level:8s}  {each.check}: {each.text} {each.advice}".rstrip() for each in found]

    async def _looked_up(self) -> Settings:
        if self._looking is None:
            self._looking = asyncio.ensure_future(self._load(self.opened.cwd))
        return await asyncio.shield(self._looking)

    def _at(self, file: str | None, leaf: str | None) -> None:
        self.host.file, self.host.leaf = file, leaf

    def _send(self, session: Session) -> None:
        """Send in the background. Where one is sending and one waits for it, a third would find nothing left to do."""
        if len(self._sending) > 1:
            return
        task = asyncio.create_task(self._sent(session))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _sent(self, session: Session) -> None:
        flush = await session.send()
        self.voice.show(waiting(flush.waiting) or Word(state="retained"))
        self.voice.retained(flush.sent)

    async def _live(self, ready: asyncio.Future[Session | None]) -> None:
        opened = self.opened
        place = SessionPlace(
            host=self._name, cwd=opened.cwd, file=opened.file, session_id=opened.session, parent=opened.parent
        )
        try:
            self.settings = await self._looked_up()
            self.voice.follow(self.settings)
            async with live_session(self.host, self.settings, place) as session:
                self.voice.project = session.project.id
                ready.set_result(session)
                await self._warn_of_another()
                await self._over.wait()
        except NoProjectError:
            _settle(ready)
        except HindbrainError as error:
            _settle(ready)
            await self.voice.warn(f"Memory is off in this session: {error}")
        except Exception as error:  # noqa: BLE001  (the border to the host: a broken memory breaks no session)
            _settle(ready)
            await self.voice.warn(f"Memory is off in this session ({type(error).__name__}). See `hindbrain doctor`.")

    async def _warn_of_another(self) -> None:
        """Two memories retain everything twice and show it twice."""
        asks = self.voice.warns and self.opened.kind == "main"
        other = await self.host.other_memory() if asks else None
        if other is not None:
            await self.voice.warn(
                f"The host's own memory is on, too (memory.backend: {other}). Set it to off, or this one."
            )


def _settle(ready: asyncio.Future[Session | None]) -> None:
    if not ready.done():
        ready.set_result(None)
