"""Trying an idempotent call again, and turning the waiting off for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from hindbrain.client._config import RetryPolicy
from hindbrain.client._errors import ClientError

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
_waiting: ContextVar[bool] = ContextVar("hindbrain_client_waiting", default=True)


@contextmanager
def no_waiting() -> Iterator[None]:
    """Within the block, retries follow each other at once: for tests of code that uses the client."""
    token = _waiting.set(False)
    try:
        yield
    finally:
        _waiting.reset(token)


async def with_retries(policy: RetryPolicy, call: Callable[[], Awaitable[T]]) -> T:
    """What ``call`` returns, or its last error. Only errors that say they are retryable lead to another attempt."""
    if policy.attempts == 1:
        return await call()
    import tenacity

    backoff = tenacity.wait_random_exponential(multiplier=policy.initial, max=policy.maximum)

    def wait(state: RetryCallState) -> float:
        error = None if state.outcome is None else state.outcome.exception()
        return max(backoff(state), _asked(error))

    def again(error: BaseException) -> bool:
        return isinstance(error, ClientError) and error.retryable and _asked(error) <= policy.maximum

    async def attempt() -> T:  # tenacity awaits only what it can see is async
        return await call()

    retrying = tenacity.AsyncRetrying(
        stop=tenacity.stop_after_attempt(policy.attempts),
        wait=wait,
        retry=tenacity.retry_if_exception(again),
        sleep=_sleep,
        reraise=True,
    )
    return await retrying(attempt)


def _asked(error: BaseException | None) -> float:
    return (isinstance(error, ClientError) and error.retry_after) or 0.0


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(seconds if _waiting.get() else 0)
