"""What a user is shown of the workers: routine where it is wanted, warnings always; and what was spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.contracts import Completion
from hindbrain.observe import Kind, Observed, Relevance, append_of, make_observation
from hindbrain.observe.testing import START, Asked, calls, says

Begin = Callable[..., Any]
OBSERVE = "record_observations"
QUIET = {"show_worker_notifications": False}
ALL_DUE = {"reflect_after_tokens": 1, "observations_pool_max_tokens": 2, "observations_pool_target_tokens": 1}


def failing(_asked: Asked) -> Completion:
    return says("sk-secret-of-the-provider", stop="error")


@pytest.mark.req("S4-settings-047")
async def test_routine_work_is_told_by_default_with_what_it_cost(talk: Begin) -> None:
    here = talk()
    await here.turn()
    assert here.host.notices == [("info", "Memory: 1 observed ($0.0100).")]
    await here.turn(1)
    assert len(here.host.notices) == 1


@pytest.mark.req("S4-notify-001")
async def test_routine_work_can_be_hidden(talk: Begin) -> None:
    here = talk(**QUIET, **ALL_DUE)
    await here.turn()
    assert here.tools()[-1] == "drop_observations"
    assert here.host.notices == []


@pytest.mark.req("S4-notify-002")
@pytest.mark.parametrize(("shown", "told"), [(True, 1), (False, 0)])
async def test_a_verdict_that_nothing_matters_is_routine(talk: Begin, shown: bool, told: int) -> None:
    here = talk(lambda _asked: says(), show_worker_notifications=shown)
    await here.turn()
    assert [level for level, _text in here.host.notices] == ["info"] * told


@pytest.mark.req("S4-settings-048", "S4-notify-004")
async def test_a_failure_is_told_whatever_is_hidden_once_until_it_ends(talk: Begin) -> None:
    here = talk(failing, **QUIET)
    await here.turn()
    await here.turn()
    ((level, text),) = here.host.notices
    assert (level, "observer" in text, "secret" in text) == ("warning", True, False)
    assert "Last errors\n  observer: " in await here.status()
    here.model.script.play = here.noting
    await here.turn()
    assert "Last errors" not in await here.status()
    here.model.script.play = failing
    await here.turn()
    assert len(here.host.notices) == 2


@pytest.mark.req("S4-notify-005")
async def test_a_compaction_is_told_whatever_is_hidden(talk: Begin) -> None:
    here = talk(**QUIET)
    await here.turn(1_200)
    await here.rest()
    assert [text for _level, text in here.host.notices if "compacted" in text] != []


@pytest.mark.req("S4-notify-006")
async def test_what_left_memory_without_a_model_is_told_whatever_is_hidden(talk: Begin) -> None:
    here = talk(**QUIET, memory_max_tokens=500)
    cited = here.say()
    many = tuple(
        make_observation(f"{n} " + "x" * 200, at=START + n, sources=[cited], relevance=Relevance.LOW, kind=Kind.FACT)
        for n in range(60)
    )
    entry = append_of(Observed(observations=many, covers=cited))
    assert entry is not None
    await here.host.append(entry.custom_type, entry.data, expect_ancestor=None)
    await here.turn()
    dropped = len(here.index().fold.observations) - len(here.index().fold.active_observations)
    assert dropped > 0
    ((level, text),) = here.host.notices
    assert (level, f"{dropped} observations" in text) == ("info", True)


@pytest.mark.req("S4-status-020", "S4-status-021")
async def test_spend_is_the_sum_of_what_providers_reported_once_a_call(talk: Begin) -> None:
    prices = iter([0.01, 0.02, None, 0.03])

    def priced(asked: Asked) -> Completion:
        if len(asked.messages) == 2:
            return calls(OBSERVE, {"observations": []}, cost_usd=next(prices))
        return says(cost_usd=next(prices))

    here = talk(priced)
    for _each in range(3):  # a run that recorded nothing that it meant to is followed by a rest
        await here.turn()
    assert "$0.0600" in await here.status()
    assert "observer 4" in await here.status()


@pytest.mark.req("S4-status-022", "S4-status-023", "S4-status-024")
async def test_spend_is_in_no_ledger_no_branch_takes_it_back_and_the_next_process_begins_at_nothing(
    talk: Begin,
) -> None:
    here = talk()
    root = here.say(10)
    await here.turn()
    assert "cost" not in "".join(str(entry.data) for entry in here.host.own()).lower()
    here.host.go_to(root)
    assert "$0.0100" in await here.status()
    await here.engine.close()
    here.open()
    assert "$0.0000" in await here.status()
