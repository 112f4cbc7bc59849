from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import define, field

from hindbrain.contracts import Completion, HindbrainError, Message, TextPart, ToolCallPart
from hindbrain.observe import WorkerModel
from hindbrain.observe._agent import Agent, Ending, Receipt, Tally, answer_tokens
from hindbrain.observe._prompts import DROP_OBSERVATIONS as TOOL
from hindbrain.observe.testing import Asked, ScriptedModel, calls, says


class BusyError(HindbrainError):
    code = "busy"
    retryable = True


class KeyRefusedError(HindbrainError):
    code = "key-refused"


@define
class Room:
    """An agent at work, what it was given, and what it waited for."""

    play: Callable[[Asked], Completion | Exception]
    window: int | None = None
    max_turns: int = 16
    max_tokens: int = 1_000
    given: list[Mapping[str, Any]] = field(factory=list)
    waits: list[float] = field(factory=list)
    events: list[str] = field(factory=list)
    tally: Tally = field(factory=Tally)
    model: ScriptedModel = field(init=False)

    async def run(self) -> Ending:
        self.model = ScriptedModel(self.play)
        agent = Agent(
            worker=WorkerModel(model=self.model, window=self.window),
            max_turns=self.max_turns,
            max_tokens=self.max_tokens,
            tally=self.tally,
            sleep=self._wait,
            log=lambda event, _data: self.events.append(event),
        )
        return await agent.run("Instructions.", "Prompt.", TOOL, self._handle)

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    def _handle(self, arguments: Mapping[str, Any]) -> Receipt:
        self.given.append(arguments)
        return Receipt(f"{len(self.given)} taken.", refused="bad" in arguments)


def in_turn(*answers: Completion | Exception) -> Callable[[Asked], Completion | Exception]:
    """Plays the answers one after the other, and the last one for ever."""
    left = list(answers)
    return lambda _asked: left.pop(0) if len(left) > 1 else left[0]


async def test_each_call_of_the_tool_is_answered_in_order_and_the_model_ends_it() -> None:
    room = Room(in_turn(calls(TOOL.name, {"ids": ["a"]}, {"bad": 1}), says()))
    assert (await room.run()).clean
    assert room.given == [{"ids": ["a"]}, {"bad": 1}]
    last = room.model.asked[-1].messages
    assert [each.role for each in last] == ["system", "user", "assistant", "toolResult", "toolResult"]
    assert [(each.tool_call_id, each.text, each.is_error) for each in last[3:]] == [
        ("call-0", "1 taken.", False),
        ("call-1", "2 taken.", True),
    ]


async def test_a_tool_that_is_not_there_is_refused_and_the_model_goes_on() -> None:
    room = Room(in_turn(calls("delete_everything", {}), says()))
    assert (await room.run()).clean
    assert room.given == []
    result = room.model.asked[-1].messages[-1]
    assert result.is_error
    assert result.text == "There is no such tool. Call drop_observations."


async def test_a_model_that_never_stops_is_stopped_after_its_turns() -> None:
    room = Room(in_turn(calls(TOOL.name, {"ids": ["a"]})), max_turns=3)
    ending = await room.run()
    assert (ending.code, ending.failed, room.tally.calls) == ("worker-turns", False, 3)


async def test_an_answer_that_was_cut_off_is_no_clean_end() -> None:
    ending = await Room(in_turn(says("I th", stop="length"))).run()
    assert (ending.code, ending.failed) == ("worker-cut", False)


@pytest.mark.parametrize(("stop", "code"), [("error", "worker-model"), ("aborted", "worker-aborted")])
async def test_a_provider_s_error_is_no_empty_answer(stop: str, code: str) -> None:
    room = Room(in_turn(says("", stop=stop)))
    ending = await room.run()
    assert (ending.code, ending.failed, room.tally.calls, room.waits) == (code, True, 1, [])
    assert room.events == ["model.failed"]


@pytest.mark.parametrize("first", [says("", stop="error", retryable=True), BusyError("It is busy.")])
async def test_a_call_that_failed_for_a_moment_is_tried_once_more(first: Completion | Exception) -> None:
    room = Room(in_turn(first, calls(TOOL.name, {"ids": ["a"]}), says()))
    assert (await room.run()).clean
    assert (room.waits, room.tally.calls, len(room.given)) == ([2.0], 3, 1)


async def test_it_is_not_tried_a_third_time() -> None:
    room = Room(in_turn(BusyError("It is busy.")))
    ending = await room.run()
    assert (ending.code, ending.why, ending.failed) == ("busy", "It is busy", True)
    assert (room.waits, room.tally.calls) == ([2.0], 2)


@pytest.mark.parametrize(
    ("error", "code"), [(KeyRefusedError("No key."), "key-refused"), (OSError("secret"), "worker-error")]
)
async def test_any_other_error_ends_it_at_once_and_a_foreign_one_is_not_repeated(error: Exception, code: str) -> None:
    room = Room(in_turn(error))
    ending = await room.run()
    assert (ending.code, room.tally.calls, room.waits) == (code, 1, [])
    assert "secret" not in ending.why


async def test_cost_is_counted_once_a_call_and_only_where_it_is_a_sum() -> None:
    room = Room(
        in_turn(
            calls(TOOL.name, {"ids": ["a"]}, cost_usd=0.01, input_tokens=100, output_tokens=10),
            calls(TOOL.name, {"ids": ["a"]}, cost_usd=float("nan")),
            calls(TOOL.name, {"ids": ["a"]}, cost_usd=-1.0),
            says(cost_usd=0.02, input_tokens=120, output_tokens=5),
        )
    )
    await room.run()
    assert room.tally.cost_usd == pytest.approx(0.03)
    assert (room.tally.calls, room.tally.input_tokens, room.tally.output_tokens) == (4, 220, 15)


async def test_a_failed_call_that_cost_something_counts() -> None:
    room = Room(in_turn(says("", stop="error", cost_usd=0.5)))
    await room.run()
    assert room.tally.cost_usd == 0.5


async def test_each_answer_may_take_what_the_window_leaves_and_no_more() -> None:
    room = Room(in_turn(calls(TOOL.name, {"ids": ["x" * 2_000]})), window=2_000)
    ending = await room.run()
    asked = [each.max_tokens or 0 for each in room.model.asked]
    assert (ending.code, ending.failed) == ("worker-window", False)
    assert asked[0] == 1_000
    assert asked == sorted(asked, reverse=True)
    assert asked[-1] >= 256


async def test_a_window_that_nobody_knows_limits_nothing() -> None:
    room = Room(in_turn(calls(TOOL.name, {"ids": ["x" * 9_000]})), max_turns=4)
    await room.run()
    assert [each.max_tokens for each in room.model.asked] == [1_000] * 4


@pytest.mark.req("S4-settings-043", "S4-settings-044")
def test_the_most_of_an_answer_is_the_setting_clamped_to_what_the_model_can() -> None:
    assert answer_tokens(32_000, 8_192) == 8_192
    assert answer_tokens(8_192, 64_000) == 8_192
    assert answer_tokens(8_192, None) == 8_192
    assert answer_tokens(8_192, 0) == 8_192


async def test_words_beside_a_call_do_not_end_the_loop() -> None:
    both = Message(
        role="assistant",
        parts=(TextPart("First this."), ToolCallPart("c", TOOL.name, {"ids": ["a"]})),
        stop_reason="length",
    )
    room = Room(in_turn(Completion(message=both), says()))
    assert (await room.run()).clean
    assert len(room.given) == 1
