"""Workers beside a conversation: begun at a turn's end, one run at a time, and never in anybody's way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from hindbrain.contracts import Completion, ContextUsage, Message
from hindbrain.generic._observe import CompactionAsk, Observing
from hindbrain.observe import ObserveConfig
from hindbrain.observe.testing import START, Asked, ScriptedSource, says

Begin = Callable[..., Any]
OBSERVE, REFLECT, DROP = "record_observations", "record_reflections", "drop_observations"
ALL_DUE = {"reflect_after_tokens": 1, "observations_pool_max_tokens": 2, "observations_pool_target_tokens": 1}


@pytest.mark.req("S4-lifecycle-003", "S4-observer-005")
async def test_a_turn_waits_for_no_worker_and_the_next_may_begin(talk: Begin) -> None:
    here = talk(observe_after_tokens=200)
    await here.turn(150)
    assert here.tools() == []
    here.model.held.add(OBSERVE)
    await here.turn(60)
    assert here.index().fold.active_observations == {}
    here.engine.started()
    here.say(10)
    here.model.go.set()
    await here.wait()
    assert [each.content for each in here.index().fold.active_observations.values()] == ["seen e1"]


@pytest.mark.req("S4-compaction-015")
async def test_only_the_worker_whose_clock_is_due_is_asked(talk: Begin) -> None:
    here = talk()
    await here.turn(99)
    assert here.tools() == []
    await here.turn(1)
    assert here.tools() == [OBSERVE]


async def test_the_workers_wait_by_the_hosts_count_and_the_status_shows_the_estimate(talk: Begin) -> None:
    here = talk()
    here.say(30)
    counted = Message(role="assistant", at=here.time, stop_reason="stop", context_tokens=9_000)
    here.host.put("message", message=counted)
    here.host.usage = ContextUsage(tokens=9_069, window=128_000)
    await here.turn(200)
    assert here.tools() == []
    assert "Next observation: 230 / 100" in (await here.engine.status()).text
    here.host.usage = ContextUsage(tokens=9_070, window=128_000)
    here.engine.turn_ended()
    await here.wait()
    assert here.tools() == [OBSERVE]


@pytest.mark.req("S4-observer-006", "S4-settings-021")
async def test_a_reflection_begins_at_the_end_of_the_turn_that_makes_it_due(talk: Begin) -> None:
    here = talk(compact_after_tokens=50_000)
    await here.remember(200)
    here.open(ObserveConfig(observe_after_tokens=50_000))
    await here.turn(19_799)
    assert here.tools() == [OBSERVE]
    await here.turn(1)
    assert here.tools() == [OBSERVE, REFLECT]


async def test_two_turns_that_end_together_begin_one_run(talk: Begin) -> None:
    here = talk()
    here.model.held.add(OBSERVE)
    here.say()
    here.engine.turn_ended()
    here.engine.turn_ended()
    await here.wait()
    here.engine.started()
    here.model.go.set()
    await here.wait()
    assert here.tools() == [OBSERVE]


async def test_a_run_whose_branch_was_left_records_nothing_and_says_nothing(talk: Begin) -> None:
    here = talk()
    root = here.say()
    here.model.held.add(OBSERVE)
    await here.turn()
    here.host.go_to(root)
    here.say(10)
    here.model.go.set()
    await here.wait()
    assert (here.host.own(), here.host.notices) == ([], [])


@pytest.mark.req("S4-settings-049", "S4-gate-011")
async def test_nothing_starts_by_itself_in_passive_mode(talk: Begin) -> None:
    here = talk()
    await here.remember(600)
    kept, asked = here.host.own(), here.tools()
    here.open(evolve(here.config, passive=True))
    await here.rest()
    here.time = here.index().entries[-1].at + 1
    here.engine.opened()
    await here.wait()
    assert here.sleeping == []
    for _each in range(3):
        here.engine.started()
        await here.turn(5_000)
        await here.rest()
    assert (here.tools(), here.host.asked, here.sleeping, here.host.own()) == (asked, 0, [], kept)
    ask = CompactionAsk(first_kept="", tokens_before=0, window=128_000, system_tokens=10)
    assert await here.engine.before_settle(ask, 10) is None
    here.open(evolve(here.config, passive=False))
    assert await here.engine.before_settle(ask, 10) is not None


@pytest.mark.parametrize("stage", [OBSERVE, REFLECT, DROP])
async def test_a_process_that_ends_at_any_worker_leaves_a_ledger_that_goes_on(talk: Begin, stage: str) -> None:
    here = talk(**ALL_DUE)
    here.model.held.add(stage)
    await here.turn()
    kept = len(here.host.own())
    assert kept == {OBSERVE: 0, REFLECT: 1, DROP: 2}[stage]
    await here.engine.close()
    here.model.go.set()
    await here.wait()
    assert len(here.host.own()) == kept
    here.open()
    await here.turn()
    kinds = [entry.custom_type for entry in here.host.own()]
    index = here.index()
    assert {"om.observations.recorded", "om.reflections.recorded", "om.observations.dropped"} <= set(kinds)
    assert index.entries[index.observed_to].kind == "message"
    assert index.tokens_from(index.observed_to + 1) == 0


async def test_a_model_that_is_down_for_twenty_turns_leaves_a_backlog_that_drains_whole(talk: Begin) -> None:
    down, missed = True, 0
    seen: list[str] = []

    def sometimes(asked: Asked) -> Completion:
        nonlocal missed
        if down:
            missed += 1
            return says("", stop="error")
        seen.extend(part.split("]")[0] for part in asked.prompt.split("[Source entry id: ")[1:])
        return says()

    here = talk(sometimes, observer_chunk_max_tokens=300, compact_after_tokens=100_000)
    for _each in range(20):
        await here.turn()
    said = [entry.id for entry in here.index().entries]
    assert (len(said), here.host.own()) == (20, [])
    assert [level for level, _text in here.host.notices] == ["warning"]
    assert "observer" in await here.status()
    assert missed == 5  # it rests for a turn, for two, and then for four at a time
    down = False
    for _each in range(24):
        await here.turn(1)
    assert here.index().tokens_from(here.index().observed_to + 1) < 100
    assert seen[:20] == said
    assert len(set(seen)) == len(seen)


async def test_a_model_whose_window_is_smaller_than_it_says_is_given_less_until_it_answers(talk: Begin) -> None:
    sent: list[int] = []

    def narrow(asked: Asked) -> Completion:
        sent.append(asked.prompt.count("[Source entry id: "))
        return says("", stop="error") if sent[-1] > 4 else says()

    here = talk(narrow, observe_after_tokens=1_000, observer_chunk_max_tokens=2_000, compact_after_tokens=100_000)
    for _each in range(60):
        await here.turn()
    assert here.index().tokens_from(here.index().observed_to + 1) < 2_000
    assert max(sent) > 8
    assert 0 < min(sent) <= 4


@pytest.mark.req("S4-compaction-001")
async def test_a_host_that_refuses_everything_is_left_in_peace(talk: Begin) -> None:
    class Broken:
        def __getattr__(self, _name: str) -> Any:
            raise OSError("secret")

    broken: Any = Broken()
    engine = Observing(broken, ScriptedSource(None), ObserveConfig(), clock=lambda: START)
    ask = CompactionAsk(first_kept="e1", tokens_before=10)
    engine.opened()
    engine.started()
    engine.turn_ended()
    engine.settled()
    await talk().wait()
    assert await engine.compaction(ask) is None
    assert await engine.before_settle(ask, 10) is None
    await engine.close()


async def test_a_closed_session_begins_nothing(talk: Begin) -> None:
    here = talk()
    here.say(5_000)
    await here.engine.close()
    here.engine.started()
    here.engine.turn_ended()
    here.engine.settled()
    here.engine.opened()
    await here.wait()
    assert (here.tools(), here.host.asked, here.sleeping) == ([], 0, [])
