"""A whole tree of sessions: a look at what an import would do, and the import."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from hindbrain.contracts import HindbrainError
from hindbrain.generic._import._deliver import deliver, settle
from hindbrain.generic._import._groups import Group, Survey
from hindbrain.generic._import._ledger import CHECKPOINT, MANIFEST, ImportLedger
from hindbrain.generic._import._past import Past
from hindbrain.generic._import._report import ImportReport
from hindbrain.generic._import._run import Importer, Progress
from hindbrain.generic._import._source import PassedOver
from hindbrain.generic._import._target import Target
from hindbrain.generic._import._values import Profile
from hindbrain.generic._open import data_dir, open_backend
from hindbrain.generic._session import now_ms
from hindbrain.memory import iso
from hindbrain.store import HostState

LEASE = "import"
_TRACES = (MANIFEST, CHECKPOINT, "retain-cursors.json", "retain-queue.jsonl")
"""Files of a state folder that say what is in memory already."""


class Renewable(Protocol):
    """What says that this process is alive."""

    def renew(self) -> None:
        """Say so."""
        ...


def _now() -> str:
    return iso(now_ms())


def _silent(_done: int) -> None:
    return


class TreeImport:
    """Imports what a survey found, one project after another.

    Where there are several, one whose state folder cannot be used does not stop the others: its report says so.

    Args:
        found: the survey.
        profile: what is imported, and in what pieces.
        now: ISO 8601.
        notify: told in one sentence what was put aside in a state folder.
    """

    def __init__(
        self,
        found: Survey,
        profile: Profile,
        *,
        now: Callable[[], str] = _now,
        notify: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._found = found
        self._profile = profile
        self._now = now
        self._notify = notify

    async def plan(self, progress: Progress = _silent) -> list[ImportReport]:
        """Say what an import would do. Nothing is written where nothing was retained before.

        Raises:
            StoreError: what was imported before cannot be read.
        """
        return [await self._guarded(group, self._plan(group, progress)) for group in self._found.groups]

    async def run(self, progress: Progress = _silent) -> list[ImportReport]:
        """Queue all that is new. Where it is interrupted, however that comes about, the next run goes on.

        Args:
            progress: called with the bytes of files that are done since the last call.

        Raises:
            LockBusyError: another process imports into the same state folder.
            StoreError: it could not be made durable.
            GateUnansweredError: the program of ``retain.beforeEnqueue`` gave no answer.
        """
        return [await self._guarded(group, self._run(group, progress)) for group in self._found.groups]

    async def send(self, reports: Iterable[ImportReport], progress: Progress = _silent) -> None:
        """Send what waits in the queues of these, and note in the reports what became of it.

        Args:
            reports: what :meth:`run` gave.
            progress: called with the documents that went out since the last call.

        Raises:
            LockBusyError, StoreError: as :meth:`run`. What waits, waits.
        """
        for report in (each for each in reports if each.error is None):
            async with self._books(report.target) as (state, ledger, hold):
                report.code = await self._deliver(report.target, state, progress)
                hold.renew()
                await settle(state, ledger, report)

    async def _guarded(self, group: Group, work: Awaitable[ImportReport]) -> ImportReport:
        try:
            return await work
        except HindbrainError as error:
            if len(self._found.groups) == 1:
                raise
            passed_over = [PassedOver(path=source.path, reason=error.code) for source in group.sources]
            return ImportReport(target=group.target, passed_over=passed_over, error=error)

    async def _plan(self, group: Group, progress: Progress) -> ImportReport:
        target = group.target
        if not any((target.folder / name).exists() for name in _TRACES):
            return await self._importer(target, None, None, progress).run(group.sources)
        async with self._opened(target) as state:
            importer = self._importer(target, state, await self._ledger(state), progress, dry=True)
            return await importer.run(group.sources)

    async def _run(self, group: Group, progress: Progress) -> ImportReport:
        async with self._books(group.target) as (state, ledger, hold):
            importer = self._importer(group.target, state, ledger, progress, before_commit=hold.renew)
            report = await importer.run(group.sources)
            await settle(state, ledger, report)
        return report

    def _importer(
        self,
        target: Target,
        state: HostState | None,
        ledger: ImportLedger | None,
        progress: Progress,
        *,
        dry: bool = False,
        before_commit: Callable[[], None] = lambda: None,
    ) -> Importer:
        return Importer(
            target,
            self._profile,
            ledger=ledger,
            state=None if dry else state,
            past=Past(target, state),
            now=self._now,
            progress=progress,
            before_commit=before_commit,
        )

    @asynccontextmanager
    async def _books(self, target: Target) -> AsyncIterator[tuple[HostState, ImportLedger, Renewable]]:
        async with self._opened(target) as state, state.alone(LEASE) as hold:
            yield state, await self._ledger(state), hold

    async def _deliver(self, target: Target, state: HostState, progress: Progress) -> str | None:
        try:
            async with open_backend(target.settings) as backend:
                return await deliver(state, backend, progress)
        except HindbrainError as error:
            return error.code

    async def _ledger(self, state: HostState) -> ImportLedger:
        run = str(uuid.uuid4())
        ledger = ImportLedger(state.file(MANIFEST), state.file(CHECKPOINT), run=run, now=self._now)
        await state.run(ledger.load)
        return ledger

    @asynccontextmanager
    async def _opened(self, target: Target) -> AsyncIterator[HostState]:
        root = Path(target.project.root)
        state = await HostState.open(
            target.folder,
            seal_file=data_dir(target.settings) / "seal.key",
            within=root if root in target.folder.parents else None,
            notify=self._notify,
        )
        try:
            yield state
        finally:
            await state.close()
