"""Replay: a recorded session goes through the same ``Session`` a live host uses, and is then asked a question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import define, field, frozen

from hindbrain.contracts import Backend, BackendError, Branch, Message, OperationStatus, TextPart
from hindbrain.generic._config import Settings
from hindbrain.generic._host import InProcessHost
from hindbrain.generic._open import SessionPlace
from hindbrain.generic._outbox import MemoryOutbox
from hindbrain.generic._patch import ContextPatch
from hindbrain.generic._session import Session
from hindbrain.generic._settled import SettledTurn
from hindbrain.memory import EntryIndex
from hindbrain.memory.sessions import LineProblem, SessionFile, read_session

_LONGEST_PAUSE = 1.0

Progress = Callable[[int, int], None]
"""Called with the entries done so far and their number."""


@frozen(kw_only=True)
class AnswerItem:
    """One injected line and where it came from; nothing is claimed where the source could not be told."""

    text: str
    bank: str
    fact_id: str
    document_id: str | None
    entries: tuple[str, ...]


@define(kw_only=True)
class ReplayReport:
    """What a replay did. Times in milliseconds.

    ``retains`` counts acknowledged retains, ``failed`` those refused or not completed, ``waiting`` those the backend
    did not take. ``timing`` holds read, retain, index, recall and total.
    """

    host: str = ""
    project: str = ""
    bank: str = ""
    entries: int = 0
    turns: int = 0
    problems: tuple[LineProblem, ...] = ()
    retains: int = 0
    failed: int = 0
    waiting: int = 0
    code: str | None = None
    documents: list[str] = field(factory=list)
    injected: str = ""
    items: list[AnswerItem] = field(factory=list)
    recall_failures: tuple[str, ...] = ()
    timing: dict[str, float] = field(factory=dict)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the time of the block to ``timing``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.timing[name] = round(self.timing.get(name, 0.0) + (time.perf_counter() - start) * 1000, 3)


def _silent(_done: int, _all: int) -> None:
    return


class Replay:
    """One replay of one session file into one backend.

    Args:
        path: a pi or omp session file.
        backend: where to retain and recall.
        settings: the effective settings.
        progress: told how far the feeding is.
        settle_seconds: how long to wait for accepted retains to become searchable.
    """

    def __init__(
        self,
        path: Path,
        backend: Backend,
        settings: Settings,
        *,
        progress: Progress = _silent,
        settle_seconds: float = 120.0,
    ) -> None:
        self._path = path.resolve()
        self._backend = backend
        self._settings = settings
        self._progress = progress
        self._settle_seconds = settle_seconds
        self._operations: list[tuple[str, str]] = []
        self.report = ReplayReport()

    async def run(self, question: str | None) -> ReplayReport:
        """Read, retain, and ask. Never raises for a broken memory: the report says what failed.

        Raises:
            SessionFileError: the file cannot be read as a session.
            HindbrainError: the settings, or the session's directory, refuse a memory.
        """
        report = self.report
        with report.timed("total"):
            with report.timed("read"):
                recorded = await asyncio.to_thread(read_session, self._path)
            host = InProcessHost()
            session = await self._open(recorded, host)
            with report.timed("retain"):
                await self._feed(recorded, host, session)
            with report.timed("index"):
                await self._wait_until_done()
            if question is not None:
                await self._ask(question, recorded, session)
        return report

    async def _open(self, recorded: SessionFile, host: InProcessHost) -> Session:
        header = recorded.header
        cwd = (header.cwd if header else None) or str(self._path.parent)
        name = (header.host if header else None) or "pi"
        place = SessionPlace(host=name, cwd=cwd, file=str(self._path), session_id=header.id if header else None)
        outbox = MemoryOutbox(self._backend, gives_up=True)
        session = await Session.open(host, self._backend, self._settings, place, outbox=outbox)
        self.report.host, self.report.project, self.report.bank = name, session.project.id, session.bank
        self.report.entries, self.report.problems = len(recorded.entries), recorded.problems
        return session

    async def _feed(self, recorded: SessionFile, host: InProcessHost, session: Session) -> None:
        """Entry by entry; a turn is settled when the next user message comes, and at the end."""
        fed = 0
        for number, entry in enumerate(recorded.entries, start=1):
            if entry.message is not None and entry.message.role == "user" and fed:
                self._count(await session.settled())
                fed = 0
            host.add(entry)
            fed += 1
            self._progress(number, len(recorded.entries))
        if fed:
            self._count(await session.settled())
        flush = await session.close()
        self._count(SettledTurn(flush=flush))
        self.report.waiting = flush.waiting

    def _count(self, turn: SettledTurn) -> None:
        report = self.report
        report.turns += bool(turn.jobs)
        report.failed += turn.flush.refused
        report.code = turn.flush.code or report.code
        report.retains += turn.flush.sent
        self._operations.extend(turn.flush.operations)
        report.documents.extend(each for each in turn.flush.documents if each not in report.documents)

    async def _wait_until_done(self) -> None:
        """Ask for the state of each accepted retain until all are terminal, or the time is over."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._settle_seconds
        for number, (bank, operation_id) in enumerate(self._operations):
            pause = 0.02
            while True:
                if loop.time() + pause > end:
                    self.report.failed += len(self._operations) - number
                    return
                status = await self._status(bank, operation_id)
                if status is not None and status.terminal:
                    self.report.failed += status is not OperationStatus.COMPLETED
                    break
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def _status(self, bank: str, operation_id: str) -> OperationStatus | None:
        try:
            return (await self._backend.status(bank, operation_id)).status
        except BackendError as error:
            self.report.code = error.code
            return None

    async def _ask(self, question: str, recorded: SessionFile, session: Session) -> None:
        """Ask as a new conversation of the same project would: the question is its first message."""
        messages = (Message(role="user", parts=(TextPart(question),)),)
        with self.report.timed("recall"):
            patch = await session.context(messages, sources=True)
        self.report.injected = patch.text
        self.report.recall_failures = tuple(f.code for f in patch.outcome.failures)
        self.report.items = self._explain(patch, recorded, session)

    def _explain(self, patch: ContextPatch, recorded: SessionFile, session: Session) -> list[AnswerItem]:
        index = EntryIndex.of(Branch.of(recorded.entries).entries.values())
        items = []
        for item in patch.outcome.block.items:
            fact = item.fact
            origins = [patch.outcome.sources[i] for i in fact.source_fact_ids if i in patch.outcome.sources]
            documents = [d for d in (fact.document_id, *(s.document_id for s in origins)) if d]
            entries = index.find(fact.text) or tuple(dict.fromkeys(e for s in origins for e in index.find(s.text)))
            document = next(iter(documents), session.identity.document_id if entries else None)
            items.append(
                AnswerItem(text=fact.text, bank=item.bank, fact_id=fact.id, document_id=document, entries=entries)
            )
        return items
