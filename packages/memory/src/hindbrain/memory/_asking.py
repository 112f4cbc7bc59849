"""Asking one bank, beside others and under their common deadline."""

from __future__ import annotations

import asyncio

from attrs import frozen

from hindbrain.contracts import Backend, BackendError, HindbrainError, Outcome, Recall, RecallQuery


@frozen(kw_only=True)
class ScopeFailure:
    """A scope that gave no answer: its bank and the stable code of the error, never its text.

    ``outage`` says that the backend was away or too late: asking again soon would only cost the next turn its time.
    """

    bank: str
    code: str
    outage: bool = False


def _failure(bank: str, error: Exception) -> ScopeFailure:
    if not isinstance(error, BackendError):
        return ScopeFailure(bank=bank, code=error.code if isinstance(error, HindbrainError) else "error")
    return ScopeFailure(bank=bank, code=error.code, outage=error.retryable or error.outcome is Outcome.UNKNOWN)


class Asking:
    """One bank that is being asked: ``task`` is the request, ``took`` how many milliseconds it took in the end."""

    def __init__(self, backend: Backend, bank: str, query: RecallQuery) -> None:
        self.bank = bank
        self.query = query
        self.took = 0
        self.task = asyncio.create_task(self._ask(backend))

    async def _ask(self, backend: Backend) -> Recall | ScopeFailure:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            return await backend.recall(self.bank, self.query)
        except Exception as error:  # noqa: BLE001  (one bank's trouble is never another's)
            return _failure(self.bank, error)
        finally:
            self.took = round((loop.time() - began) * 1000)

    def answer(self) -> Recall | ScopeFailure:
        """What came of it; a request that was cancelled was too late."""
        if self.task.cancelled():
            return ScopeFailure(bank=self.bank, code="timeout", outage=True)
        return self.task.result()


async def ask_all(asked: list[Asking], deadline: float) -> None:
    """Wait for all, at most so many seconds; what is not there by then, or when this is cancelled, is cancelled."""
    tasks = [each.task for each in asked]
    try:
        await asyncio.wait(tasks, timeout=deadline) if tasks else None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
