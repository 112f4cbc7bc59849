"""Automatic retain for one session: what is new becomes jobs, what the user kept out is passed over for good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from attrs import frozen

from hindbrain.contracts import Branch, Entry, RetainJob
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
    later, even across an opt-out, and one that was kept out is never retained later.

    Args:
        outbox: where jobs wait.
        governance: what the user has decided.
        config: which parts of messages are kept.
        project: the project's identity.
        identity: the session's names.
        bank: the bank to write to.
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
        clock: Callable[[], int],
    ) -> None:
        self._outbox = outbox
        self._governance = governance
        self._config = config
        self._project = project
        self._identity = identity
        self._bank = bank
        self._clock = clock
        self._may_keep: dict[str, bool] = {}

    async def settle(self, branch: Branch) -> Kept:
        """Keep what is new on the branch, or pass over it.

        Raises:
            StoreError: it could not be made durable; the decision stands, and the next call tries again.
        """
        fresh = await self._outbox.new_entries(self._identity.lineage, self._bank, branch)
        record = await self._governance.record()
        skip = await self._governance.pending_skip()
        allowed = permissions(record).retains and self._config.retain.enabled
        for entry in fresh:
            self._may_keep.setdefault(entry.id, allowed)
        jobs: list[RetainJob] = []
        passed_over = 0
        for keep, run in groupby(fresh, key=lambda entry: self._may_keep[entry.id]):
            entries = tuple(run)
            job = await self._move(branch, entries, keep=keep, tags=record.tags)
            jobs += [job] if job is not None else []
            passed_over += 0 if keep else len(entries)
        if skip is not None and fresh:
            await self._governance.consume(skip)
        return Kept(jobs=tuple(jobs), passed_over=passed_over)

    async def _move(
        self, branch: Branch, entries: Sequence[Entry], *, keep: bool, tags: tuple[str, ...]
    ) -> RetainJob | None:
        lineage = self._identity.lineage
        moved = await self._outbox.plan(lineage, self._bank, branch, tuple(entries))
        if moved is None:
            return None
        job = None
        if keep:
            covers = moved.coverage(lineage, self._bank)
            now = iso(self._clock())
            job = build_job(
                entries, self._config, self._identity, self._project, covers=covers, now=now, extra_tags=tags
            )
            await self._outbox.keep(lineage, self._bank, moved, job)
        else:
            await self._outbox.pass_over(lineage, self._bank, moved, branch, tuple(entries))
        for entry in entries:
            self._may_keep.pop(entry.id, None)
        return job
