"""``hindbrain queue status | list | verify`` and the dead letters: looking, which changes nothing and makes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from hindbrain.generic._cli._run import Options, run
from hindbrain.generic._cli._state import with_view
from hindbrain.generic._config import Settings
from hindbrain.generic._envelope import Envelope, Exit
from hindbrain.store import DurableQueue, QueueCounts, UnknownJobError, Verification


def look(
    command: str, options: Options, host: str, state_dir: str | None, *, ask: Callable[[DurableQueue | None], Envelope]
) -> None:
    """Look at the queue and change nothing; ``ask`` is given None where there is no state folder yet."""

    async def work(settings: Settings) -> Envelope:
        return await with_view(settings, host, state_dir, lambda view: ask(None if view is None else view.queue))

    run(f"queue {command}", options, work)


def status(options: Options, host: str, state_dir: str | None) -> None:
    """Count what lies where."""

    def ask(queue: DurableQueue | None) -> Envelope:
        counts = QueueCounts() if queue is None else queue.counts()
        data = attrs.asdict(counts)
        text = "\n".join(f"{name:12s} {value}" for name, value in data.items() if value is not None)
        unsealed = f"{counts.unsealed} lines do not bear your seal; see `hindbrain queue adopt`."
        return Envelope(command="queue status", data=data, text=text, warnings=[unsealed] if counts.unsealed else [])

    look("status", options, host, state_dir, ask=ask)


def listing(options: Options, host: str, state_dir: str | None) -> None:
    """List what waits, in order, without content."""

    def ask(queue: DurableQueue | None) -> Envelope:
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
            for job in (queue.waiting() if queue else ())
        ]
        text = "\n".join(f"{r['created_at']}  {r['id']}  {r['document_id']}  tries {r['retries']}" for r in rows)
        return Envelope(command="queue list", data={"jobs": rows}, text=text or "(nothing waits)")

    look("list", options, host, state_dir, ask=ask)


def dead_list(options: Options, host: str, state_dir: str | None) -> None:
    """List the dead letters without content."""

    def ask(queue: DurableQueue | None) -> Envelope:
        letters = [attrs.asdict(letter) for letter in (queue.dead() if queue else ())]
        text = "\n".join(f"{d['at']}  {d['id']}  {d['document_id']}  {d['code']} x{d['retries']}" for d in letters)
        return Envelope(command="queue dead list", data={"dead": letters}, text=text or "(no dead letters)")

    look("dead list", options, host, state_dir, ask=ask)


def dead_show(options: Options, host: str, state_dir: str | None, job_id: str, *, content: bool) -> None:
    """Show one dead letter; its content only where it is asked for."""

    def ask(queue: DurableQueue | None) -> Envelope:
        if queue is None:
            raise UnknownJobError
        job = queue.show_dead(job_id)
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

    look("dead show", options, host, state_dir, ask=ask)


def verify(options: Options, host: str, state_dir: str | None) -> None:
    """Check every seal."""

    def ask(queue: DurableQueue | None) -> Envelope:
        found = Verification() if queue is None else queue.verify()
        data = attrs.asdict(found)
        text = "\n".join(f"{name:16s} {value}" for name, value in data.items())
        exit_ = Exit.OK if found.is_sound else Exit.FAILED
        return Envelope(command="queue verify", data={**data, "sound": found.is_sound}, text=text, exit=exit_)

    look("verify", options, host, state_dir, ask=ask)
