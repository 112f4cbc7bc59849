"""What a session finds in a bank that holds more than is its own, in both memories that need no server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.client._bodies import recall_body
from hindbrain.contracts import Backend, Message, Recall, RecallQuery, RetainItem, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import InProcessHost, Layer, Session, memory_config, merge
from hindbrain.memory import Checkout, Question, ScopeConfig, SessionIdentity, identify
from hindbrain.store import EmbeddedBackend

BANKS = [{"id": "proj-a"}, {"id": "user-a", "role": "life"}]
HOSTS = ("pi", "omp", "cli")


@pytest.fixture(params=["in memory", "embedded"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    made: Backend = InMemoryBackend() if request.param == "in memory" else EmbeddedBackend(tmp_path / "banks")
    yield made
    await made.close()


def session(backend: Backend, *, host: str = "pi", project: str = "acme", **values: Any) -> Session:
    settings = merge([Layer(origin="test", values={"banks": BANKS, **values})])
    return Session(
        host=InProcessHost(),
        backend=backend,
        config=memory_config(settings),
        project=identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id=project)),
        identity=SessionIdentity(host=host, key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="local"),
    )


class Bank:
    """Retains facts about ports, each under its own tags."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._count = 0

    async def knows(
        self, port: int, *tags: str, bank: str = "proj-a", scopes: tuple[tuple[str, ...], ...] | None = None
    ) -> None:
        self._count += 1
        item = RetainItem(
            content=f"The port is {port}.", document_id=f"d{self._count}", tags=tags, observation_scopes=scopes
        )
        operation = f"{self._count:08d}-0000-4000-8000-000000000000"
        await self._backend.retain(bank, item, operation_id=operation)


async def injected(live: Session) -> list[str]:
    patch = await live.context([Message(role="user", parts=(TextPart("which port is it?"),))])
    return sorted(item.fact.text for item in patch.outcome.block.items)


async def asked(live: Session, **question: Any) -> list[str]:
    answer = await live.recall(Question(text="which port is it?", **question))
    return sorted(fact.text for _, fact in answer.facts)


@pytest.mark.req("S0-scopes-008")
async def test_a_memory_without_tags_is_nobodys(backend: Backend) -> None:
    bank = Bank(backend)
    await bank.knows(1)
    await bank.knows(2, "project:acme")
    for bank_id in ("proj-a", "user-a"):
        await bank.knows(3, bank=bank_id)
    assert await injected(session(backend)) == ["The port is 2."]
    assert await asked(session(backend)) == ["The port is 2."]


@pytest.mark.req("S0-scopes-009")
async def test_two_projects_in_one_bank_never_see_each_other(backend: Backend) -> None:
    bank = Bank(backend)
    await bank.knows(1, "source:pi", "harness:pi", "project:acme")
    await bank.knows(2, "source:pi", "harness:pi", "project:other")
    for project, port in (("acme", 1), ("other", 2)):
        live = session(backend, project=project, banks=[{"id": "proj-a"}])
        assert await injected(live) == await asked(live) == [f"The port is {port}."]


@pytest.mark.req("S0-scopes-009")
async def test_a_bank_that_is_the_projects_and_the_users_is_asked_as_the_projects_only(backend: Backend) -> None:
    bank = Bank(backend)
    await bank.knows(1, "source:pi", "harness:pi", "project:acme")
    await bank.knows(2, "source:pi", "harness:pi", "project:other")
    slots = {"project": {"bankId": "proj-a"}, "user": {"bankId": "proj-a"}}
    assert await injected(session(backend, banks=slots)) == ["The port is 1."]


@pytest.mark.req("S0-scopes-032")
async def test_a_memory_with_the_legacy_repository_tag_alone_is_found(backend: Backend) -> None:
    bank = Bank(backend)
    await bank.knows(1, "repo:repo-816fc349d3fa")
    await bank.knows(2, "repo:repo-000000000000")
    assert await injected(session(backend)) == ["The port is 1."]


@pytest.mark.req("S0-scopes-005")
async def test_by_default_the_users_memories_and_the_observations_made_of_them_are_found(backend: Backend) -> None:
    bank = Bank(backend)
    await bank.knows(1, "source:pi", "harness:pi", bank="user-a", scopes=(("harness:pi",),))
    live = session(backend, recall={"preferObservations": False})
    answer = await live.recall(Question(text="which port is it?", types=()), bank="user-a")
    assert sorted((str(fact.type), frozenset(fact.tags)) for _, fact in answer.facts) == [
        ("observation", frozenset({"harness:pi"})),
        ("world", frozenset({"source:pi", "harness:pi"})),
    ]
    assert await injected(live) == ["The port is 1."]


@pytest.mark.req("S0-scopes-013", "S0-scopes-014")
async def test_an_observation_carries_its_scopes_and_not_the_tags_of_its_source(backend: Backend) -> None:
    tags = ("source:pi", "harness:pi", "session:29e67821bedc391a")
    await Bank(backend).knows(1, *tags, bank="user-a", scopes=(("harness:pi",),))
    assert await injected(session(backend, scope={"userScopeTags": ["source:pi"]})) == []
    assert await injected(session(backend, scope={"userScopeTags": ["source:pi", "harness:pi"]})) == ["The port is 1."]
    assert await injected(session(backend)) == ["The port is 1."]


async def test_what_one_host_learnt_about_the_user_the_others_know(backend: Backend) -> None:
    bank = Bank(backend)
    for port, host in enumerate(HOSTS):
        await bank.knows(port, f"source:{host}", f"harness:{host}", bank="user-a", scopes=((f"harness:{host}",),))
    for host in HOSTS:
        assert await injected(session(backend, host=host)) == [f"The port is {port}." for port in range(3)]
        alone = session(backend, host=host, scope={"shareHosts": False})
        assert await injected(alone) == [f"The port is {HOSTS.index(host)}."]


async def test_without_user_tags_everything_in_the_users_bank_is_found_and_nothing_more_in_the_projects(
    backend: Backend,
) -> None:
    bank = Bank(backend)
    for bank_id in ("proj-a", "user-a"):
        await bank.knows(1, "kind:session", "agent:other", bank=bank_id)
    await bank.knows(2, bank="user-a")
    live = session(backend, scope={"userScopeTags": []})
    assert await injected(live) == await asked(live) == ["The port is 1.", "The port is 2."]


class Recording(InMemoryBackend):
    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[dict[str, Any]] = []

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        self.bodies.append(json.loads(recall_body(query)))
        return await super().recall(bank, query)


@pytest.mark.req("S0-scopes-001", "S0-scopes-002", "S0-scopes-004", "S0-scopes-008")
@pytest.mark.parametrize("shared", [False, True])
async def test_each_bank_is_asked_with_its_own_strict_tags(*, shared: bool) -> None:
    backend = Recording()
    await injected(session(backend, scope={} if shared else {"shareHosts": False}))
    project, user = (body["tag_groups"] for body in backend.bodies)
    assert project == [{"tags": ["project:acme", "repo:repo-816fc349d3fa"], "match": "any_strict"}]
    ((tags, match),) = ((leaf["tags"], leaf["match"]) for leaf in user)
    assert match == "any_strict"
    assert tags[:2] == ["source:pi", "harness:pi"]
    assert tags[2:] == (["source:omp", "harness:omp", "source:cli", "harness:cli"] if shared else [])


async def test_types_budget_and_caps_of_each_scope_are_those_of_the_settings() -> None:
    backend = Recording()
    recall = {"types": [], "budget": "high", "maxTokens": 700, "userMaxTokens": 90, "preferObservations": False}
    await injected(session(backend, recall=recall))
    seen = [(b.get("types"), b["budget"], b["max_tokens"], b["prefer_observations"]) for b in backend.bodies]
    assert seen == [(None, "high", 700, False), (None, "high", 90, False)]
