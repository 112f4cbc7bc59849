"""The program that may refuse a job before it is queued.

Source: spec/memory.md section 6.7; decisions.md, "Durability" (it gates each job and the merge).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal

from hindbrain.contracts import HindbrainError, RetainJob
from hindbrain.memory import EnqueueGate


class GateUnansweredError(HindbrainError):
    """The check before the queue could not be run, or did not end in time; the job was not queued."""

    code = "gate-unanswered"

    def __init__(self) -> None:
        super().__init__(
            "The program of retain.beforeEnqueue could not be run or did not end in time; nothing was queued.",
            next_step="Mend the command or raise its timeoutMs; the turn is offered again.",
        )


class GateRefusedError(HindbrainError):
    """The check before the queue said no; the job was not queued."""

    code = "gate-refused"

    def __init__(self) -> None:
        super().__init__("The program of retain.beforeEnqueue refused this text; nothing was queued.")


def as_json(job: RetainJob) -> bytes:
    """The job as the program reads it: keys sorted, two spaces, a line break at the end."""
    item = job.item
    fields = {
        "id": job.id,
        "bankId": job.bank,
        "createdAt": job.created_at,
        "documentId": item.document_id,
        "updateMode": item.update_mode.value,
        "item": {
            "content": item.content,
            "context": item.context,
            "timestamp": item.timestamp,
            "tags": list(item.tags),
            "metadata": dict(item.metadata),
        },
    }
    return (json.dumps(fields, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode("utf-8", "replace")


async def admits(gate: EnqueueGate | None, job: RetainJob) -> bool:
    """Whether the job may be queued: the program's exit code 0. Without a gate every job may.

    A gate without a command was misspelt in the settings and admits nothing, since no answer can be had.

    Raises:
        GateUnansweredError: it could not be started, or did not end in time; it is ended with all it started.
    """
    if gate is None:
        return True
    if not gate.command:
        raise GateUnansweredError
    quiet = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *gate.command, stdin=asyncio.subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True
        )
    except (OSError, ValueError):
        raise GateUnansweredError from None
    try:
        async with asyncio.timeout(gate.timeout_ms / 1000):
            await process.communicate(as_json(job))
    except TimeoutError:
        raise GateUnansweredError from None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return process.returncode == 0
