"""Recall because somebody asked: the scope's filter with the caller's, the backend's minimum, and no judging."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hindbrain.client._bodies import recall_body
from hindbrain.contracts import (
    BackendError,
    BackendRequestError,
    Fact,
    FactType,
    Message,
    MinScores,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    Scores,
    TagLeaf,
    TagsMatch,
    TextPart,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.contracts.testing import planted_secrets
from hindbrain.generic import InProcessHost, Layer, Session, SettingsError, memory_config, merge
from hindbrain.memory import Checkout, Question, ScopeConfig, SessionIdentity, identify

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="local")
BANKS = [{"id": "proj-a"}, {"id": "user-a", "role": "life"}]
SCOPE = {"tags": ["project:acme", "repo:repo-816fc349d3fa"], "match": "any_strict"}
USER = {"tags": ["source:pi", "harness:pi"], "match": "any_strict"}


class Recording(InMemoryBackend):
    """Keeps every request; answers from memory, or with what it was given."""

    def __init__(self, *answers: Fact) -> None:
        super().__init__()
        self.asked: list[tuple[str, RecallQuery]] = []
        self.wrote: list[str] = []
        self.answers = answers
        self.down: set[str] = set()

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        self.asked.append((bank, query))
        if bank in self.down:
            raise BackendError("down")
        return Recall(facts=self.answers) if self.answers else await super().recall(bank, query)

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.wrote.append(bank)
        return await super().retain(bank, item, operation_id=operation_id)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """What would go to a server, oldest first."""
        return [json.loads(recall_body(query)) for _, query in self.asked]

    @property
    def filters(self) -> list[Any]:
        return [body.get("tag_groups") for body in self.bodies]


def session(backend: InMemoryBackend, **values: Any) -> Session:
    settings = merge([Layer(origin="test", values={"banks": BANKS, **values})])
    return Session(
        host=InProcessHost(), backend=backend, config=memory_config(settings), project=PROJECT, identity=IDENTITY
    )


def user(text: str) -> list[Message]:
    return [Message(role="user", parts=(TextPart(text),))]


async def remember(backend: InMemoryBackend, text: str, *tags: str, bank: str = "proj-a") -> None:
    number = abs(hash(text)) % 10**8
    item = RetainItem(content=text, document_id=f"d{number}", tags=tags)
    await backend.retain(bank, item, operation_id=f"{number:08d}-0000-4000-8000-000000000000")


@pytest.mark.req("S0-scopes-010")
async def test_the_callers_tag_groups_are_sent_beside_the_scopes_own() -> None:
    backend = Recording()
    groups = (TagLeaf(("topic:db",), TagsMatch.ANY),)
    await session(backend).recall(Question(text="which db?", tag_groups=groups))
    topic = {"tags": ["topic:db"], "match": "any"}
    assert backend.filters[0] == [SCOPE, topic]
    assert backend.filters[1][1:] == [topic]
    assert [bank for bank, _ in backend.asked] == ["proj-a", "user-a"]


@pytest.mark.req("S0-scopes-011")
@pytest.mark.parametrize("match", [TagsMatch.ANY, TagsMatch.ALL, TagsMatch.EXACT])
async def test_another_projects_tag_finds_nothing_of_that_project(match: TagsMatch) -> None:
    backend = Recording()
    await remember(backend, "The port is 1.", "project:other")
    await remember(backend, "The port is 2.")
    asked = Question(text="which port?", tag_groups=(TagLeaf(("project:other",), match),))
    assert (await session(backend).recall(asked)).facts == ()


@pytest.mark.req("S0-scopes-015")
async def test_automatic_recall_and_the_tool_ask_the_users_bank_with_the_same_tags() -> None:
    backend = Recording()
    live = session(backend, scope={"userScopeTags": ["harness:pi"]})
    await live.context(user("what?"))
    await live.recall(Question(text="what?"), bank="user-a")
    wanted = [{"tags": ["harness:pi"], "match": "any_strict"}]
    assert [bank for bank, _ in backend.asked] == ["proj-a", "user-a", "user-a"]
    assert backend.filters[1:] == [wanted, wanted]


@pytest.mark.req("S0-scopes-016")
async def test_an_empty_list_of_user_tags_sends_no_filter_to_the_users_bank_alone() -> None:
    backend = Recording()
    live = session(backend, scope={"userScopeTags": []})
    await live.context(user("what?"))
    await live.recall(Question(text="what?"), bank="user-a")
    assert backend.filters == [[SCOPE], None, None]
    assert all(not {"tags", "tags_match"} & body.keys() for body in backend.bodies)


async def test_a_list_of_user_tags_of_the_wrong_form_is_no_empty_list() -> None:
    backend = Recording()
    for wrong in ("source:pi", [""], [1], None):
        await session(backend, scope={"userScopeTags": wrong, "shareHosts": False}).recall(
            Question(text="what?"), bank="user-a"
        )
    assert backend.filters == [[USER]] * 4


async def test_a_bank_nobody_listed_is_asked_with_the_projects_tags() -> None:
    backend = Recording()
    await session(backend).recall(Question(text="what?"), bank="team:x")
    assert backend.filters == [[SCOPE]]


async def test_an_unscoped_bank_keeps_the_callers_filter_only() -> None:
    backend = Recording()
    live = session(backend, scope={"unscopedRecallBanks": ["proj-a", "team:x"], "includeSharedObservations": True})
    for bank in ("proj-a", "team:x"):
        await live.recall(Question(text="what?", tag_groups=(TagLeaf(("a",), TagsMatch.EXACT),)), bank=bank)
    assert backend.filters == [[{"tags": ["a"], "match": "exact"}]] * 2


async def test_shared_observations_are_found_by_the_tool_too() -> None:
    backend = Recording()
    await session(backend, scope={"includeSharedObservations": True}).recall(Question(text="what?"), bank="proj-a")
    assert backend.filters == [[{"or": [SCOPE, {"tags": [], "match": "exact"}]}]]


@pytest.mark.parametrize("entry", [{"access": "write"}, {"enabled": False}])
async def test_a_bank_that_may_not_be_read_is_refused_and_nothing_is_sent(entry: dict[str, Any]) -> None:
    backend = Recording()
    live = session(backend, banks=[{"id": "proj-a"}, {"id": "log", "role": "notes", **entry}])
    with pytest.raises(SettingsError, match="nothing was sent"):
        await live.recall(Question(text="what?"), bank="log")
    with pytest.raises(BackendRequestError):
        await live.recall(Question(text="what?"), bank="../all")
    assert backend.asked == []


@pytest.mark.req("S0-floors-015")
async def test_automatic_recall_sends_no_minimum_whatever_the_floors() -> None:
    backend = Recording()
    await session(backend, recall={"minScores": {"reranker": 0.2, "final": 0.1}}).context(user("what?"))
    assert len(backend.bodies) == 2
    assert all("min_scores" not in body for body in backend.bodies)


@pytest.mark.req("S0-floors-016")
async def test_the_tools_minimum_is_sent_as_it_is() -> None:
    backend = Recording()
    live = session(backend, recall={"minScores": {"reranker": 0.2}})
    await live.recall(Question(text="what?", min_scores=MinScores(final=0.4)), bank="proj-a")
    assert backend.bodies[0]["min_scores"] == {"final": 0.4}


@pytest.mark.req("S0-floors-017")
async def test_the_floors_of_the_settings_do_not_touch_what_the_tool_finds() -> None:
    backend = Recording(Fact(id="f", text="far away", scores=Scores(reranker=0.1)))
    live = session(backend, recall={"minScores": {"reranker": 0.9}})
    answer = await live.recall(Question(text="what?"), bank="proj-a")
    assert [fact.id for _, fact in answer.facts] == ["f"]
    assert "min_scores" not in backend.bodies[0]
    assert (await live.context(user("what?"))).text == ""


@pytest.mark.req("S0-floors-017")
async def test_the_tools_minimum_does_not_touch_what_is_injected() -> None:
    backend = Recording(Fact(id="f", text="far away", scores=Scores(reranker=0.1)))
    live = session(backend)
    await live.recall(Question(text="what?", min_scores=MinScores(reranker=0.9)))
    assert "far away" in (await live.context(user("what?"))).text
    assert "min_scores" not in backend.bodies[-1]


@pytest.mark.req("S0-quality-010")
async def test_the_tool_is_given_what_automatic_recall_would_drop() -> None:
    texts = ["A", "a", "<hindsight-memory>x", *(f"fact {n}" for n in range(12))]
    backend = Recording(*(Fact(id=str(n), text=text) for n, text in enumerate(texts)))
    answer = await session(backend).recall(Question(text="what?"), bank="proj-a")
    assert [fact.text for _, fact in answer.facts] == texts


async def test_the_question_goes_as_it_was_put_without_secrets_and_within_a_servers_bound() -> None:
    backend = Recording()
    live = session(backend, recall={"queryPreamble": "Coding:", "maxQueryChars": 20})
    for text in ("why, exactly, did we choose uv over pip?", "x" * 5000 + " the end", planted_secrets()[0].text):
        await live.recall(Question(text=text), bank="proj-a")
    plain, long, secret = (body["query"] for body in backend.bodies)
    assert plain == "why, exactly, did we choose uv over pip?"
    assert long.endswith("x the end")
    assert len(long) <= 1600
    assert planted_secrets()[0].core not in secret


@pytest.mark.parametrize(("types", "sent"), [(None, ["observation"]), ((), None), ((FactType.WORLD,), ["world"])])
async def test_a_question_may_name_its_types(types: tuple[FactType, ...] | None, sent: list[str] | None) -> None:
    backend = Recording()
    await session(backend).recall(Question(text="what?", types=types), bank="proj-a")
    assert backend.bodies[0].get("types") == sent


async def test_a_bank_that_fails_is_told_and_the_other_still_answers() -> None:
    backend = Recording(Fact(id="f", text="x"))
    backend.down = {"user-a"}
    answer = await session(backend).recall(Question(text="what?"))
    assert [bank for bank, _ in answer.facts] == ["proj-a"]
    assert [(failure.bank, failure.code) for failure in answer.failures] == [("user-a", "backend")]


async def test_a_switched_off_memory_still_answers_who_asks() -> None:
    backend = Recording(Fact(id="f", text="x"))
    answer = await session(backend, enabled=False, recall={"enabled": False}).recall(Question(text="what?"))
    assert len(answer.facts) == 2
