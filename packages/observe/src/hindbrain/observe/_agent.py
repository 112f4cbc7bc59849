"""The loop every worker runs: one set of instructions, one message, one tool, until the model stops of itself.

Source: spec/observe.md section 3.2; faults F-15 (cost is counted once a call), I-2 and I-3 there.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping

from attrs import define, frozen

from hindbrain.contracts import Completion, HindbrainError, JsonValue, Message, TextPart, Tool, ToolCallPart
from hindbrain.observe._chunk import SMALLEST
from hindbrain.observe._ports import WorkerModel
from hindbrain.observe._tokens import compact_json, tokens

PAUSE = 2.0
"""Seconds before the one retry of a call that failed for a moment."""

Sleep = Callable[[float], Awaitable[None]]
Log = Callable[[str, Mapping[str, JsonValue]], None]


@frozen
class Receipt:
    """What the tool answers: how the proposals were taken. ``refused`` where none of them was."""

    text: str
    refused: bool = False


Handle = Callable[[Mapping[str, JsonValue]], Receipt]
"""Judges the arguments of one call of the tool."""


@define
class Tally:
    """What a worker's calls came to."""

    calls: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0

    def count(self, completion: Completion) -> None:
        """Take in one answer."""
        cost = completion.cost_usd
        if cost is not None and math.isfinite(cost) and cost > 0:
            self.cost_usd += cost
        self.input_tokens += completion.input_tokens or 0
        self.output_tokens += completion.output_tokens or 0


@frozen(kw_only=True)
class Ending:
    """How a loop ended: ``code`` None where the model stopped of itself, else why it was ended, also in words.

    ``failed`` says that the model failed; otherwise it was only cut short.
    """

    code: str | None = None
    why: str = ""
    failed: bool = False

    @property
    def clean(self) -> bool:
        """Whether the model said all that it wanted to say."""
        return self.code is None


_TURNS = Ending(code="worker-turns", why="it took more turns than observe.agentMaxTurns allows")
_CUT = Ending(code="worker-cut", why="its answer was longer than observe.agentMaxTokens allows")
_FULL = Ending(code="worker-window", why="the model's window was full")
_ERROR = Ending(code="worker-model", why="the model reported an error", failed=True)
_ABORTED = Ending(code="worker-aborted", why="the model's answer was broken off", failed=True)
_UNKNOWN = Ending(code="worker-error", why="the model could not be asked", failed=True)


@frozen(kw_only=True)
class Agent:
    """A model with one tool.

    Args:
        worker: the model.
        max_turns: the most answers of it.
        max_tokens: the most tokens of one answer, beside the model's own limit.
        tally: where calls and cost are counted.
        sleep: how a retry waits.
        log: told what happened, in ids and counts.
    """

    worker: WorkerModel
    max_turns: int
    max_tokens: int
    tally: Tally
    sleep: Sleep
    log: Log

    async def run(self, instructions: str, prompt: str, tool: Tool, handle: Handle) -> Ending:
        """Ask until the model calls the tool no more, a limit is reached, or it fails. Never raises but to cancel."""
        messages = [_says("system", instructions), _says("user", prompt)]
        used = sum(map(_weight, messages)) + schema_tokens(tool)
        for _turn in range(self.max_turns):
            room = self._room(used)
            if room < SMALLEST:
                return _FULL
            answer = await self._ask(messages, tool, room)
            if isinstance(answer, Ending):
                return answer
            new = [answer, *_results(answer, tool, handle)]
            if len(new) == 1:
                return _CUT if answer.stop_reason == "length" else Ending()
            messages += new
            used += sum(map(_weight, new))
        return _TURNS

    def _room(self, used: int) -> int:
        """The tokens of the next answer."""
        window = self.worker.window
        return self.max_tokens if window is None or window <= 0 else min(self.max_tokens, window - used)

    async def _ask(self, messages: list[Message], tool: Tool, room: int) -> Message | Ending:
        again, answer = await self._call(messages, tool, room)
        if again:
            self.log("model.retry", {"seconds": PAUSE})
            await self.sleep(PAUSE)
            _again, answer = await self._call(messages, tool, room)
        if isinstance(answer, Ending):
            self.log("model.failed", {"code": answer.code})
        return answer

    async def _call(self, messages: list[Message], tool: Tool, room: int) -> tuple[bool, Message | Ending]:
        """One call: whether it may be tried once more, and what came of it."""
        self.tally.calls += 1
        try:
            made = await self.worker.model.complete(list(messages), tools=[tool], max_tokens=room)
        except HindbrainError as error:
            return _retryable(error), Ending(code=error.code, why=error.what.rstrip("."), failed=True)
        except Exception as error:  # noqa: BLE001  (a model is somebody else's code: whatever it raises is its failure)
            return _retryable(error), _UNKNOWN
        self.tally.count(made)
        if made.failed:
            return made.retryable, _ABORTED if made.message.stop_reason == "aborted" else _ERROR
        return False, made.message


def answer_tokens(config_most: int, model_most: int | None) -> int:
    """The most tokens of one answer: the setting, and the model's own limit where that is known."""
    return min(config_most, model_most) if model_most is not None and model_most > 0 else config_most


def schema_tokens(tool: Tool) -> int:
    """The estimated tokens of a tool as a request holds it."""
    return tokens(tool.name + tool.description + compact_json(dict(tool.parameters)))


def _retryable(error: Exception) -> bool:
    return getattr(error, "retryable", False) is True


def _says(role: str, text: str) -> Message:
    return Message(role=role, parts=(TextPart(text),))


def _weight(message: Message) -> int:
    called = (compact_json(dict(part.arguments)) for part in message.parts if isinstance(part, ToolCallPart))
    return tokens(message.text) + sum(map(tokens, called))


def _results(answer: Message, tool: Tool, handle: Handle) -> list[Message]:
    """The answers to the calls of a message, one after the other."""
    results = []
    for call in (part for part in answer.parts if isinstance(part, ToolCallPart)):
        known = call.name == tool.name
        receipt = (
            handle(call.arguments) if known else Receipt(f"There is no such tool. Call {tool.name}.", refused=True)
        )
        result = Message(
            role="toolResult",
            parts=(TextPart(receipt.text),),
            tool_call_id=call.id,
            tool_name=call.name,
            is_error=receipt.refused,
        )
        results.append(result)
    return results
