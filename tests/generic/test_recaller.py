"""One attempt a turn, what was found shown again, abort, and patience after an outage."""

from __future__ import annotations

import asyncio

import pytest

from hindbrain.contracts import BackendError, Message, Outcome, Recall, RecallQuery, RetainItem, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
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
        self.down = False
        self.hold = False
        self.entered = asyncio.Event()
        self.cancelled = 0

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        self.asked.append(bank)
        self.entered.set()
        try:
            if self.hold:
                await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.down:
            error = BackendError("down")
            error.outcome = Outcome.UNKNOWN
            raise error
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
