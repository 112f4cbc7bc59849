"""``hindbrain queue``: what waits, what was given up, and what was set aside. Content is shown only on request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs

from hindbrain.contracts import Backend, RetainJob
from hindbrain.generic._cli._run import Options, run, with_backend
from hindbrain.generic._config import Settings
from hindbrain.generic._disk_outbox import state_folder
from hindbrain.generic._envelope import Envelope, Exit
from hindbrain.generic._open import data_dir
from hindbrain.memory import read_checkout
from hindbrain.store import DurableQueue, HostState, SetAside

Use = Callable[[HostState], Awaitable[Envelope]]


def folder_for(host: str, state_dir: str | None) -> tuple[Path, Path | None]:
    """The state folder meant, and the project's root it must lie in; None where it was named outright."""
    if state_dir is not None:
        return Path(state_dir), None
    root = Path(read_checkout(str(Path.cwd()), home=str(Path.home())).root)
    return state_folder(host, root), root


def _run(command: str, options: Options, host: str, state_dir: str | None, use: Callable[[Settings], Use]) -> None:
    async def work(settings: Settings) -> Envelope:
        folder, within = folder_for(host, state_dir)
        notices: list[str] = []
        state = await HostState.open(
            folder, seal_file=data_dir(settings) / "seal.key", within=within, notify=notices.append
        )
        try:
            envelope = await use(settings)(state)
        finally:
            await state.close()
        return attrs.evolve(envelope, warnings=[*notices, *envelope.warnings])

    run(f"queue {command}", options, work)


def status(options: Options, host: str, state_dir: str | None) -> None:
    """Count what lies where."""

    async def use(state: HostState) -> Envelope:
        counts = await state.ask(DurableQueue.counts)
        data = attrs.asdict(counts)
        text = "\n".join(f"{name:10s} {value}" for name, value in data.items() if value is not None)
        unsealed = f"{counts.unsealed} lines do not bear your seal; see `hindbrain queue adopt`."
        return Envelope(command="queue status", data=data, text=text, warnings=[unsealed] if counts.unsealed else [])

    _run("status", options, host, state_dir, lambda _: use)


def flush(options: Options, host: str, state_dir: str | None, max_jobs: int | None) -> None:
    """Send what waits to the selected backend, now."""

    def with_settings(settings: Settings) -> Use:
        async def use(state: HostState) -> Envelope:
            return await with_backend(settings, lambda backend: _flush(state, backend, max_jobs))

        return use

    _run("flush", options, host, state_dir, with_settings)


async def _flush(state: HostState, backend: Backend, max_jobs: int | None) -> Envelope:
    report = await state.flusher(backend).flush(max_jobs=max_jobs, force=True)
    outcome = report.outcome
    data: dict[str, Any] = {
        "sent": report.sent,
        "remaining": report.remaining,
        "dead_lettered": report.dead_lettered,
        "malformed": report.malformed,
        "operation_ids": list(report.operation_ids),
        "items": outcome.items,
        "operations": outcome.operations,
        "tokens": outcome.tokens,
        "stopped_by": report.stopped_by,
        "busy": report.busy,
    }
    text = f"{report.sent} sent, {report.remaining} waiting, {report.dead_lettered} given up"
    if report.sent and (outcome.items is not None or outcome.tokens is not None):
        text += f" (items {outcome.items}, operations {outcome.operations}, tokens {outcome.tokens})"
    warnings = ["Another process is sending this queue; nothing was done."] if report.busy else []
    if report.stopped_by not in {None, "max-jobs"}:
        warnings.append(f"It ended early: {report.stopped_by}. What waits is kept.")
    exit_ = Exit.OK
    if report.dead_lettered or (report.remaining and report.stopped_by != "max-jobs"):
        exit_ = Exit.PARTIAL if report.sent else Exit.UNREACHABLE
    return Envelope(command="queue flush", data=data, text=text, warnings=warnings, exit=exit_)


def listing(options: Options, host: str, state_dir: str | None) -> None:
    """List what waits, in order, without content."""

    async def use(state: HostState) -> Envelope:
        jobs = await state.ask(DurableQueue.waiting)
        rows = [
            {
                "id": job.id,
                "bank": job.bank,
                "document_id": job.document_id,
                "created_at": job.created_at,
                "retries": job.retries,
                "bytes": job.size,
                "merged": len(job.members),
            }
            for job in jobs
        ]
        text = "\n".join(f"{r['created_at']}  {r['id']}  {r['document_id']}  tries {r['retries']}" for r in rows)
        return Envelope(command="queue list", data={"jobs": rows}, text=text or "(nothing waits)")

    _run("list", options, host, state_dir, lambda _: use)


def dead_list(options: Options, host: str, state_dir: str | None) -> None:
    """List the dead letters without content."""

    async def use(state: HostState) -> Envelope:
        letters = [attrs.asdict(letter) for letter in await state.ask(DurableQueue.dead)]
        text = "\n".join(f"{d['at']}  {d['id']}  {d['document_id']}  {d['code']} x{d['retries']}" for d in letters)
        return Envelope(command="queue dead list", data={"dead": letters}, text=text or "(no dead letters)")

    _run("dead list", options, host, state_dir, lambda _: use)


def dead_show(options: Options, host: str, state_dir: str | None, job_id: str, *, content: bool) -> None:
    """Show one dead letter; its content only where it is asked for."""

    async def use(state: HostState) -> Envelope:
        job: RetainJob = await state.ask(lambda queue: queue.show_dead(job_id))
        data: dict[str, Any] = {
            "id": job.id,
            "bank": job.bank,
            "document_id": job.item.document_id,
            "created_at": job.created_at,
            "tags": list(job.item.tags),
            "characters": len(job.item.content),
        }
        if content:
            data["content"] = job.item.content
        text = "\n".join(f"{name}: {value}" for name, value in data.items())
        return Envelope(command="queue dead show", data=data, text=text)

    _run("dead show", options, host, state_dir, lambda _: use)


def dead_requeue(options: Options, host: str, state_dir: str | None, job_id: str) -> None:
    """Let a dead letter wait again, with fresh attempts."""

    async def use(state: HostState) -> Envelope:
        new = await state.ask(lambda queue: queue.requeue(job_id))
        return Envelope(command="queue dead requeue", data={"id": job_id, "new_id": new}, text=f"waits again as {new}")

    _run("dead requeue", options, host, state_dir, lambda _: use)


def dead_drop(options: Options, host: str, state_dir: str | None, job_id: str) -> None:
    """Forget a dead letter for good."""

    async def use(state: HostState) -> Envelope:
        await state.ask(lambda queue: queue.drop(job_id))
        return Envelope(command="queue dead drop", data={"id": job_id}, text="dropped")

    _run("dead drop", options, host, state_dir, lambda _: use)


def verify(options: Options, host: str, state_dir: str | None) -> None:
    """Check every seal."""

    async def use(state: HostState) -> Envelope:
        found = await state.ask(DurableQueue.verify)
        data = attrs.asdict(found)
        text = "\n".join(f"{name:16s} {value}" for name, value in data.items())
        exit_ = Exit.OK if found.is_sound else Exit.FAILED
        return Envelope(command="queue verify", data={**data, "sound": found.is_sound}, text=text, exit=exit_)

    _run("verify", options, host, state_dir, lambda _: use)


def adopt(options: Options, host: str, state_dir: str | None, *, yes: bool, content: bool) -> None:
    """Show how many lines lack this user's seal; take them for one's own with ``yes``."""

    async def use(state: HostState) -> Envelope:
        rows: tuple[SetAside, ...] = await state.ask(DurableQueue.set_aside)
        foreign = [row for row in rows if row.reason == "unsealed"]
        adopted = await state.ask(DurableQueue.adopt) if yes else 0
        data: dict[str, Any] = {"unsealed": len(foreign), "malformed": len(rows) - len(foreign), "adopted": adopted}
        if content:
            data["lines"] = [row.text.encode("utf-8", "replace").decode() for row in foreign]
        text = "\n".join(f"{name}: {value}" for name, value in data.items())
        if foreign and not yes:
            text += "\nNothing was adopted. Look at them with --content, and say --yes to take them for your own."
        return Envelope(command="queue adopt", data=data, text=text)

    _run("adopt", options, host, state_dir, lambda _: use)
