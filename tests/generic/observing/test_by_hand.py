"""A run of the workers that the user asks for, and when it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.contracts import Completion
from hindbrain.generic._observe import CompactionAsk
from hindbrain.observe.testing import Asked, ScriptedSource, says

Begin = Callable[..., Any]
OBSERVE, REFLECT, DROP = "record_observations", "record_reflections", "drop_observations"


async def test_a_session_without_a_word_has_nothing_to_consolidate(talk: Begin) -> None:
    here = talk()
    told = await here.engine.consolidate_now()
    assert (told.level, "no conversation" in told.text, here.tools()) == ("warning", True, [])


@pytest.mark.req("S4-commands-013")
async def test_runs_by_hand_and_runs_by_themselves_have_one_lock(talk: Begin) -> None:
    here = talk()
    here.model.held.add(OBSERVE)
    await here.turn()
    told = await here.engine.consolidate_now()
    assert (told.level, "at work" in told.text) == ("warning", True)
    here.model.go.set()
    await here.wait()
    here.model.go.clear()
    here.say(1)
    by_hand = here.start(here.engine.consolidate_now())
    await here.wait()
    await here.turn(5_000)
    here.model.go.set()
    await here.wait()
    assert by_hand.result().text == "Consolidated."
    assert here.tools() == [OBSERVE, OBSERVE, REFLECT]


async def test_two_that_are_asked_for_at_once_are_one(talk: Begin) -> None:
    here = talk()
    here.say()
    first, second = here.start(here.engine.consolidate_now()), here.start(here.engine.consolidate_now())
    await here.wait()
    assert [first.result().level, second.result().level] == ["info", "warning"]
    assert here.tools() == [OBSERVE, REFLECT]


@pytest.mark.req("S4-commands-014")
async def test_no_run_begins_by_hand_while_a_compaction_is_under_way(talk: Begin) -> None:
    here = talk()
    await here.remember()
    here.say(10)
    asked = here.tools()
    answers: list[Any] = []
    engine = here.engine

    class Asking:
        async def compaction(self, ask: CompactionAsk) -> Any:
            answers.append(await engine.consolidate_now())
            answers.append(await engine.compact_now())
            return await engine.compaction(ask)

    here.host.engine = Asking()
    await here.engine.compact_now()
    assert [("under way" in told.text, told.level) for told in answers] == [(True, "warning")] * 2
    assert (here.tools(), here.host.asked) == (asked, 1)


@pytest.mark.req("S4-commands-015")
async def test_where_all_is_observed_and_nothing_is_in_force_there_is_nothing_to_do(talk: Begin) -> None:
    here = talk(lambda _asked: says())
    await here.turn()
    told = await here.engine.consolidate_now()
    assert (told.level, "no memory to consolidate" in told.text) == ("warning", True)
    assert here.tools() == [OBSERVE]


@pytest.mark.req("S4-commands-016", "S4-commands-018")
async def test_a_memory_may_be_merged_where_nothing_is_new_and_whatever_the_clock_says(talk: Begin) -> None:
    here = talk()
    await here.remember()
    assert (await here.engine.consolidate_now()).text == "Consolidated."
    assert here.tools() == [OBSERVE, REFLECT]


@pytest.mark.req("S4-commands-017", "S4-commands-019", "S4-settings-022")
async def test_thresholds_count_for_nothing_but_the_droppers_target(talk: Begin) -> None:
    here = talk(observe_after_tokens=10_000)
    here.say(300)
    assert (await here.engine.consolidate_now()).text == "Consolidated."
    assert here.tools() == [OBSERVE, REFLECT]
    here.say(1)

    def silent(asked: Asked) -> Completion:
        return says() if asked.tool == REFLECT else here.noting(asked)

    here.open(here.tight())
    here.model.script.play = silent
    await here.engine.consolidate_now()
    assert here.tools()[2:] == [OBSERVE, REFLECT]
    here.say(1)
    here.model.script.play = here.noting
    await here.engine.consolidate_now()
    assert here.tools()[4:] == [OBSERVE, REFLECT, DROP]


async def test_it_says_when_there_is_no_model_and_when_a_worker_failed_and_when_nothing_was_found(talk: Begin) -> None:
    here = talk()
    here.say()
    here.model.script.play = lambda _asked: says("", stop="error")
    assert "/om status says why" in (await here.engine.consolidate_now()).text
    here.model.script.play = lambda _asked: says()
    assert "nothing new was found" in (await here.engine.consolidate_now()).text
    here.say()
    here.source = ScriptedSource(None)
    here.open()
    assert "no model" in (await here.engine.consolidate_now()).text


async def test_it_says_when_the_conversation_went_elsewhere(talk: Begin) -> None:
    here = talk()
    root = here.say()
    here.say()
    here.model.held.add(OBSERVE)
    told = here.start(here.engine.consolidate_now())
    await here.wait()
    here.host.go_to(root)
    here.say()
    here.model.go.set()
    await here.wait()
    assert "another branch" in told.result().text


async def test_it_says_when_it_was_broken_off(talk: Begin) -> None:
    here = talk()
    here.say()
    here.model.held.add(OBSERVE)
    told = here.start(here.engine.consolidate_now())
    await here.wait()
    await here.engine.set_gate(on=False)
    await here.wait()
    assert "broken off" in told.result().text
