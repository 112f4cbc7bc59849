"""What the real server takes and then does not make: it is noticed, and sent again."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from hindbrain.client import HindsightClient
from hindbrain.contracts import Endpoint, EnvToken, RetainItem, RetainJob
from hindbrain.generic._forget import StillWorkedOnError, forget
from hindbrain.store import Flusher, HostState

from .conftest import Stub

FOR_EVER = 1_000
KEY_VARIABLE = "HINDBRAIN_CONFIRM_KEY"

pytestmark = pytest.mark.live


@pytest.fixture
async def client(live_url: str, live_key: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HindsightClient]:
    monkeypatch.setenv(KEY_VARIABLE, live_key)
    async with HindsightClient(Endpoint.parse(live_url), EnvToken(KEY_VARIABLE)) as made:
        yield made


@pytest.fixture
async def states(tmp_path: Path) -> AsyncIterator[list[HostState]]:
    """The state folders of three projects of one user."""
    made = [await HostState.open(tmp_path / f"state-{n}", seal_file=tmp_path / "seal.key") for n in range(3)]
    yield made
    for state in made:
        await state.close()


def job(bank: str, document: str, content: str) -> RetainJob:
    name = str(uuid.uuid4())
    item = RetainItem(content=content, document_id=document, update_mode="append")
    return RetainJob(id=name, bank=bank, item=item, operation_id=name, created_at="2026-01-01T00:00:00Z")


async def confirmed(flusher: Flusher) -> int:
    """Flush until nothing is left to send or to ask about; how many jobs came to nothing on the way."""
    returned = 0
    async with asyncio.timeout(90):
        while (report := await flusher.flush(force=True)).remaining or report.unconfirmed:
            returned += report.returned
            await asyncio.sleep(0.3)
    return returned


async def text(server: httpx.AsyncClient, bank: str, document: str) -> str:
    answer = await server.get(f"/v1/default/banks/{bank}/documents/{document}")
    found: str = answer.raise_for_status().json()["original_text"]
    return found


async def test_an_operation_that_ends_without_effect_is_sent_again(
    states: list[HostState], client: HindsightClient, server: httpx.AsyncClient, bank: str, stub: Stub
) -> None:
    state = states[0]
    await state.enqueue(sent := job(bank, "lighthouse", "The lamp burns colza oil."))
    flusher = state.flusher(client)
    stub.control(fail=FOR_EVER)
    report = await flusher.flush()
    assert (report.sent, report.remaining, report.unconfirmed) == (1, 0, 1)
    async with asyncio.timeout(30):
        while True:
            if (await client.status(bank, sent.operation_id)).status == "failed":
                break
            await asyncio.sleep(0.1)
    stub.reset()
    report = await flusher.flush(force=True)
    assert (report.returned, report.sent, report.unconfirmed) == (1, 1, 1)
    assert report.operation_ids != (sent.operation_id,)
    assert await confirmed(flusher) == 0
    assert await text(server, bank, "lighthouse") == "The lamp burns colza oil."


async def test_of_sessions_that_write_to_one_bank_at_a_time_nothing_is_lost(
    states: list[HostState], client: HindsightClient, server: httpx.AsyncClient, bank: str
) -> None:
    """Sessions of the hosts were broken off by the server's own deadlocks, at random: these may or may not be.

    What is then done is proven by the test above; here is shown that it does no harm to those that go well.
    """

    def sentence(number: int, turn: int) -> str:
        people = [f"{name}{turn}" for name in ("Anna", "Bert", "Cleo", "Dana", "Emil", "Fred")]
        return f"{' and '.join(people[number * 2 :] + people[: number * 2])} met."

    async def session(number: int, state: HostState) -> None:
        flusher = state.flusher(client)
        for turn in range(8):
            await state.enqueue(job(bank, f"session-{number}", sentence(number, turn)))
            await flusher.flush()
            await asyncio.sleep(0.2)
        await confirmed(flusher)

    await asyncio.gather(*(session(number, state) for number, state in enumerate(states)))
    for number in range(len(states)):
        lines = (await text(server, bank, f"session-{number}")).splitlines()
        assert sorted(lines) == sorted(sentence(number, turn) for turn in range(8))


async def test_a_document_is_not_deleted_while_the_server_works_on_it(
    states: list[HostState], client: HindsightClient, server: httpx.AsyncClient, bank: str, stub: Stub
) -> None:
    """Deleted in the middle of a retain, it would come back."""
    state = states[0]
    await state.enqueue(job(bank, "tide", "The tide turns at noon."))
    flusher = state.flusher(client)
    stub.control(delay=4)
    await flusher.flush()
    with pytest.raises(StillWorkedOnError):
        await forget([state], client, bank, "tide", patience=0.5)
    forgotten = await forget([state], client, bank, "tide", patience=30)
    assert (forgotten.deleted.found, forgotten.given_up) == (True, 0)
    assert await confirmed(flusher) == 0
    answer = await server.get(f"/v1/default/banks/{bank}/documents/tide")
    assert answer.status_code == 404
