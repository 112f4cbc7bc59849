"""``hindbrain retain | retain-user | forget``: the same explicit operations that a session has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import attrs

from hindbrain.contracts import Backend
from hindbrain.generic._cli._run import Options, run, with_backend
from hindbrain.generic._cli._state import HOSTS, folder_for, opened, with_state
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._disk_outbox import DiskOutbox
from hindbrain.generic._envelope import Envelope, Exit
from hindbrain.generic._explicit import LONGEST, Explicit, ExplicitRetain
from hindbrain.generic._forget import forget as forget_everywhere
from hindbrain.generic._open import SessionPlace, find_project, name_session, origin_of
from hindbrain.generic._session import now_ms
from hindbrain.memory import project_bank
from hindbrain.store import HostState

Ask = Callable[[Explicit], Awaitable[ExplicitRetain]]


def retain(options: Options, text: str, bank: str | None, tags: tuple[str, ...]) -> None:
    """Retain a text as its own document; retaining the same text again replaces it."""
    _retain("retain", options, lambda explicit: explicit.retain(text, bank=bank, tags=tags))


def retain_user(options: Options, text: str, tags: tuple[str, ...]) -> None:
    """Retain a text in the user's bank."""
    _retain("retain-user", options, lambda explicit: explicit.retain_user(text, tags=tags))


def _retain(command: str, options: Options, ask: Ask) -> None:
    async def work(settings: Settings) -> Envelope:
        cwd, config = str(Path.cwd()), memory_config(settings)
        project = await find_project(cwd, settings)
        identity = name_session(SessionPlace(host="cli", cwd=cwd, file=f"cli:{project.id}"), origin_of(settings))

        async def use(state: HostState, backend: Backend) -> Envelope:
            outbox = DiskOutbox(state, backend, settings)
            explicit = Explicit(
                outbox,
                config,
                lambda: outbox.flush(max_seconds=LONGEST),
                project=project,
                identity=identity,
                in_session=False,
                sending=asyncio.Lock(),
                clock=now_ms,
            )
            return _told(command, await ask(explicit))

        return await with_state(
            settings, "generic", None, lambda state: with_backend(settings, lambda backend: use(state, backend))
        )

    run(command, options, work)


def _told(command: str, done: ExplicitRetain) -> Envelope:
    job, flush = done.job, done.flush
    data = {
        "bank": job.bank,
        "document_id": job.item.document_id,
        "operation_id": job.operation_id,
        "state": "sent" if done.sent else "queued",
        "waiting": flush.waiting,
        "stopped_by": flush.code,
    }
    named = f"document {job.item.document_id}, operation {job.operation_id}, bank {job.bank}"
    if done.sent:
        return Envelope(command=command, data=data, text=f"accepted: {named}")
    why = f"memory did not take it yet ({flush.code})" if flush.code else "others are before it, or being sent"
    text = f"queued: {named}; {why}. It is kept and sent later, or now by `hindbrain queue flush`."
    return Envelope(command=command, data=data, text=text)


def forget(options: Options, document: str, bank: str | None) -> None:
    """Delete one document, and what waits for it in any host's queue of this project."""

    async def work(settings: Settings) -> Envelope:
        config = memory_config(settings)
        project = await find_project(str(Path.cwd()), settings)
        own_bank = project_bank(config, project) if bank is None else bank
        notices: list[str] = []
        async with AsyncExitStack() as stack:
            states = [
                await stack.enter_async_context(opened(settings, folder, within, notices.append))
                for folder, within in (folder_for(host, None) for host in HOSTS)
                if folder.is_dir()
            ]

            async def use(backend: Backend) -> Envelope:
                done = await forget_everywhere(states, backend, own_bank, document)
                data = {
                    "bank": own_bank,
                    "document_id": document,
                    **attrs.asdict(done.deleted),
                    "given_up": done.given_up,
                }
                text = f"deleted, {done.deleted.facts} facts" if done.deleted.found else "no such document"
                text += f"; {done.given_up} waiting turns of it were given up" if done.given_up else ""
                exit_ = Exit.OK if done.deleted.found or done.given_up else Exit.FAILED
                return Envelope(command="forget", data=data, text=text, exit=exit_, warnings=notices)

            return await with_backend(settings, use)

    run("forget", options, work)
