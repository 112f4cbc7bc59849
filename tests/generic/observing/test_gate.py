"""The gate: switched on a branch, kept in the session, and not the same as passive mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.generic._observe import CompactionAsk

Begin = Callable[..., Any]
OBSERVE = "record_observations"


async def is_on(here: Any) -> bool:
    told = str((await here.engine.state()).text)
    assert ("is on" in told) != ("is off" in told)
    return "is on" in told


@pytest.mark.req("S4-gate-001", "S4-gate-004")
async def test_the_gate_is_an_entry_of_the_branch_and_without_one_it_is_on(talk: Begin) -> None:
    here = talk()
    here.say()
    assert await is_on(here)
    assert "off" in (await here.engine.set_gate(on=False)).text
    (entry,) = here.host.own()
    assert (entry.custom_type, entry.data) == ("om.gate", '{"enabled": false}')
    assert entry.id == here.host.leaf()
    assert "already" in (await here.engine.set_gate(on=False)).text
    assert len(here.host.own()) == 1
    await here.engine.set_gate(on=True)
    assert await is_on(here)


@pytest.mark.req("S4-gate-002")
async def test_each_branch_has_its_own_gate(talk: Begin) -> None:
    here = talk()
    root = here.say()
    await here.engine.set_gate(on=False)
    off = here.host.leaf()
    here.host.go_to(root)
    assert await is_on(here)
    here.host.go_to(off)
    assert not await is_on(here)


@pytest.mark.req("S4-gate-003")
async def test_the_next_process_finds_the_gate_as_it_was(talk: Begin) -> None:
    here = talk()
    here.say()
    await here.engine.set_gate(on=False)
    await here.engine.close()
    here.open()
    assert not await is_on(here)


async def test_what_the_host_did_not_take_is_not_told_as_done(talk: Begin) -> None:
    here = talk()
    here.say()

    async def full(*_args: Any, **_more: Any) -> str:
        raise OSError("disk")

    here.host.append = full
    with pytest.raises(OSError, match="disk"):
        await here.engine.set_gate(on=False)
    assert await is_on(here)


async def test_a_branch_that_moved_under_the_switch_is_told(talk: Begin) -> None:
    here = talk()
    root = here.say()
    here.say()
    append = here.host.append

    async def late(*args: Any, **more: Any) -> str:
        here.host.go_to(root)
        return str(await append(*args, **more))

    here.host.append = late
    assert (await here.engine.set_gate(on=False)).level == "warning"
    assert here.host.own() == []


@pytest.mark.req("S4-gate-005", "S4-gate-006", "S4-gate-008", "S4-commands-024", "S4-commands-025")
async def test_nothing_runs_behind_a_gate_that_is_off(talk: Begin) -> None:
    here = talk()
    await here.remember()
    record = here.newest()
    await here.engine.set_gate(on=False)
    asked, kept = here.tools(), here.host.own()
    here.engine.started()
    await here.turn(5_000)
    await here.rest()
    assert (here.tools(), here.host.asked, here.host.own()) == (asked, 0, kept)
    last = here.index().entries[-1].id
    ask = CompactionAsk(first_kept=last, tokens_before=1, window=128_000)
    assert await here.engine.compaction(ask) is None
    assert await here.engine.before_settle(ask, 10) is None
    page = await here.engine.recall(record)
    assert ("disabled" in page.text, page.good) == (True, False)
    assert "seen" not in page.text
    assert "word" not in page.text
    for told in (await here.engine.consolidate_now(), await here.engine.compact_now()):
        assert (told.level, "/om on" in told.text) == ("warning", True)
    assert (here.tools(), here.host.asked) == (asked, 0)


async def test_a_run_that_is_under_way_ends_when_the_gate_closes(talk: Begin) -> None:
    here = talk()
    here.model.held.add(OBSERVE)
    await here.turn()
    await here.engine.set_gate(on=False)
    here.model.go.set()
    await here.wait()
    assert [entry.custom_type for entry in here.host.own()] == ["om.gate"]
    await here.engine.set_gate(on=True)
    await here.turn(1)
    assert here.host.own()[-1].custom_type == "om.observations.recorded"


@pytest.mark.req("S4-gate-009")
@pytest.mark.parametrize(("on", "passive"), [(True, True), (True, False), (False, True), (False, False)])
async def test_workers_need_an_open_gate_and_no_passive_mode(talk: Begin, on: bool, passive: bool) -> None:
    here = talk(passive=passive)
    here.say(10)
    if not on:
        await here.engine.set_gate(on=False)
    await here.turn()
    assert here.tools() == ([OBSERVE] if on and not passive else [])
    assert (await is_on(here), here.engine.config.passive) == (on, passive)


@pytest.mark.req("S4-gate-010")
async def test_passive_mode_is_in_no_ledger_and_holds_for_every_session(talk: Begin) -> None:
    here = talk(passive=True)
    await here.turn()
    assert here.host.own() == []
    await here.engine.close()
    here.open()
    await here.turn()
    assert (here.tools(), here.host.own()) == ([], [])


@pytest.mark.req("S4-gate-012", "S4-gate-013", "S4-gate-014", "S4-gate-015")
async def test_in_passive_mode_everything_works_that_is_asked_for(talk: Begin) -> None:
    here = talk(passive=True)
    here.say()
    assert (await here.engine.consolidate_now()).text == "Consolidated."
    record = here.newest()
    page = await here.engine.recall(record)
    assert (page.good, "word word" in page.text) == (True, True)
    here.say(10)
    assert (await here.engine.compact_now()).text == "Compacted from memory."
    view = await here.engine.view()
    assert record in view.text
    assert view.copy == view.text
