"""When a session is compacted, and what the host is given for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.contracts import ContextUsage
from hindbrain.generic._observe import Cancelled, CompactionAnswer, CompactionAsk
from hindbrain.observe import clocks

Begin = Callable[..., Any]
OBSERVE = "record_observations"


def ask(kept: str, **more: Any) -> CompactionAsk:
    return CompactionAsk(first_kept=kept, tokens_before=7_000, window=128_000, system_tokens=10, **more)


@pytest.mark.req("S4-compaction-002", "S4-compaction-004")
async def test_a_compaction_is_asked_for_at_rest_and_the_hosts_question_answered_from_memory(talk: Begin) -> None:
    here = talk()
    await here.turn(600)
    await here.turn(600)
    assert here.host.asked == 0
    await here.rest()
    assert (here.host.asked, here.host.native) == (1, 0)
    stored = here.index().entries[-1]
    assert (stored.kind, stored.first_kept_id) == ("compaction", "e5")
    assert "seen e1" in stored.summary


@pytest.mark.req("S4-settings-023")
async def test_the_default_trigger_is_81_000_tokens(talk: Begin) -> None:
    here = talk(compact_after_tokens=81_000, idle_compaction_ttl=None)
    await here.turn(80_000)
    here.say(999)
    here.engine.settled()
    await here.wait()
    assert here.host.asked == 0
    here.say(1)
    here.engine.settled()
    await here.wait()
    assert here.host.asked == 1


@pytest.mark.req("S4-settings-024")
async def test_the_clock_counts_from_where_the_last_compaction_began_to_keep(talk: Begin) -> None:
    here = talk()
    await here.turn(900)
    kept = here.say(300)
    here.host.store(await here.engine.compaction(ask(kept)), kept)
    here.say(50)
    assert clocks(here.index()).compact == 350


@pytest.mark.req("S4-compaction-003")
async def test_a_host_that_is_at_work_is_not_asked(talk: Begin) -> None:
    here = talk()
    await here.turn(1_200)
    here.host.resting = False
    await here.rest()
    assert (here.host.asked, here.host.notices[1:]) == (0, [])
    here.host.resting = True
    await here.rest()
    assert here.host.asked == 1


async def test_what_is_no_longer_due_once_the_host_has_answered_is_not_asked_for(talk: Begin) -> None:
    here = talk()
    await here.turn(1_200)
    kept = here.say(10)

    async def idle() -> bool:
        here.host.store(await here.engine.compaction(ask(kept)), kept)
        return True

    here.host.idle = idle
    await here.rest()
    assert here.host.asked == 0


@pytest.mark.req("S4-thresholds-002")
async def test_the_hosts_own_count_of_the_context_triggers_nothing(talk: Begin) -> None:
    here = talk(idle_compaction_ttl=None)
    here.host.usage = ContextUsage(tokens=95_000, window=128_000)
    await here.turn(900)
    await here.rest()
    assert here.host.asked == 0


@pytest.mark.req("S4-thresholds-013")
async def test_a_host_that_compacts_for_its_own_reasons_is_given_the_memory_too(talk: Begin) -> None:
    here = talk()
    await here.remember()
    kept = here.say(10)
    answer = await here.engine.compaction(ask(kept, reason="overflow"))
    assert isinstance(answer, CompactionAnswer)
    assert "seen e1" in answer.summary
    whole = await here.engine.compaction(ask(kept))
    assert answer.details["budget"]["maxTokens"] == whole.details["budget"]["maxTokens"] // 2
    assert (answer.first_kept, answer.tokens_before, answer.details["type"]) == (kept, 7_000, "om.folded")


@pytest.mark.req("S4-compaction-008")
async def test_an_answer_waits_for_no_worker_and_asks_no_model(talk: Begin) -> None:
    here = talk()
    await here.remember()
    here.model.held.add(OBSERVE)
    kept = here.say()
    here.engine.turn_ended()
    await here.wait()
    asked = len(here.model.script.asked)
    assert isinstance(await here.engine.compaction(ask(kept)), CompactionAnswer)
    assert len(here.model.script.asked) == asked
    assert "In flight\n  observer" in await here.status()
    here.model.go.set()
    await here.wait()
    assert "seen e3" in [each.content for each in here.index().fold.active_observations.values()]


async def test_an_empty_memory_leaves_the_host_to_itself(talk: Begin) -> None:
    here = talk()
    assert await here.engine.compaction(ask(here.say(10))) is None
    assert await here.engine.compaction(ask("elsewhere")) is None


async def test_a_second_question_meanwhile_is_called_off(talk: Begin) -> None:
    here = talk()
    await here.remember()
    kept = here.say(10)
    second: list[Any] = []
    branch = here.host.branch

    async def again() -> Any:
        if not second:
            second.append(None)
            second.append(await here.engine.compaction(ask(kept)))
        return await branch()

    here.host.branch = again
    assert isinstance(await here.engine.compaction(ask(kept)), CompactionAnswer)
    assert isinstance(second[1], Cancelled)


async def test_a_session_that_is_closed_calls_a_compaction_off(talk: Begin) -> None:
    here = talk()
    await here.remember()
    await here.engine.close()
    assert isinstance(await here.engine.compaction(ask(here.say(10))), Cancelled)


async def test_a_boundary_compacts_only_where_that_is_due_and_there_is_a_memory(talk: Begin) -> None:
    here = talk(observe_after_tokens=1_100)
    start = ask("")
    here.say(1_050)
    here.say(10)
    assert await here.engine.before_settle(start, 10) is None
    await here.turn(50)
    answer = await here.engine.before_settle(start, 60)
    assert isinstance(answer, CompactionAnswer)
    assert answer.first_kept == "e2"
    assert answer.tokens_before == 1_110
    here.host.store(answer, answer.first_kept)
    assert await here.engine.before_settle(start, 60) is None
    assert here.host.asked == 0


@pytest.mark.req("S4-commands-020")
async def test_a_compaction_by_hand_has_what_the_workers_were_about_to_record(talk: Begin) -> None:
    here = talk()
    await here.remember()
    here.model.held.add(OBSERVE)
    await here.turn()
    told = here.start(here.engine.compact_now())
    await here.wait()
    assert (here.host.asked, told.done()) == (0, False)
    here.model.go.set()
    await here.wait()
    assert told.result().text == "Compacted from memory."
    assert (here.host.asked, here.host.native) == (1, 0)
    assert "seen e3" in here.index().fold.active_observations[here.newest()].content


async def test_a_compaction_by_hand_looks_again_after_it_has_waited(talk: Begin) -> None:
    here = talk()
    await here.remember()
    here.model.held.add(OBSERVE)
    await here.turn()
    told = here.start(here.engine.compact_now())
    await here.wait()
    kept = here.index().entries[-1].id
    here.host.store(await here.engine.compaction(ask(kept)), kept)
    here.model.go.set()
    await here.wait()
    assert ("since the last compaction" in told.result().text, here.host.asked) == (True, 0)


@pytest.mark.req("S4-commands-021")
async def test_nothing_is_compacted_twice_without_new_words(talk: Begin) -> None:
    here = talk()
    await here.remember()
    assert (await here.engine.compact_now()).level == "info"
    told = await here.engine.compact_now()
    assert (told.level, here.host.asked) == ("warning", 1)
    assert "since the last compaction" in told.text


@pytest.mark.req("S4-commands-022", "S4-commands-023")
async def test_without_a_memory_a_compaction_by_hand_does_not_wake_the_hosts_own(talk: Begin) -> None:
    here = talk()
    here.say(10)
    told = await here.engine.compact_now()
    assert (told.level, here.host.asked, here.host.native) == ("warning", 0, 0)
    assert "no memory to compact from" in told.text


async def test_a_compaction_by_hand_says_where_the_host_did_none(talk: Begin) -> None:
    here = talk()
    await here.remember()
    here.host.resting = False
    assert "did not compact" in (await here.engine.compact_now()).text
    here.host.resting = True

    async def broken(_instructions: str | None = None) -> bool:
        raise OSError("secret")

    here.host.compact = broken
    told = await here.engine.compact_now()
    assert (told.level, "secret" in told.text) == ("warning", False)
