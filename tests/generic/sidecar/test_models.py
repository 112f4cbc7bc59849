"""Which model of the host the workers ask."""

from __future__ import annotations

from typing import Any

import pytest

from hindbrain.contracts import Message, TextPart
from hindbrain.generic.sidecar import ModelInfo, PeerModels
from hindbrain.observe import ModelChoice, ModelSource, Thinking, WorkerModel

BIG = {"provider": "anthropic", "id": "m1", "window": 200_000, "maxTokens": 8_192, "reasoning": True}
SMALL = {"provider": "p", "id": "small", "window": 32_000, "maxTokens": 4_096, "reasoning": True}
CHOICE = ModelChoice(provider="p", id="small", thinking=Thinking.HIGH)
ANSWER = {"message": {"role": "assistant", "content": [{"type": "text", "text": "Noted."}], "stopReason": "stop"}}


def models(host: Any, choice: ModelChoice | None = None) -> tuple[ModelSource, list[tuple[str, str]]]:
    told: list[tuple[str, str]] = []

    async def notify(text: str, level: str) -> None:
        told.append((text, level))

    return PeerModels(host, "s1", choice, notify), told


async def asked(host: Any, worker: WorkerModel) -> Any:
    """What the host is asked when the worker's model is."""
    host.answers["host/complete"] = ANSWER
    await worker.model.complete([Message(role="user", parts=(TextPart("hello"),))])
    return host.calls[-1][1]


@pytest.mark.req("S4-settings-045", "S4-settings-058")
async def test_without_a_choice_the_session_s_own_model_works(host: Any) -> None:
    host.answers["host/model"] = BIG
    source, told = models(host)
    worker = await source.resolve()
    assert worker is not None
    assert (worker.window, worker.max_tokens, worker.name) == (200_000, 8_192, "anthropic/m1")
    request = await asked(host, worker)
    assert (request["model"], request["thinking"], told) == (None, "low", [])
    assert host.calls[0] == ("host/model", {"session": "s1", "model": None})


@pytest.mark.req("S4-settings-046", "S4-settings-059")
async def test_the_chosen_one_is_asked_by_its_names_and_thinks_as_it_is_told(host: Any) -> None:
    host.answers["host/model"] = SMALL
    source, told = models(host, CHOICE)
    worker = await source.resolve()
    assert worker is not None
    request = await asked(host, worker)
    assert (request["model"], request["thinking"], told) == ({"provider": "p", "id": "small"}, "high", [])
    assert host.calls[0][1]["model"] == {"provider": "p", "id": "small"}


async def test_a_model_that_cannot_reason_is_asked_for_none(host: Any) -> None:
    host.answers["host/model"] = {**SMALL, "reasoning": False}
    worker = await models(host, CHOICE)[0].resolve()
    assert worker is not None
    assert (await asked(host, worker))["thinking"] is None


@pytest.mark.req("S4-observer-011", "S4-notify-003")
async def test_a_chosen_one_that_is_not_there_is_named_and_the_session_s_own_works(host: Any) -> None:
    host.answers["host/model"] = [{}, BIG, {}, BIG]
    source, told = models(host, CHOICE)
    for times in (1, 2):
        worker = await source.resolve()
        assert worker is not None
        assert (worker.name, (await asked(host, worker))["model"]) == ("anthropic/m1", None)
        assert (
            told
            == [("memory: the model p/small is not available; anthropic/m1 works in its place.", "warning")] * times
        )


@pytest.mark.req("S4-observer-012")
async def test_without_any_the_user_is_told_once_until_there_is_one_again(host: Any) -> None:
    host.answers["host/model"] = [{}, {}, BIG, {}]
    source, told = models(host)
    assert await source.resolve() is None
    assert await source.resolve() is None
    assert len(told) == 1
    assert await source.resolve() is not None
    assert await source.resolve() is None
    assert [level for _text, level in told] == ["warning", "warning"]


@pytest.mark.parametrize(
    "answer", [None, [], {"provider": "p"}, {"provider": "", "id": "m"}, {"provider": 1, "id": "m"}]
)
async def test_an_answer_that_names_no_model_is_none(host: Any, answer: Any) -> None:
    host.answers["host/model"] = [answer]
    assert await models(host)[0].resolve() is None


async def test_limits_that_are_no_counts_are_not_known(host: Any) -> None:
    host.answers["host/model"] = {**BIG, "window": 0, "maxTokens": "many"}
    worker = await models(host)[0].resolve()
    assert worker is not None
    assert (worker.window, worker.max_tokens) == (None, None)


def test_a_model_is_named_by_provider_and_id() -> None:
    assert ModelInfo(provider="p", id="small").name == "p/small"
