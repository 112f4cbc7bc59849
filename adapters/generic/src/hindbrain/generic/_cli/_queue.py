"""``hindbrain queue``: sending what waits, and deciding about what was given up or set aside."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

from hindbrain.contracts import Backend
from hindbrain.generic._cli._queue_look import look
from hindbrain.generic._cli._run import Options, run, with_backend
from hindbrain.generic._cli._state import folder_for, with_state
from hindbrain.generic._config import Settings
from hindbrain.generic._disk_outbox import flusher_of
from hindbrain.generic._envelope import Envelope, Exit
from hindbrain.store import DurableQueue, FlushReport, HostState, SetAside, UnknownJobError

Use = Callable[[HostState], Awaitable[Envelope]]


def _run(
    command: str,
    options: Options,
    host: str,
    state_dir: str | None,
    use: Callable[[Settings], Use],
    *,
    nothing: Callable[[], Envelope],
) -> None:
    """Work in the state folder; where there is none, no queue is, and ``nothing`` is told without making one."""

    def is_there() -> bool:
        return os.path.lexists(folder_for(host, state_dir)[0])

    async def work(settings: Settings) -> Envelope:
        if not is_there():
            return nothing()
        return await with_state(settings, host, state_dir, use(settings))

    run(f"queue {command}", options, work)


def flush(options: Options, host: str, state_dir: str | None, max_jobs: int | None) -> None:
    """Send what waits to the selected backend, now."""

    def with_settings(settings: Settings) -> Use:
        async def use(state: HostState) -> Envelope:
            async def send(backend: Backend) -> Envelope:
                flusher = flusher_of(state, backend, settings)
                return _flushed(await flusher.flush(max_jobs=max_jobs, force=True))

            return await with_backend(settings, send)

        return use

    _run("flush", options, host, state_dir, with_settings, nothing=lambda: _flushed(FlushReport()))


def _flushed(report: FlushReport) -> Envelope:
    outcome = report.outcome
    data: dict[str, Any] = {
        "sent": report.sent,
        "remaining": report.remaining,
        "unconfirmed": report.unconfirmed,
        "returned": report.returned,
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
    if report.unconfirmed:
        text += f"\n{report.unconfirmed} taken by the backend and not done there yet; they are kept until they are"
    if report.returned:
        text += f"\n{report.returned} came to nothing in the backend and are sent again"
    warnings = ["Another process is sending this queue; nothing was done."] if report.busy else []
    if report.stopped_by not in {None, "max-jobs"}:
        warnings.append(f"It ended early: {report.stopped_by}. What waits is kept.")
    exit_ = Exit.OK
    if report.dead_lettered or (report.remaining and report.stopped_by != "max-jobs"):
        exit_ = Exit.PARTIAL if report.sent else Exit.UNREACHABLE
    return Envelope(command="queue flush", data=data, text=text, warnings=warnings, exit=exit_)


def _unknown() -> Envelope:
    raise UnknownJobError


def dead_requeue(options: Options, host: str, state_dir: str | None, job_id: str) -> None:
    """Let a dead letter wait again, with fresh attempts."""

    async def use(state: HostState) -> Envelope:
        new = await state.ask(lambda queue: queue.requeue(job_id))
        return Envelope(command="queue dead requeue", data={"id": job_id, "new_id": new}, text=f"waits again as {new}")

    _run("dead requeue", options, host, state_dir, lambda _: use, nothing=_unknown)


def dead_drop(options: Options, host: str, state_dir: str | None, job_id: str) -> None:
    """Forget a dead letter for good."""

    async def use(state: HostState) -> Envelope:
        await state.ask(lambda queue: queue.drop(job_id))
        return Envelope(command="queue dead drop", data={"id": job_id}, text="dropped")

    _run("dead drop", options, host, state_dir, lambda _: use, nothing=_unknown)


def adopt(options: Options, host: str, state_dir: str | None, *, yes: bool, content: bool) -> None:
    """Show how many lines lack this user's seal; take them for one's own with ``yes``."""

    def shown(rows: tuple[SetAside, ...], adopted: int) -> Envelope:
        foreign = [row for row in rows if row.reason == "unsealed"]
        data: dict[str, Any] = {"unsealed": len(foreign), "malformed": len(rows) - len(foreign), "adopted": adopted}
        if content:
            data["lines"] = [row.text.encode("utf-8", "replace").decode() for row in foreign]
        text = "\n".join(f"{name}: {value}" for name, value in data.items())
        if foreign and not yes:
            text += "\nNothing was adopted. Look at them with --content, and say --yes to take them for your own."
        return Envelope(command="queue adopt", data=data, text=text)

    async def use(state: HostState) -> Envelope:
        rows: tuple[SetAside, ...] = await state.ask(DurableQueue.set_aside)
        return shown(rows, await state.ask(DurableQueue.adopt))

    if yes:
        _run("adopt", options, host, state_dir, lambda _: use, nothing=lambda: shown((), 0))
    else:
        look("adopt", options, host, state_dir, ask=lambda queue: shown(queue.set_aside() if queue else (), 0))
