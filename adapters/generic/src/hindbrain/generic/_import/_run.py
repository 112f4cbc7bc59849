"""Importing the sessions of one project, file by file: what is queued is durable before it is known as imported.

A process that is killed at any moment loses nothing and, run again, queues nothing twice: a document's job id stands
for its content, so that the queue takes it once, and what the checkpoint names is not looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve

from hindbrain.contracts import Branch, RetainJob
from hindbrain.generic._gate import admits
from hindbrain.generic._import._batch import Batch
from hindbrain.generic._import._chains import Mark
from hindbrain.generic._import._cut import Cut, Known, Tree, cut
from hindbrain.generic._import._documents import Document, job_of
from hindbrain.generic._import._ledger import ImportLedger
from hindbrain.generic._import._past import Past
from hindbrain.generic._import._record import PENDING, REFUSED, FileRecord, Imported
from hindbrain.generic._import._report import FileReport, ImportReport
from hindbrain.generic._import._source import PassedOver, Source
from hindbrain.generic._import._target import Target
from hindbrain.generic._import._values import Mode, Profile
from hindbrain.memory import digest
from hindbrain.memory.sessions import SessionFile, SessionFileError, read_session
from hindbrain.store import HostState

Progress = Callable[[int], None]
"""Called with the bytes of session files that are done since the last call."""


class Importer:
    """Imports session files into one target.

    Args:
        target: the project, host and bank.
        profile: what is imported, and in what pieces.
        ledger: what was imported before; None where nothing was.
        state: the opened state folder; None for a dry run, which changes nothing.
        past: what sessions retained while they ran.
        now: ISO 8601.
        progress: told how far it is.
        before_commit: called right before something takes effect, to say that this process is alive.
    """

    def __init__(
        self,
        target: Target,
        profile: Profile,
        *,
        ledger: ImportLedger | None,
        state: HostState | None,
        past: Past,
        now: Callable[[], str],
        progress: Progress = lambda _: None,
        before_commit: Callable[[], None] = lambda: None,
    ) -> None:
        self._target = target
        self._profile = profile
        self._ledger = ledger
        self._state = state
        self._now = now
        self._progress = progress
        self._before_commit = before_commit
        self._name = profile_name(profile, target)
        self._past = past
        self._marks: dict[str, frozenset[Mark]] = {}
        self._batch = Batch()
        self._report = ImportReport(target=target)

    async def run(self, sources: Sequence[Source]) -> ImportReport:
        """Import the files, parents before their forks; a file that cannot be read is named and passed over.

        Raises:
            StoreError: it could not be made durable. Run it again: nothing is queued twice.
            GateUnansweredError: the program of ``retain.beforeEnqueue`` gave no answer; likewise.
        """
        parents = {source.parent for source in sources}
        paths = {source.session: source for source in sources}
        for source in sources:
            try:
                await self._import(source, paths, is_parent=source.session in parents)
            except SessionFileError as error:
                self._report.passed_over.append(PassedOver(path=source.path, reason=error.reason.value))
            self._progress(source.size)
            if self._batch.is_full:
                await self._commit()
        await self._commit()
        return self._report

    async def _commit(self) -> None:
        if self._state is None or self._ledger is None:
            self._batch = Batch()
        else:
            await self._batch.commit(self._state, self._ledger, self._target.place, self._before_commit)

    async def _import(self, source: Source, paths: dict[str, Source], *, is_parent: bool) -> None:
        known = self._ledger.file(str(source.path)) if self._ledger else None
        if known and (known.size, known.mtime, known.profile) == (source.size, source.mtime, self._name):
            self._report.same += len(known.documents)
            self._report.files.append(
                FileReport(path=source.path, session=source.session, documents=len(known.documents), unchanged=True)
            )
            return
        recorded = read_session(source.path)
        tree = Tree.of(recorded.branch(), self._profile)
        already = Known(inherited=self._inherited(source, paths), live=await self._live(source, tree))
        made = cut(tree, source, self._profile, self._target.config.retain, already)
        if is_parent:
            self._marks[source.session] = tree.marks
        refused = await self._take(made, source, tree.branch)
        self._count(source, recorded, made)
        if not refused:
            broken = sum(not problem.kept for problem in recorded.problems)
            record = FileRecord(
                size=source.size,
                mtime=source.mtime,
                profile=self._name,
                session=source.session,
                documents=tuple(document.id for document in made.documents),
                broken_lines=broken,
            )
            self._batch.files.append((str(source.path), record))

    def _inherited(self, source: Source, paths: dict[str, Source]) -> frozenset[Mark]:
        """What the session's parent has of it, where that is imported to the same place."""
        parent = paths.get(source.parent or "")
        if parent is None or parent is source:
            return frozenset()
        if parent.session not in self._marks:
            try:
                branch = read_session(parent.path).branch()
            except SessionFileError:
                return frozenset()
            self._marks[parent.session] = Tree.of(branch, self._profile).marks
        return self._marks[parent.session]

    async def _live(self, source: Source, tree: Tree) -> frozenset[str]:
        """What was retained while the session ran."""
        if self._profile.again or self._profile.mode is not Mode.CURATED:
            return frozenset()
        imported = self._ledger.of_session(self._target.bank, source.session) if self._ledger else ()
        return await self._past.retained_live(source, tree.branch, tree.taken, imported)

    async def _take(self, made: Cut, source: Source, branch: Branch) -> bool:
        """Put what is new into the batch; whether any of it was refused."""
        refused = False
        jobs: list[tuple[str, RetainJob]] = []
        for document in made.documents:
            known = self._ledger.document(self._target.place, document.id) if self._ledger else None
            if known is not None and known.is_of(document.revision):
                self._report.same += 1
                continue
            imported, job = self._job(document, source, known, forked=made.forked)
            if self._state is not None and not await admits(self._target.config.retain.before_enqueue, job):
                self._report.refused += 1
                self._batch.documents.append((document.id, evolve(imported, status=REFUSED)))
                refused = True
                continue
            replaces = known is not None and known.status != PENDING
            self._report.replaced += replaces
            self._report.new += not replaces
            self._batch.documents.append((document.id, imported))
            jobs.append((document.span.end, job))
        self._batch.jobs += await self._past.covered(source, branch, jobs)
        return refused

    def _job(
        self, document: Document, source: Source, known: Imported | None, *, forked: bool
    ) -> tuple[Imported, RetainJob]:
        generation = 1
        if known is not None:
            generation = known.generation + (known.revision != document.revision)
        job = job_of(
            document, source, self._profile, self._target, forked=forked, generation=generation, now=self._now()
        )
        imported = Imported(
            session=source.session,
            revision=document.revision,
            job=job.id,
            generation=generation,
            messages=document.messages,
            first=document.span.first,
            last=document.span.last,
        )
        return imported, job

    def _count(self, source: Source, recorded: SessionFile, made: Cut) -> None:
        self._report.read_bytes += source.size
        self._report.tally.add(made.tally)
        broken = tuple(problem for problem in recorded.problems if not problem.kept)
        self._report.files.append(
            FileReport(path=source.path, session=source.session, documents=len(made.documents), broken=broken)
        )


def profile_name(profile: Profile, target: Target) -> str:
    """Stands for all that decides what a file becomes, so that a change of settings is no reason to skip it."""
    kept = evolve(profile.retain(target.config.retain), before_enqueue=None)
    where = (target.origin, target.bank, target.project.id, target.host)
    return digest("import 1", repr(profile), repr(kept), *where)[:32]
