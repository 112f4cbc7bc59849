"""Which banks a session reads and writes is what their entries say."""

from __future__ import annotations

import pytest

from hindbrain.contracts import (
    Entry,
    Fact,
    Message,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    Scores,
    TagLeaf,
    TextPart,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import InProcessHost, Layer, Session, memory_config, merge
from hindbrain.memory import Checkout, MemoryConfig, ScopeConfig, SessionIdentity, identify, recall_scopes, retain_banks

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="local")
CODING: dict[str, object] = {"id": "proj-a", "role": "coding"}
LIFE: dict[str, object] = {"id": "user-a", "role": "life"}


def config(*banks: dict[str, object], **values: object) -> MemoryConfig:
    return memory_config(merge([Layer(origin="test", values={"banks": list(banks), **values})]))


class Recording(InMemoryBackend):
    def __init__(self) -> None:
        super().__init__()
        self.wrote: list[tuple[str, str]] = []
        self.read: list[str] = []
        self.facts: tuple[Fact, ...] = ()

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.wrote.append((bank, item.content))
        return await super().retain(bank, item, operation_id=operation_id)

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        self.read.append(bank)
        assert query.min_scores is None
        return Recall(facts=self.facts)


async def turns(config: MemoryConfig, count: int = 1) -> tuple[Recording, list[str]]:
    backend, lines = Recording(), list[str]()
    host = InProcessHost(notify=lambda text, _level: lines.append(text))
    session = Session(host=host, backend=backend, config=config, project=PROJECT, identity=IDENTITY)
    for number in range(count):
        message = Message(role="user", parts=(TextPart(f"turn {number}"),))
        parent = f"e{number - 1}" if number else None
        host.add(Entry(id=f"e{number}", parent_id=parent, kind="message", message=message))
        await session.settled()
    await session.context([Message(role="user", parts=(TextPart("what?"),))])
    return backend, lines


@pytest.mark.req("S0-banks-001", "S0-banks-004", "S0-banks-008")
async def test_by_default_turns_go_to_the_coding_bank_and_to_no_other() -> None:
    backend, _ = await turns(config(CODING, LIFE, {"id": "team", "role": "other"}), 2)
    assert [bank for bank, _ in backend.wrote] == ["proj-a", "proj-a"]
    assert backend.read == ["proj-a", "user-a", "team"]


@pytest.mark.req("S0-router-030")
@pytest.mark.parametrize("text", ["I always prefer tabs, in every project.", "This repository uses tabs.", "ok"])
@pytest.mark.parametrize(("mode", "banks"), [("always", ["proj-a", "user-a"]), ("explicit-only", ["proj-a"])])
async def test_where_a_turn_goes_does_not_depend_on_what_it_says(mode: str, banks: list[str], text: str) -> None:
    backend, host = Recording(), InProcessHost()
    host.add(Entry(id="e", parent_id=None, kind="message", message=Message(role="user", parts=(TextPart(text),))))
    settings = config(CODING, {**LIFE, "retain": {"mode": mode}})
    await Session(host=host, backend=backend, config=settings, project=PROJECT, identity=IDENTITY).settled()
    assert [bank for bank, _ in backend.wrote] == banks


@pytest.mark.req("S0-banks-002", "S0-banks-009")
async def test_a_user_bank_in_the_mode_always_gets_every_turn_with_the_same_content() -> None:
    backend, _ = await turns(config(CODING, {**LIFE, "retain": {"mode": "always"}}), 3)
    assert [bank for bank, _ in backend.wrote] == ["proj-a", "user-a"] * 3
    contents = [content for _, content in backend.wrote]
    assert contents[::2] == contents[1::2]


@pytest.mark.req("S0-banks-015")
@pytest.mark.parametrize(
    "coding",
    [{"retain": {"mode": "explicit-only"}}, {"retain": {"mode": "decision"}}, {"access": "read"}, {"enabled": False}],
    ids=["explicit-only", "decision", "read", "off"],
)
async def test_a_coding_bank_that_may_not_be_written_gets_nothing_without_a_warning(
    coding: dict[str, object],
) -> None:
    backend, lines = await turns(config({**CODING, **coding}), 2)
    assert backend.wrote == []
    assert lines == []


async def test_turns_that_no_bank_gets_are_not_retained_later_either() -> None:
    assert retain_banks(config({**CODING, "access": "read"}), PROJECT) == ()
    host, backend = InProcessHost(), Recording()
    host.add(Entry(id="a", parent_id=None, kind="message", message=Message(role="user", parts=(TextPart("x"),))))
    session = Session(
        host=host, backend=backend, config=config({**CODING, "access": "read"}), project=PROJECT, identity=IDENTITY
    )
    assert (await session.settled()).passed_over == 1
    assert (await session.settled()).passed_over == 0


async def test_a_bank_that_may_only_be_written_is_never_asked() -> None:
    backend, _ = await turns(config({**CODING, "access": "write"}))
    assert backend.read == []
    assert len(backend.wrote) == 1


def test_a_bank_that_is_listed_as_unscoped_has_no_filter_and_the_others_keep_theirs() -> None:
    scopes = recall_scopes(config(CODING, LIFE, scope={"unscopedRecallBanks": ["proj-a"]}), PROJECT, "pi")
    assert [(scope.bank, bool(scope.filter)) for scope in scopes] == [("proj-a", False), ("user-a", True)]


async def test_shared_observations_are_the_untagged_ones_of_the_project_bank_only() -> None:
    chosen = config(CODING, LIFE, scope={"includeSharedObservations": True})
    project, user = recall_scopes(chosen, PROJECT, "pi")
    backend = InMemoryBackend()
    for number, tags in enumerate(((), ("project:acme",), ("project:other",))):
        item = RetainItem(content=f"The port is {number}.", document_id=f"d{number}", tags=tags)
        await backend.retain("proj-a", item, operation_id=f"{number:08d}-0000-4000-8000-000000000000")
    found = await backend.recall("proj-a", RecallQuery(text="which port?", tag_groups=project.filter))
    assert {fact.text for fact in found.facts} == {"The port is 0.", "The port is 1."}
    assert isinstance(user.filter[0], TagLeaf)


async def test_a_floor_of_the_settings_drops_a_fact_here_and_is_not_sent() -> None:
    backend = Recording()
    backend.facts = (
        Fact(id="low", text="far away", scores=Scores(reranker=0.1)),
        Fact(id="high", text="close by", scores=Scores(reranker=0.9)),
    )
    chosen = config(CODING, recall={"minScores": {"reranker": 0.2}})
    session = Session(host=InProcessHost(), backend=backend, config=chosen, project=PROJECT, identity=IDENTITY)
    patch = await session.context([Message(role="user", parts=(TextPart("what?"),))])
    assert "close by" in patch.text
    assert "far away" not in patch.text


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("facts", {"recallMaxTokens": 1000}),
    ],
)
def test_a_setting_that_nothing_reads_yet_says_so(path: str, value: object) -> None:
    assert any("no effect" in w for w in merge([Layer(origin="global file", values={path: value})]).warnings)
