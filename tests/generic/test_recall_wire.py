"""What automatic recall sends to a server, and that an abort closes the connection itself."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hindbrain.client import ClientConfig, HindsightClient
from hindbrain.contracts import Endpoint, Fact, FactType, Message, NoAuth, Recall, RecallQuery, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import InProcessHost, Layer, MemoryStatus, Session, memory_config, merge
from hindbrain.memory import Checkout, ScopeConfig, SessionIdentity, identify

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="http://127.0.0.1")
BANKS = {"banks": [{"id": "proj-a", "role": "coding"}, {"id": "user-a", "role": "user"}]}
QUESTION = [Message(role="user", parts=(TextPart("when are deploys?"),))]


class Server:
    """Answers every recall with nothing, or not at all, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.arrived = asyncio.Event()
        self.hung_up = asyncio.Event()
        self.silent = False
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"content-length: (\d+)", head.lower())
                assert length is not None
                body = json.loads(await reader.readexactly(int(length[1])))
                self.asked.append((head.split(b" ")[1].decode(), body))
                self.arrived.set()
                if not self.silent:
                    writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{"results":[]}')
        except (asyncio.IncompleteReadError, ConnectionError):
            self.hung_up.set()
        finally:
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = listening.sockets[0].getsockname()[1]
    yield made
    listening.close()


@asynccontextmanager
async def opened(server: Server, **settings: Any) -> AsyncIterator[Session]:
    client = HindsightClient(Endpoint.parse(f"http://127.0.0.1:{server.port}"), NoAuth(), ClientConfig(deadline=60))
    config = memory_config(merge([Layer(origin="test", values={**BANKS, **settings})]))
    yield Session(host=InProcessHost(), backend=client, config=config, project=PROJECT, identity=IDENTITY)
    await client.close()


async def bodies(server: Server, **recall: Any) -> list[dict[str, Any]]:
    async with opened(server, recall=recall) as session:
        await session.context(QUESTION)
    return [body for _, body in server.asked]


@pytest.mark.req("S0-recall-004")
async def test_each_bank_is_asked_once(server: Server) -> None:
    await bodies(server)
    assert sorted(target for target, _ in server.asked) == [
        "/v1/default/banks/proj-a/memories/recall",
        "/v1/default/banks/user-a/memories/recall",
    ]


@pytest.mark.req("S0-recall-010", "S0-recall-011", "S0-recall-019", "S0-recall-020")
async def test_by_default_observations_are_asked_for_with_middle_effort_and_nothing_more(server: Server) -> None:
    for body in await bodies(server):
        assert (body["types"], body["budget"]) == (["observation"], "mid")
        assert not body.get("include", {}).get("source_facts")
        assert "query_timestamp" not in body


@pytest.mark.req("S0-recall-014")
async def test_the_types_of_the_settings_are_asked_for_in_their_order(server: Server) -> None:
    wanted = ["observation", "world", "experience"]
    assert [body["types"] for body in await bodies(server, types=wanted)] == [wanted] * 2


@pytest.mark.req("S0-recall-018")
async def test_source_facts_are_asked_for_within_their_tokens(server: Server) -> None:
    for body in await bodies(server, includeSourceFacts=True, maxSourceFactsTokens=512):
        assert body["include"]["source_facts"]["max_tokens"] == 512


@pytest.mark.req("S0-recall-023")
async def test_the_tokens_of_source_facts_mean_nothing_where_none_are_wanted(server: Server) -> None:
    plain = await bodies(server)
    server.asked.clear()
    assert await bodies(server, includeSourceFacts=False, maxSourceFactsTokens=99) == plain


@pytest.mark.req("S0-recall-021")
async def test_a_moment_to_look_back_from_is_sent_as_it_stands(server: Server) -> None:
    moment = "2026-01-02T03:04:05Z"
    assert [body["query_timestamp"] for body in await bodies(server, queryTimestamp=moment)] == [moment] * 2


@pytest.mark.req("S0-abort-001", "S0-abort-003")
@pytest.mark.timeout(25)  # without the abort the deadline of recall would close it, five seconds later
@pytest.mark.parametrize("give_up", [asyncio.Event.set, None], ids=["signal", "cancelled"])
async def test_an_abort_closes_the_connection(server: Server, give_up: Callable[[asyncio.Event], None] | None) -> None:
    server.silent = True
    abort = asyncio.Event()
    async with opened(server, banks=BANKS["banks"][:1], recall={"deadlineMs": 30_000}) as session:
        task = asyncio.create_task(session.context(QUESTION, abort=abort))
        await server.arrived.wait()
        assert session.status.value == "recalling"
        if give_up is not None:
            give_up(abort)
            patch = await task
            assert (patch.skipped, patch.apply(QUESTION)) == ("aborted", tuple(QUESTION))
        else:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await server.hung_up.wait()
        assert session.status.value == "idle"


@pytest.mark.req("S0-abort-010")
async def test_an_abort_before_the_start_sends_nothing(server: Server) -> None:
    abort = asyncio.Event()
    abort.set()
    async with opened(server) as session:
        patch = await session.context(QUESTION, abort=abort)
    assert (patch.text, session.status, server.asked) == ("", MemoryStatus.IDLE, [])


class Typed(InMemoryBackend):
    """Holds one fact of each type that is given."""

    def __init__(self, *types: FactType) -> None:
        super().__init__()
        self._facts = [Fact(id=each.value, text=f"deploys are a matter of {each.value}", type=each) for each in types]

    async def recall(self, bank: str, query: RecallQuery) -> Recall:  # noqa: ARG002  (the port's)
        return Recall(facts=tuple(fact for fact in self._facts if query.types is None or fact.type in query.types))


async def shown(backend: Typed, **recall: Any) -> list[str]:
    config = memory_config(merge([Layer(origin="test", values={"recall": recall})]))
    session = Session(host=InProcessHost(), backend=backend, config=config, project=PROJECT, identity=IDENTITY)
    return [item.fact.id for item in (await session.context(QUESTION)).outcome.block.items]


@pytest.mark.req("S0-recall-015")
async def test_an_empty_list_of_types_restricts_nothing() -> None:
    assert await shown(Typed(FactType.WORLD, FactType.OBSERVATION), types=[]) == ["world", "observation"]


@pytest.mark.req("S0-recall-016")
async def test_facts_that_are_no_observations_are_shown_on_request_only() -> None:
    backend = Typed(FactType.WORLD, FactType.EXPERIENCE)
    assert await shown(backend) == []
    assert await shown(backend, types=["world"]) == ["world"]
