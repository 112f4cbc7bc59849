"""Scopes on the real server: who finds what in a bank that holds more than is theirs."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from hindbrain.contracts import Backend, Entry, FactType, Message, MinScores, RetainItem, TagLeaf, TagsMatch, TextPart
from hindbrain.generic import InProcessHost, Layer, Session, Settings, memory_config, merge, open_backend
from hindbrain.memory import Checkout, Question, ScopeConfig, SessionIdentity, identify

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
LEGACY = f"repo:{PROJECT.repo_key}"

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def settings(live_url: str, live_key: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Settings]:
    monkeypatch.setenv("HINDBRAIN_TEST_KEY", live_key)
    server = {"backend": "hindsight", "hindsight": {"baseUrl": live_url, "apiKeyRef": "env:HINDBRAIN_TEST_KEY"}}
    return lambda **values: merge([Layer(origin="test", values={**server, **values})])


@pytest.fixture
async def backend(settings: Callable[..., Settings]) -> AsyncIterator[Backend]:
    async with open_backend(settings()) as opened:
        yield opened


def session(backend: Backend, settings: Settings) -> Session:
    identity = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="live")
    return Session(
        host=InProcessHost(), backend=backend, config=memory_config(settings), project=PROJECT, identity=identity
    )


async def remember(backend: Backend, bank: str, text: str, *tags: str, scopes: Any = None) -> None:
    operation = str(uuid.uuid4())
    item = RetainItem(content=text, document_id=f"d-{operation}", tags=tags, observation_scopes=scopes)
    accepted = await backend.retain(bank, item, operation_id=operation)
    await settle(backend, bank, accepted.operation_id)


async def settle(backend: Backend, bank: str, operation: str) -> None:
    while True:
        if (await backend.status(bank, operation)).status.terminal:
            return
        await asyncio.sleep(0.1)


async def injected(live: Session, question: str) -> set[str]:
    patch = await live.context([Message(role="user", parts=(TextPart(question),))])
    assert patch.outcome.failures == ()
    return {item.fact.text for item in patch.outcome.block.items}


async def asked(live: Session, question: str, **more: Any) -> set[str]:
    answer = await live.recall(Question(text=question, **more))
    assert answer.failures == ()
    return {fact.text for _, fact in answer.facts}


@pytest.mark.req("S0-scopes-008", "S0-scopes-009", "S0-scopes-011", "S0-scopes-032")
async def test_in_a_shared_bank_only_the_projects_own_memories_are_found(
    backend: Backend, settings: Callable[..., Settings], bank: str, consolidated: Callable[[], Awaitable[None]]
) -> None:
    question = "which port does the gateway use?"
    texts = {
        name: f"The {name} gateway uses port {port}." for port, name in enumerate(("own", "old", "other", "loose"))
    }
    await remember(backend, bank, texts["own"], "project:acme")
    await remember(backend, bank, texts["old"], LEGACY)
    await remember(backend, bank, texts["other"], "project:other", "repo:other-000000000000")
    await remember(backend, bank, texts["loose"])
    await consolidated()
    live = session(backend, settings(banks=[{"id": bank}]))
    assert await injected(live, question) == {texts["own"], texts["old"]}
    assert await asked(live, question, types=()) == {texts["own"], texts["old"]}
    for match in (TagsMatch.ANY, TagsMatch.ALL_STRICT, TagsMatch.EXACT):
        wider = (TagLeaf(("project:other",), match),)
        assert await asked(live, question, types=(), tag_groups=wider) == set()
    narrower = (TagLeaf((LEGACY,), TagsMatch.ANY_STRICT),)
    assert await asked(live, question, types=(), tag_groups=narrower) == {texts["old"]}


@pytest.mark.req("S0-scopes-005", "S0-scopes-013", "S0-scopes-014", "S0-scopes-016")
async def test_an_observation_of_the_users_bank_carries_its_scope_and_not_its_sources_tags(
    backend: Backend, settings: Callable[..., Settings], bank: str, consolidated: Callable[[], Awaitable[None]]
) -> None:
    fact = "The user prefers tabs over spaces."
    tags = ("source:pi", "harness:pi", "session:29e67821bedc391a")
    await remember(backend, bank, fact, *tags, scopes=(("harness:pi",),))
    await consolidated()
    banks = [{"id": bank, "role": "life"}]

    def with_tags(*scope: str) -> Session:
        return session(backend, settings(banks=banks, scope={"userScopeTags": list(scope)}))

    question = "tabs or spaces?"
    assert await injected(with_tags("source:pi"), question) == set()
    assert await asked(with_tags("source:pi"), question, types=(FactType.WORLD,)) == {fact}
    for live in (with_tags("source:pi", "harness:pi"), with_tags(), session(backend, settings(banks=banks))):
        assert await injected(live, question) == {fact}


@pytest.mark.req("S0-scopes-007")
async def test_a_turns_observations_are_the_hosts_and_the_projects_and_are_found_by_the_next_session(
    backend: Backend, settings: Callable[..., Settings], bank: str, consolidated: Callable[[], Awaitable[None]]
) -> None:
    host = InProcessHost()
    wanted = settings(banks=[{"id": bank}])
    live = Session(
        host=host,
        backend=backend,
        config=memory_config(wanted),
        project=PROJECT,
        identity=SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="live"),
    )
    said = Message(role="user", parts=(TextPart("The release branch is called harbour."),))
    host.add(Entry(id="a", parent_id=None, kind="message", message=said))
    for operation_bank, operation in (await live.settled()).flush.operations:
        await settle(backend, operation_bank, operation)
    await consolidated()
    found = await session(backend, wanted).recall(Question(text="what is the release branch called?"))
    assert {fact.tags for _, fact in found.facts} == {("project:acme",)}
    by_hand = session(backend, settings(banks=[{"id": bank}], scope={"unscopedRecallBanks": [bank]}))
    found = await by_hand.recall(Question(text="what is the release branch called?"))
    assert {fact.tags for _, fact in found.facts} == {("project:acme",), ("harness:pi",)}
    assert "harbour" in str(await injected(session(backend, wanted), "what is the release branch called?"))


@pytest.mark.req("S0-floors-016")
async def test_the_server_takes_the_tools_minimum(
    backend: Backend, settings: Callable[..., Settings], bank: str, consolidated: Callable[[], Awaitable[None]]
) -> None:
    await remember(backend, bank, "The gateway uses port 7.", "project:acme")
    await consolidated()
    live = session(backend, settings(banks=[{"id": bank}]))
    question = "which port does the gateway use?"
    assert await asked(live, question, min_scores=MinScores(final=0.0)) == {"The gateway uses port 7."}
    assert await asked(live, question, min_scores=MinScores(final=1e9)) == set()
