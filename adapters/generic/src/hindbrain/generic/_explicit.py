"""What is retained and forgotten because somebody said so, whatever the session's mode."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable

from attrs import frozen

from hindbrain.contracts import RetainJob, check_bank
from hindbrain.generic._gate import GateRefusedError, admits
from hindbrain.generic._open import SettingsError
from hindbrain.generic._outbox import Flush, Forgotten, Outbox
from hindbrain.memory import MemoryConfig, Project, SessionIdentity, bank_of, explicit_item, iso, project_bank

LONGEST = 10.0
"""Seconds that an explicit retain waits for the backend; what is not taken by then is sent later."""


@frozen(kw_only=True)
class ExplicitRetain:
    """An explicit retain: the job that is durable now, and what the flush after it did."""

    job: RetainJob
    flush: Flush

    @property
    def sent(self) -> bool:
        """Whether the backend has taken it; else it waits and is sent later."""
        return self.job.id in self.flush.jobs


class Explicit:
    """Explicit operations: queue first, then the backend. They raise: whoever asked wants to know.

    Args:
        outbox: where jobs wait.
        config: the memory path's settings.
        flush: sends what waits, within a bound.
        project: the project's identity.
        identity: the names of the session, or those that stand for the command line.
        in_session: whether a session asks.
        sending: held while a document is deleted, so that none of it is sent meanwhile.
        clock: milliseconds since 1970 UTC.
        new_id: names a job. Each call is an operation of its own, so that what was forgotten can be retained again.

    Source: seed 000, "Queue" (queue-first) and "Automatic retain" (tags); spec/memory.md section 6.6.
    """

    def __init__(
        self,
        outbox: Outbox,
        config: MemoryConfig,
        flush: Callable[[], Awaitable[Flush]],
        *,
        project: Project,
        identity: SessionIdentity,
        in_session: bool,
        sending: asyncio.Lock,
        clock: Callable[[], int],
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._outbox = outbox
        self._config = config
        self._flush = flush
        self._project = project
        self._identity = identity
        self._in_session = in_session
        self._sending = sending
        self._clock = clock
        self._new_id = new_id

    async def retain(
        self, text: str, *, bank: str | None = None, tags: tuple[str, ...] = (), context: str = ""
    ) -> ExplicitRetain:
        """Retain a text as a document of its own; the same text again replaces it.

        Args:
            text: what is to be remembered.
            bank: where to; None is the project's bank.
            tags: tags beside the base tags.
            context: a few words on where the text comes from.

        Raises:
            SettingsError: the settings do not let this bank be written; nothing was retained.
            GateRefusedError, GateUnansweredError: the check before the queue let it not through.
            StoreError: it could not be made durable.
            BackendRequestError: the text is blank, or the bank or a tag is refused.
        """
        target = project_bank(self._config, self._project) if bank is None else bank
        self._check_writable(check_bank(target))
        now = iso(self._clock())
        item = explicit_item(
            text,
            self._config,
            self._identity,
            self._project,
            bank=target,
            tags=tags,
            context=context,
            in_session=self._in_session,
            now=now,
        )
        id_ = self._new_id()
        job = RetainJob(id=id_, bank=target, item=item, operation_id=id_, created_at=now)
        if not await admits(self._config.retain.before_enqueue, job):
            raise GateRefusedError
        await self._outbox.enqueue(job)
        return ExplicitRetain(job=job, flush=await self._flush())

    async def retain_user(self, text: str, *, tags: tuple[str, ...] = (), context: str = "") -> ExplicitRetain:
        """Retain a text about the user and not the project, in the user's bank.

        It bears the tags of ``scope.userScopeTags``, too, so that recall finds it there.

        Raises:
            SettingsError: no such bank is set, or it may not be written; nothing was retained.
            HindbrainError: as ``retain``.
        """
        bank = self._config.user_bank
        if bank is None:
            raise SettingsError(
                "No user bank is set; nothing was retained.", next_step="Set banks.user.bankId in your own settings."
            )
        own = self._config.scope.user_scope_tags or ()
        return await self.retain(text, bank=bank, tags=(*own, *tags), context=context)

    async def forget(self, document_id: str, *, bank: str | None = None) -> Forgotten:
        """Delete one document, with all that was learnt from it alone, and what still waits for it.

        Raises:
            BackendError, StoreError: it was not deleted.
        """
        target = project_bank(self._config, self._project) if bank is None else bank
        async with self._sending:
            return await self._outbox.forget(target, document_id)

    def _check_writable(self, bank: str) -> None:
        """Refuse a bank that the settings list as not writable; one they do not list was named by the user just now."""
        listed = [entry for entry in self._config.banks if bank_of(entry, self._config, self._project) == bank]
        if listed and not any(entry.writable for entry in listed):
            raise SettingsError(
                "The settings make this bank read-only or switch it off; nothing was retained.",
                next_step="Change its access in banks[], or name another bank.",
            )
