"""Automatic retain for one session: what is new becomes jobs, what the user kept out is passed over for good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from attrs import frozen

from hindbrain.contracts import Branch, Coverage, Entry, RetainJob
from hindbrain.generic._gate import admits
from hindbrain.generic._governance import Governance
from hindbrain.generic._outbox import Outbox
from hindbrain.memory import MemoryConfig, Project, SessionIdentity, build_job, iso
from hindbrain.store import permissions


@frozen(kw_only=True)
class Kept:
    """The jobs that were kept, in order, and how many messages were passed over for good."""

    jobs: tuple[RetainJob, ...] = ()
    passed_over: int = 0


class Retainer:
    """Keeps a session's turns in the outbox.

    What may be retained is decided when an entry is first seen and stays so: a turn that could not be kept is kept
    later, even across an opt-out, and one that was kept out is never retained later. A job that the program of
    ``retain.beforeEnqueue`` refuses is kept out; where that program gives no answer, nothing moves.

    Args:
        outbox: where jobs wait.
        governance: what the user has decided.
        config: which parts of messages are kept.
        project: the project's identity.
        identity: the session's names.
        bank: the project's bank, whose cursor also stands for turns that no bank gets.
        always: the banks that get every turn.
        clock: milliseconds since 1970 UTC.

    Source: seed 000, "Session governance"; spec/memory.md section 6.2.
    """

    def __init__(
        self,
        outbox: Outbox,
        governance: Governance,
        config: MemoryConfig,
        *,
        project: Project,
        identity: SessionIdentity,
        bank: str,
        always: tuple[str, ...],
        clock: Callable[[], int],
    ) -> None:
        self._outbox = outbox
        self._governance = governance
        self._config = config
        self._project = project
        self._identity = identity
        self._always = always
        self._banks = tuple(dict.fromkeys((bank, *always)))
        self._clock = clock
        self._decided: dict[tuple[str, str], tuple[bool, int]] = {}
        self._settled = 0
        self._skipping = False

    async def settle(self, branch: Branch) -> Kept:
        """Keep what is new on the branch, or pass over it.

        Raises:
            StoreError: it could not be made durable; the decision stands, and the next call tries again.
            GateUnansweredError: the check before the queue gave no answer; likewise.
        """
        record, skip = await self._governance.at_end_of_run()
        allowed = permissions(record).retains and self._config.retain.enabled
        lineage = self._identity.lineage
        fresh = {bank: await self._outbox.new_entries(lineage, bank, branch) for bank in self._banks}
        # Decided for all banks before any is written: one that fails must not be decided anew after an opt-out.
        self._settled += 1
        seen = len(self._decided)
        for bank, entries in fresh.items():
            for entry in entries:
                self._decided.setdefault((bank, entry.id), (allowed and bank in self._always, self._settled))
        self._skipping |= skip is not None and len(self._decided) > seen
        kept = [await self._keep(bank, branch, entries, record.tags) for bank, entries in fresh.items()]
        if skip is not None and self._skipping:
            await self._governance.consume(skip)
            self._skipping = False
        return Kept(
            jobs=tuple(job for each in kept for job in each.jobs), passed_over=max(each.passed_over for each in kept)
        )

    async def _keep(self, bank: str, branch: Branch, fresh: Sequence[Entry], tags: tuple[str, ...]) -> Kept:
        # A turn that failed makes the same job again and not a part of the next one: it may stand in the queue already.
        moved: list[Kept] = []
        for (keep, _), run in groupby(fresh, key=lambda entry: self._decided[bank, entry.id]):
            moved.append(await self._move(bank, branch, tuple(run), keep=keep, tags=tags))
        return Kept(
            jobs=tuple(job for each in moved for job in each.jobs), passed_over=sum(each.passed_over for each in moved)
        )

    async def _move(
        self, bank: str, branch: Branch, entries: tuple[Entry, ...], *, keep: bool, tags: tuple[str, ...]
    ) -> Kept:
        lineage = self._identity.lineage
        moved = await self._outbox.plan(lineage, bank, branch, entries)
        if moved is None:
            return Kept()
        job = self._job(entries, moved.coverage(lineage, bank), tags) if keep else None
        if job is not None and not await admits(self._config.retain.before_enqueue, job):
            keep, job = False, None
        if keep:
            await self._outbox.keep(lineage, bank, moved, job)
        else:
            await self._outbox.pass_over(lineage, bank, moved, branch, entries)
        for entry in entries:
            self._decided.pop((bank, entry.id), None)
        return Kept(jobs=(job,) if job is not None else (), passed_over=0 if keep else len(entries))

    def _job(self, entries: Sequence[Entry], covers: Coverage, tags: tuple[str, ...]) -> RetainJob | None:
        now = iso(self._clock())
        return build_job(entries, self._config, self._identity, self._project, covers=covers, now=now, extra_tags=tags)
