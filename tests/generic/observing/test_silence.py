"""A session that rests long enough is compacted; one that goes on, is switched off or is closed is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Begin = Callable[..., Any]
OBSERVE = "record_observations"


@pytest.mark.req("S4-compaction-017")
async def test_a_silence_compacts_once_from_memory(talk: Begin) -> None:
    here = talk()
    await here.turn(600)
    await here.rest()
    assert ([seconds for seconds, _event in here.sleeping], here.host.asked) == ([1_800], 0)
    await here.pass_time()
    assert (here.host.asked, here.host.native, here.sleeping) == (1, 0, [])
    await here.pass_time()
    assert here.host.asked == 1


async def test_a_silence_needs_enough_new_words_and_a_memory(talk: Begin) -> None:
    here = talk(observe_after_tokens=700)
    await here.turn(480)
    await here.rest()
    assert here.sleeping == []
    await here.turn(100)
    await here.rest()
    assert here.sleeping == []
    await here.turn(100)
    await here.rest()
    assert len(here.sleeping) == 1


async def test_a_run_that_begins_ends_the_silence(talk: Begin) -> None:
    here = talk()
    await here.turn(600)
    await here.rest()
    here.engine.started()
    await here.pass_time()
    assert (here.host.asked, here.sleeping) == (0, [])


async def test_a_run_that_begins_while_the_rest_is_looked_at_counts(talk: Begin) -> None:
    here = talk()
    await here.turn(600)
    here.say(10, "assistant")
    here.engine.settled()
    here.engine.started()
    await here.wait()
    assert here.sleeping == []


@pytest.mark.parametrize("gone", ["host at work", "moved", "compacted"])
async def test_what_changed_meanwhile_is_looked_at_before_anything_is_asked(talk: Begin, gone: str) -> None:
    here = talk()
    await here.turn(600)
    await here.rest()
    if gone == "host at work":
        here.host.resting = False
    elif gone == "compacted":
        await here.engine.compact_now()
    else:
        here.host.go_to("e1")
    asked = here.host.asked
    await here.pass_time()
    assert here.host.asked == asked


async def test_the_workers_are_waited_for(talk: Begin) -> None:
    here = talk()
    await here.turn(600)
    await here.rest()
    here.model.held.add(OBSERVE)
    await here.turn()
    await here.pass_time()
    assert here.host.asked == 0
    here.model.go.set()
    await here.wait()
    assert here.host.asked == 1


async def test_a_memory_that_is_gone_in_the_silence_wakes_no_summariser(talk: Begin) -> None:
    here = talk()
    await here.turn(600)
    await here.rest()
    compact = here.host.compact

    async def late(instructions: str | None = None) -> bool:
        here.host.go_to("e1")
        return bool(await compact(instructions))

    here.host.compact = late
    await here.pass_time()
    assert (here.host.asked, here.host.native) == (1, 0)


async def test_a_session_that_is_opened_again_takes_its_silence_up(talk: Begin) -> None:
    here = talk()
    await here.turn(600)
    here.say(10, "assistant")
    rested = here.index().entries[-1].at
    for later, left in ((600, 1_200.0), (1_799, 5.0), (90_000, 5.0)):
        await here.engine.close()
        here.time = rested + later * 1_000
        here.open().opened()
        await here.wait()
        assert [seconds for seconds, _event in here.sleeping] == [left]
    await here.pass_time()
    assert here.host.asked == 1


@pytest.mark.parametrize("last", ["user", "future", "started"])
async def test_a_session_that_did_not_rest_has_no_silence(talk: Begin, last: str) -> None:
    here = talk()
    await here.turn(600)
    here.say(10, "user" if last == "user" else "assistant")
    here.time = here.index().entries[-1].at + (-1 if last == "future" else 1)
    here.open().opened()
    if last == "started":
        here.engine.started()
    await here.wait()
    assert here.sleeping == []


@pytest.mark.req("S4-gate-007")
async def test_a_session_that_is_switched_off_listens_no_longer(talk: Begin) -> None:
    here = talk()
    await here.turn(600)
    await here.rest()
    await here.engine.set_gate(on=False)
    await here.wait()
    assert here.sleeping == []
    await here.pass_time()
    assert (here.host.asked, here.sleeping) == (0, [])
    await here.rest()
    assert here.sleeping == []


async def test_a_silence_that_is_switched_off_never_comes(talk: Begin) -> None:
    here = talk(idle_compaction_ttl=None)
    await here.turn(600)
    await here.rest()
    assert here.sleeping == []


async def test_closing_ends_a_silence_and_a_compaction_that_waits_for_workers(talk: Begin) -> None:
    here = talk()
    await here.turn(600)
    await here.rest()
    here.model.held.add(OBSERVE)
    await here.turn()
    await here.pass_time()
    await here.engine.close()
    here.model.go.set()
    await here.wait()
    assert (here.host.asked, here.sleeping) == (0, [])
