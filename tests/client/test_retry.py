import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.client import (
    ClientConfig,
    ConflictError,
    DeadlineError,
    HindsightClient,
    HttpError,
    NetworkError,
    RetryPolicy,
    no_waiting,
)
from hindbrain.client._retry import with_retries
from hindbrain.contracts import Endpoint, OperationStatus, RecallQuery, RetainItem

OPERATION = "2de40b13-52e9-41d7-877e-8d3fc4a21637"
PATIENT = RetryPolicy(attempts=3, initial=30, maximum=60)
Waits = list[float]


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    """The seconds that would have been waited."""
    found: Waits = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr("hindbrain.client._retry.asyncio.sleep", sleep)
    return found


def failing(*errors: Exception) -> Callable[[], Any]:
    left = list(errors)

    async def call() -> str:
        if left:
            raise left.pop(0)
        return "done"

    return call


async def test_one_attempt_is_the_default(waits: Waits) -> None:
    with pytest.raises(NetworkError):
        await with_retries(RetryPolicy(), failing(NetworkError()))
    assert waits == []


async def test_what_may_be_tried_again_is_until_it_works(waits: Waits) -> None:
    policy = RetryPolicy(attempts=3, initial=0.5, maximum=1.0)

    assert await with_retries(policy, failing(NetworkError(), HttpError(500))) == "done"
    assert len(waits) == 2
    assert all(0 <= wait <= 1.0 for wait in waits)


async def test_the_last_error_comes_through_as_itself(waits: Waits) -> None:
    last = DeadlineError(50)
    with pytest.raises(DeadlineError) as caught:
        await with_retries(PATIENT, failing(NetworkError(), NetworkError(), last))
    assert caught.value is last
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert len(waits) == 2


@pytest.mark.parametrize("error", [ConflictError(409), HttpError(422), ValueError("a bug")])
async def test_what_is_definite_is_not_tried_again(waits: Waits, error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        await with_retries(PATIENT, failing(error))
    assert caught.value is error
    assert waits == []


async def test_the_servers_wait_is_kept(waits: Waits) -> None:
    policy = RetryPolicy(attempts=2, initial=0.01, maximum=7.0)

    assert await with_retries(policy, failing(HttpError(503, retry_after=7.0))) == "done"
    assert waits == [7.0]


async def test_a_wait_longer_than_the_policy_allows_ends_the_retries(waits: Waits) -> None:
    with pytest.raises(HttpError) as caught:
        await with_retries(RetryPolicy(attempts=3, maximum=5.0), failing(HttpError(503, retry_after=30.0)))
    assert caught.value.retry_after == 30.0
    assert waits == []


async def test_waiting_is_off_within_the_block_only(waits: Waits) -> None:
    with no_waiting():
        await with_retries(PATIENT, failing(HttpError(503, retry_after=60.0)))
    assert waits == [0]
    await with_retries(PATIENT, failing(HttpError(503, retry_after=60.0)))
    assert waits == [0, 60.0]


async def test_cancellation_is_not_an_error_to_try_again(waits: Waits) -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await with_retries(PATIENT, cancelled)
    assert waits == []


async def test_status_and_recall_are_tried_again_and_the_writes_never(loopback: Any, reply: Any) -> None:
    server = await loopback(
        reply(500, {}),
        reply(200, {"status": "pending"}),
        reply(503, {}, retry_after="1"),
        reply(200, {"results": []}),
        reply(500, {}),
    )
    config = ClientConfig(retry=RetryPolicy(attempts=2))
    async with HindsightClient(Endpoint.parse(server.url), config=config) as client:
        with no_waiting():
            assert (await client.status("bank-a", OPERATION)).status is OperationStatus.PENDING
            await client.recall("bank-a", RecallQuery(text="lint"))
            with pytest.raises(HttpError):
                await client.retain("bank-a", RetainItem(content="x", document_id="d"), operation_id=OPERATION)
            with pytest.raises(HttpError):
                await client.delete("bank-a", "d")

    assert [s.method for s in server.seen] == ["GET", "GET", "POST", "POST", "POST", "DELETE"]
