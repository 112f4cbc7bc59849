"""``hindbrain retain | status | delete``: verbs on a bank, from the command line."""

from __future__ import annotations

from pathlib import Path

import attrs

from hindbrain.contracts import Backend, RetainJob
from hindbrain.generic._cli._run import Options, run, with_backend
from hindbrain.generic._config import Settings, memory_config
from hindbrain.generic._envelope import Envelope, Exit
from hindbrain.generic._gate import GateRefusedError, admits
from hindbrain.generic._open import SessionPlace, SettingsError, find_project, name_session, origin_of
from hindbrain.generic._session import now_ms
from hindbrain.memory import (
    MemoryConfig,
    Project,
    bank_of,
    digest,
    explicit_item,
    iso,
    operation_id,
    project_bank,
)


async def _project(settings: Settings) -> tuple[Project, MemoryConfig, str]:
    config = memory_config(settings)
    project = await find_project(str(Path.cwd()), settings)
    return project, config, project_bank(config, project)


def _check_writable(config: MemoryConfig, project: Project, bank: str) -> None:
    """Refuse a bank that the settings list as not writable; one they do not list was named by the user just now."""
    listed = [entry for entry in config.banks if bank_of(entry, config, project) == bank]
    if listed and not any(entry.writable for entry in listed):
        raise SettingsError(
            "The settings make this bank read-only or switch it off; nothing was retained.",
            next_step="Change its access in banks[], or name another bank with --bank.",
        )


def retain(options: Options, text: str, bank: str | None, tags: tuple[str, ...]) -> None:
    """Retain a text as its own document; retaining the same text again changes nothing."""

    async def work(settings: Settings) -> Envelope:
        project, config, own_bank = await _project(settings)
        target, cwd = own_bank if bank is None else bank, str(Path.cwd())
        identity = name_session(SessionPlace(host="cli", cwd=cwd, file=f"cli:{project.id}"), origin_of(settings))
        item = explicit_item(text, config, identity, project, bank=target, tags=tags)
        operation = operation_id(
            origin=identity.origin,
            bank=target,
            project=project.id,
            document=item.document_id,
            revision=digest(item.content, *item.tags)[:16],
        )

        _check_writable(config, project, target)
        job = RetainJob(id=operation, bank=target, item=item, operation_id=operation, created_at=iso(now_ms()))
        if not await admits(config.retain.before_enqueue, job):
            raise GateRefusedError

        async def use(backend: Backend) -> Envelope:
            ack = await backend.retain(target, item, operation_id=operation)
            data = {"bank": target, "document_id": item.document_id, "operation_id": ack.operation_id}
            said = f"accepted: document {item.document_id}, operation {ack.operation_id}, bank {target}"
            return Envelope(command="retain", data=data, text=said)

        return await with_backend(settings, use)

    run("retain", options, work)


def status(options: Options, operation: str, bank: str | None) -> None:
    """Say where a retain stands."""

    async def work(settings: Settings) -> Envelope:
        own_bank = (await _project(settings))[2] if bank is None else bank

        async def use(backend: Backend) -> Envelope:
            state = await backend.status(own_bank, operation)
            data = {"bank": own_bank, **attrs.asdict(state), "status": state.status.value}
            bad = state.status.value in {"failed", "cancelled", "not_found"}
            return Envelope(command="status", data=data, text=state.status.value, exit=Exit.FAILED if bad else Exit.OK)

        return await with_backend(settings, use)

    run("status", options, work)


def delete(options: Options, document: str, bank: str | None) -> None:
    """Delete one document."""

    async def work(settings: Settings) -> Envelope:
        own_bank = (await _project(settings))[2] if bank is None else bank

        async def use(backend: Backend) -> Envelope:
            done = await backend.delete(own_bank, document)
            data = {"bank": own_bank, "document_id": document, **attrs.asdict(done)}
            text = f"deleted, {done.facts} facts" if done.found else "no such document"
            return Envelope(command="delete", data=data, text=text, exit=Exit.OK if done.found else Exit.FAILED)

        return await with_backend(settings, use)

    run("delete", options, work)
