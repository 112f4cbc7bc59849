"""Retains on their way: sent in order, kept and tried again where the backend did not take them.

It lives in memory. A session that needs retains to outlive the process gives another ``RetainQueue``.
"""

from __future__ import annotations

from collections import deque

from attrs import frozen

from hindbrain.contracts import Backend, BackendError, Outcome, Retained, RetainJob


@frozen(kw_only=True)
class Flush:
    """What one flush did: acknowledged jobs, those refused for good, and the code of what stopped it."""

    sent: tuple[tuple[RetainJob, Retained], ...] = ()
    refused: tuple[RetainJob, ...] = ()
    waiting: int = 0
    code: str | None = None


class PendingRetains:
    """Implements ``RetainQueue`` over a backend. Order is kept, so a document's turns arrive as they were said."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._jobs: deque[RetainJob] = deque()

    def __len__(self) -> int:
        """How many jobs wait."""
        return len(self._jobs)

    async def enqueue(self, job: RetainJob) -> None:
        """Take the job; :meth:`flush` sends it."""
        self._jobs.append(job)

    async def flush(self) -> Flush:
        """Send what waits, in order, until done or until the backend does not take one.

        A job whose outcome is unknown, or that may succeed later, stays first in line under the same operation id. A
        job that was refused for good is handed back and does not block the ones behind it.
        """
        sent: list[tuple[RetainJob, Retained]] = []
        refused: list[RetainJob] = []
        code: str | None = None
        while self._jobs:
            job = self._jobs[0]
            try:
                ack = await self._backend.retain(job.bank, job.item, operation_id=job.operation_id)
            except BackendError as error:
                code = error.code
                if error.retryable or error.outcome is Outcome.UNKNOWN or code == "unauthorized":
                    break
                refused.append(self._jobs.popleft())
                continue
            self._jobs.popleft()
            sent.append((job, ack))
        return Flush(sent=tuple(sent), refused=tuple(refused), waiting=len(self._jobs), code=code)
