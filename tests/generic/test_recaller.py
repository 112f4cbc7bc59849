"""One attempt a turn, what was found shown again, abort, and patience after an outage."""

from __future__ import annotations

import asyncio

import pytest
from attrs import evolve

from hindbrain.contracts import (
    BackendError,
    Budget,
    Message,
    MinScores,
    Outcome,
    Recall,
    RecallQuery,
    RetainItem,
    TextPart,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic._deadline import within_host
from hindbrain.generic._recaller import Recaller
from hindbrain.memory import Checkout, MemoryConfig, RecallConfig, ScopeConfig, identify, recall_scopes

PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
CONFIG = MemoryConfig(project_bank="proj-a")


def user(text: str) -> Message:
    return Message(role="user", parts=(TextPart(text),))


def assistant(text: str = "ok") -> Message:
    return Message(role="assistant", parts=(TextPart(text),))


class Counting(InMemoryBackend):
    """Counts recalls; can be down, or hold them open."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.answered = asyncio.Event()
        self.down = False
        self.refuses = False
        self.hold = False
        self.away: set[str] = set()
        self.broken: set[str] = set()
        self.holds: set[str] = set()
        self.entered = asyncio.Event()
        self.cancelled = 0

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        self.asked.append(bank)
        self.entered.set()
        try:
            if self.hold or bank in self.holds:
                await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.down or self.refuses or bank in self.away:
            error = BackendError("down")
            error.outcome = Outcome.REFUSED if self.refuses else Outcome.UNKNOWN
            raise error
        if bank in self.broken:
            raise RuntimeError
        self.answered.set()
        return await super().recall(bank, query)


class Bench:
    def __init__(self, config: MemoryConfig = CONFIG) -> None:
        self.now = 1_700_000_000_000
        self.backend = Counting()
        scopes = recall_scopes(config, PROJECT, "pi")
        self.recaller = Recaller(self.backend, scopes, config.recall, PROJECT, lambda: self.now)

    async def know(self, text: str, number: int) -> None:
        item = RetainItem(content=text, document_id=f"d{number}", tags=("project:acme",))
        await self.backend.retain("proj-a", item, operation_id=f"{number:08d}-0000-4000-8000-000000000000")


@pytest.mark.req("S0-cache-001", "S0-cache-004", "S0-cache-006")
async def test_a_turn_of_many_model_calls_asks_once_and_keeps_its_bytes_and_place() -> None:
    bench = Bench()
    await bench.know("Deploys happen on Fridays.", 1)
    said = [user("when are deploys?")]
    first = await bench.recaller.recall(said)
    later = [*said, assistant(), Message(role="toolResult", parts=(TextPart("x"),))]
    bench.now += 30_000
    second = await bench.recaller.recall(later)
    assert bench.backend.asked == ["proj-a"]
    assert first.text == second.text != ""
    assert first.apply(said)[0] == second.apply(later)[0]
    assert [m.role for m in second.apply(later)] == ["user", "user", "assistant", "toolResult"]
    assert second.at == 1_700_000_000_000


@pytest.mark.req("S0-cache-005", "S0-cache-009")
async def test_an_identical_nudge_within_the_time_is_shown_what_the_first_one_found() -> None:
    bench = Bench()
    await bench.know("Fact one is here, keep going.", 1)
    await bench.recaller.recall([user("keep going")])
    await bench.know("Fact two is here, keep going.", 2)
    bench.now += 10_000
    again = await bench.recaller.recall([user("keep going"), assistant(), user("keep going")])
    assert "Fact one" in again.text
    assert "Fact two" not in again.text
    bench.now += 60_001
    assert "Fact two" in (await bench.recaller.recall([user("keep going")])).text


@pytest.mark.req("S0-cache-003", "S0-cache-007")
async def test_another_question_asks_again() -> None:
    bench = Bench()
    for text in ("a b", "a c"):
        await bench.recaller.recall([user(text)])
    assert len(bench.backend.asked) == 2


@pytest.mark.parametrize("messages", [[], [assistant()], [user("x"), assistant()]])
async def test_where_nothing_could_be_injected_nothing_is_asked(messages: list[Message]) -> None:
    bench = Bench()
    patch = await bench.recaller.recall(messages)
    assert patch.skipped == "append-requires-user"
    assert bench.backend.asked == []


async def test_after_an_outage_turns_are_skipped_and_the_failure_is_no_answer() -> None:
    bench = Bench()
    await bench.know("Deploys happen on Fridays.", 1)
    bench.backend.down = True
    turns = [user("when are deploys?")]
    assert (await bench.recaller.recall(turns)).skipped == "recall-failed"
    assert (await bench.recaller.recall(turns)).skipped == "backing-off"
    bench.backend.down = False
    turns += [assistant(), user("deploys, when?")]
    assert (await bench.recaller.recall(turns)).skipped == "backing-off"
    turns += [assistant(), user("deploys?")]
    assert "Fridays" in (await bench.recaller.recall(turns)).text
    assert len(bench.backend.asked) == 2


async def test_one_bank_that_fails_does_not_silence_the_other() -> None:
    config = MemoryConfig(project_bank="proj-a", user_bank="user-a", recall=RecallConfig(deadline_ms=100))
    bench = Bench(config)
    await bench.know("Deploys happen on Fridays.", 1)

    async def recall(bank: str, query: RecallQuery) -> Recall:
        if bank == "user-a":
            raise BackendError("down")
        return await InMemoryBackend.recall(bench.backend, bank, query)

    bench.backend.recall = recall  # type: ignore[method-assign]  # one bank of two fails
    patch = await bench.recaller.recall([user("when are deploys?")])
    assert "Fridays" in patch.text
    assert [f.bank for f in patch.outcome.failures] == ["user-a"]


@pytest.mark.req("S0-abort-003", "S0-abort-008")
async def test_an_abort_cancels_the_request_itself_and_nothing_is_remembered() -> None:
    bench = Bench()
    await bench.know("Deploys happen on Fridays.", 1)
    bench.backend.hold = True
    abort = asyncio.Event()
    task = asyncio.create_task(bench.recaller.recall([user("when are deploys?")], abort=abort))
    await bench.backend.entered.wait()
    abort.set()
    patch = await task
    assert (patch.skipped, patch.text, bench.backend.cancelled) == ("aborted", "", 1)
    bench.backend.hold = False
    assert "Fridays" in (await bench.recaller.recall([user("when are deploys?")], abort=asyncio.Event())).text


async def test_an_abort_before_the_start_asks_nothing() -> None:
    bench = Bench()
    abort = asyncio.Event()
    abort.set()
    assert (await bench.recaller.recall([user("x")], abort=abort)).skipped == "aborted"
    assert bench.backend.asked == []


async def test_a_suppressed_memory_is_gone_at_the_next_look_also_within_the_time() -> None:
    bench = Bench()
    await bench.know("Deploys happen on Fridays.", 1)
    await bench.know("Deploys need two reviews.", 2)
    asking = [user("what about deploys?")]
    shown = await bench.recaller.recall(asking)
    unwanted = next(i.fact for i in shown.outcome.block.items if "Fridays" in i.fact.text)
    assert "Fridays" in shown.text
    again = await bench.recaller.recall(asking, suppressed=frozenset({unwanted.id}))
    assert "Fridays" not in again.text
    assert "two reviews" in again.text
    assert {v.reasons for v in again.outcome.verdicts if v.fact.id == unwanted.id} == {("suppressed",)}


async def test_a_suppressed_source_is_no_evidence_either() -> None:
    bench = Bench(MemoryConfig(project_bank="proj-a", recall=RecallConfig(include_source_facts=True)))
    await bench.know("Deploys happen on Fridays.", 1)
    shown = await bench.recaller.recall([user("when are deploys?")])
    sources = frozenset(shown.outcome.sources)
    assert shown.text.count("evidence: ") == len(sources) == 1
    again = await bench.recaller.recall([user("when are deploys?")], suppressed=sources)
    assert "evidence: " not in again.text
    assert "Fridays" in again.text


async def test_the_query_of_each_bank_is_told() -> None:
    bench = Bench(MemoryConfig(project_bank="proj-a", user_bank="user-a"))
    outcome = (await bench.recaller.recall([user("when are deploys?")])).outcome
    assert list(outcome.queries) == ["proj-a", "user-a"]
    assert "project: acme" in outcome.queries["proj-a"]
    assert "project: acme" not in outcome.queries["user-a"]
    assert outcome.query == outcome.queries["proj-a"]


@pytest.mark.req("S0-cache-009")
async def test_the_same_message_is_asked_for_again_once_its_answer_is_old() -> None:
    bench = Bench()
    for moment in (0, 60_000, 60_001):
        bench.now = 1_700_000_000_000 + moment
        await bench.recaller.recall([user("a")])
    assert len(bench.backend.asked) == 2


async def test_a_turn_that_takes_long_keeps_its_block_and_is_not_asked_for_again() -> None:
    bench = Bench()
    await bench.know("Deploys happen on Fridays.", 1)
    said = [user("when are deploys?")]
    first = await bench.recaller.recall(said)
    await bench.know("Deploys happen on Mondays, too.", 2)
    bench.now += 3_600_000
    later = await bench.recaller.recall([*said, assistant(), Message(role="toolResult")])
    assert (later.text, later.at) == (first.text, first.at)
    assert len(bench.backend.asked) == 1


@pytest.mark.req("S0-cache-002", "S0-cache-008")
async def test_whatever_changes_the_answer_makes_it_another_question() -> None:
    recall = RecallConfig()
    configs = [
        CONFIG,
        MemoryConfig(project_bank="proj-b"),
        MemoryConfig(project_bank="proj-a", user_bank="user-a"),
        MemoryConfig(project_bank="proj-a", scope=ScopeConfig(unscoped_recall_banks=("proj-a",))),
        *(
            MemoryConfig(project_bank="proj-a", recall=evolve(recall, **change))
            for change in (
                {"budget": Budget.HIGH},
                {"types": ()},
                {"max_tokens": 99},
                {"min_scores": MinScores(final=0.5)},
                {"top_k": 1},
            )
        ),
    ]
    keys = [Bench(config).recaller._key(user("a"), sources=False, suppressed=frozenset()) for config in configs]
    other = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="other"))
    scopes = recall_scopes(CONFIG, PROJECT, "pi")
    elsewhere = Recaller(Counting(), scopes, CONFIG.recall, other, lambda: 0)
    keys.append(elsewhere._key(user("a"), sources=False, suppressed=frozenset()))
    assert all(keys[i] != keys[j] for i in range(len(keys)) for j in range(i))


async def test_a_bank_that_is_away_is_left_alone_while_the_other_is_asked() -> None:
    bench = Bench(MemoryConfig(project_bank="proj-a", user_bank="user-a"))
    await bench.know("Deploys happen on Fridays.", 1)
    bench.backend.away = {"user-a"}
    turns: list[Message] = []
    asked = []
    for number in range(5):
        turns += [user(f"when are deploys? {number}")]
        patch = await bench.recaller.recall(turns)
        assert "Fridays" in patch.text
        asked.append(("user-a" in bench.backend.asked, patch.left_alone))
        bench.backend.asked.clear()
        turns += [assistant()]
    assert asked == [(True, ()), (False, ("user-a",)), (True, ()), (False, ("user-a",)), (False, ("user-a",))]


async def test_an_answer_that_a_bank_is_missing_from_is_not_shown_to_the_next_nudge() -> None:
    bench = Bench(MemoryConfig(project_bank="proj-a", user_bank="user-a"))
    await bench.know("Deploys happen on Fridays.", 1)
    bench.backend.away = {"user-a"}
    turns = [user("deploys?")]
    first = await bench.recaller.recall(turns)
    assert (await bench.recaller.recall(turns)).text == first.text
    assert len(bench.backend.asked) == 2
    await bench.recaller.recall([*turns, assistant(), user("deploys?")])
    assert bench.backend.asked == ["proj-a", "user-a", "proj-a"]


async def test_a_refusal_is_told_and_the_next_turn_asks_again() -> None:
    bench = Bench()
    bench.backend.refuses = True
    turns = [user("a")]
    assert (await bench.recaller.recall(turns)).skipped == "recall-failed"
    assert (await bench.recaller.recall(turns)).skipped == "backing-off"
    turns += [assistant(), user("b")]
    assert (await bench.recaller.recall(turns)).skipped == "recall-failed"
    assert len(bench.backend.asked) == 2


async def test_a_bug_in_one_bank_is_not_the_others() -> None:
    bench = Bench(MemoryConfig(project_bank="proj-a", user_bank="user-a"))
    await bench.know("Deploys happen on Fridays.", 1)
    bench.backend.broken = {"user-a"}
    patch = await bench.recaller.recall([user("deploys?")])
    assert "Fridays" in patch.text
    assert [(f.bank, f.code, f.outage) for f in patch.outcome.failures] == [("user-a", "error", False)]


@pytest.mark.req("S0-abort-004")
async def test_what_had_arrived_before_the_abort_is_not_shown() -> None:
    bench = Bench(MemoryConfig(project_bank="proj-a", user_bank="user-a"))
    await bench.know("Deploys happen on Fridays.", 1)
    bench.backend.holds = {"user-a"}
    abort = asyncio.Event()
    task = asyncio.create_task(bench.recaller.recall([user("when are deploys?")], abort=abort))
    await bench.backend.answered.wait()
    abort.set()
    patch = await task
    assert (patch.text, patch.outcome.verdicts, bench.backend.cancelled) == ("", (), 1)


@pytest.mark.req("S0-abort-008")
async def test_an_abort_costs_no_patience() -> None:
    bench = Bench()
    await bench.know("Deploys happen on Fridays.", 1)
    bench.backend.hold = True
    for _ in range(2):
        abort = asyncio.Event()
        bench.backend.entered.clear()
        task = asyncio.create_task(bench.recaller.recall([user("deploys?")], abort=abort))
        await bench.backend.entered.wait()
        abort.set()
        assert (await task).skipped == "aborted"
    bench.backend.hold = False
    assert "Fridays" in (await bench.recaller.recall([user("deploys?")])).text


async def test_first_in_the_context_needs_no_message_of_the_user_at_the_end() -> None:
    bench = Bench(MemoryConfig(project_bank="proj-a", recall=RecallConfig(injection_position="prepend")))
    await bench.know("Deploys happen on Fridays.", 1)
    said = [user("when are deploys?"), assistant("Let me see.")]
    patch = await bench.recaller.recall(said)
    assert "Fridays" in patch.apply(said)[0].text


@pytest.mark.parametrize(("host", "deadline"), [("omp", 28_000), ("pi", 30_000)])
def test_recall_ends_before_a_host_would_end_it(host: str, deadline: int) -> None:
    assert within_host(RecallConfig(deadline_ms=30_000), host).deadline_ms == deadline
    assert within_host(RecallConfig(), host) == RecallConfig()
