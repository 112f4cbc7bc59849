"""The recipe itself: the server that scripts/live starts is the real one and remembers, finds and forgets."""

import asyncio
import uuid
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from live.conftest import Stub

pytestmark = pytest.mark.live

FACT = "Zora keeps the deploy keys (both of them) in the blue safe."
QUESTION = "where are the deploy keys?"


def banks(bank: str, rest: str) -> str:
    return f"/v1/default/banks/{bank}{rest}"


async def retain(server: httpx.AsyncClient, bank: str, content: str, *, document_id: str, tags: list[str]) -> str:
    operation_id = str(uuid.uuid4())
    item = {"content": content, "document_id": document_id, "tags": tags}
    body = {"items": [item], "async": True, "operation_id": operation_id}
    answer = await server.post(banks(bank, "/memories"), json=body)
    assert answer.status_code == 200
    assert answer.json()["operation_id"] == operation_id
    return operation_id


async def settled(server: httpx.AsyncClient, bank: str, operation_id: str) -> str:
    """The final status of an operation."""
    async with asyncio.timeout(30):
        while True:
            answer = await server.get(banks(bank, f"/operations/{operation_id}"))
            status = str(answer.json()["status"])
            if status not in {"pending", "processing"}:
                return status
            await asyncio.sleep(0.05)


async def recalled(server: httpx.AsyncClient, bank: str, *, tags: list[str], types: list[str]) -> list[dict[str, Any]]:
    body = {"query": QUESTION, "types": types, "tags": tags, "tags_match": "all_strict"}
    answer = await server.post(banks(bank, "/memories/recall"), json=body)
    assert answer.status_code == 200
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


async def observations(server: httpx.AsyncClient, bank: str, tags: list[str]) -> list[dict[str, Any]]:
    """Observations, once the server has made any: that happens after the retain has completed."""
    async with asyncio.timeout(30):
        while True:
            if results := await recalled(server, bank, tags=tags, types=["observation"]):
                return results
            await asyncio.sleep(0.05)


async def test_the_server_is_healthy_and_has_the_pinned_version(server: httpx.AsyncClient) -> None:
    assert (await server.get("/health")).json()["status"] == "healthy"
    assert (await server.get("/version")).json()["api_version"] == "1.1.0"


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}])
async def test_without_the_key_nothing_is_answered(live_url: str, headers: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=live_url, trust_env=False) as stranger:
        answer = await stranger.get("/v1/default/banks", headers=headers)
    assert answer.status_code == 401


async def test_what_was_retained_is_recalled_as_an_observation_with_its_tags_and_then_forgotten(
    server: httpx.AsyncClient, bank: str
) -> None:
    tags = ["project:atlas", "user:zora"]
    operation_id = await retain(server, bank, FACT, document_id="notes/safe", tags=tags)
    assert await settled(server, bank, operation_id) == "completed"

    [observation] = await observations(server, bank, tags)
    assert observation["text"] == FACT
    assert sorted(observation["tags"]) == tags

    document = banks(bank, "/documents/notes%2Fsafe")
    assert (await server.delete(document)).status_code == 200
    assert (await server.get(document)).status_code == 404
    assert (await server.delete(document)).status_code == 404
    assert await recalled(server, bank, tags=tags, types=[]) == []


async def test_each_sentence_becomes_a_fact_of_its_own(server: httpx.AsyncClient, bank: str) -> None:
    content = (
        "Atlas ships on Fridays. The release branch is called harbour!\n部署钥匙在蓝色保险箱里。Nobody renames it 🙂"
    )
    operation_id = await retain(server, bank, content, document_id="sentences", tags=["project:atlas"])
    assert await settled(server, bank, operation_id) == "completed"
    listed = await server.get(banks(bank, "/memories/list"), params={"type": "world"})
    assert {fact["text"] for fact in listed.json()["items"]} == {
        "Atlas ships on Fridays.",
        "The release branch is called harbour!",
        "部署钥匙在蓝色保险箱里。",
        "Nobody renames it 🙂",
    }


@pytest.mark.parametrize("fault", [{"fail": 50}, {"malformed": 50}, {"fail": 50, "only": "embeddings", "status": 503}])
async def test_a_model_that_fails_makes_the_operation_fail_and_the_next_one_works(
    server: httpx.AsyncClient, bank: str, stub: "Stub", fault: dict[str, Any]
) -> None:
    stub.control(**fault)
    failed = await retain(server, bank, FACT, document_id="notes/safe", tags=["project:atlas"])
    assert await settled(server, bank, failed) == "failed"
    stub.reset()
    again = await retain(server, bank, FACT, document_id="notes/safe", tags=["project:atlas"])
    assert await settled(server, bank, again) == "completed"


async def test_the_model_can_be_slow_and_its_calls_are_on_record(
    server: httpx.AsyncClient, bank: str, stub: "Stub"
) -> None:
    stub.control(delay=0.3, only="chat")
    operation_id = await retain(server, bank, FACT, document_id="notes/safe", tags=["project:atlas"])
    answer = await server.get(banks(bank, f"/operations/{operation_id}"))
    assert answer.json()["status"] == "pending"
    assert await settled(server, bank, operation_id) == "completed"
    assert {"chat", "embeddings"} <= {call["kind"] for call in stub.log()}
