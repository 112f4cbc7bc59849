"""A replay into a memory that fails: it ends soon, and its report claims nothing that did not happen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hindbrain.contracts import (
    BackendError,
    Operation,
    OperationStatus,
    Outcome,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
)
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import merge
from hindbrain.generic._cli._replay import as_text, exit_of, problems_of
from hindbrain.generic._envelope import Exit
from hindbrain.generic._replay import Replay, ReplayReport

SESSION = Path(__file__).parents[2] / "examples" / "sessions" / "pi-1.6.0.jsonl"
QUESTION = "which retry policy?"


def failing(code: str, *, retryable: bool = True) -> BackendError:
    error = BackendError("it failed")
    error.code, error.outcome, error.retryable = code, Outcome.UNKNOWN, retryable  # type: ignore[misc]  # one class a code elsewhere
    return error


class Broken(InMemoryBackend):
    """A backend that takes the first retains and then fails."""

    def __init__(self, error: BackendError, *, takes: int = 0) -> None:
        super().__init__()
        self.error, self.takes, self.asked = error, takes, 0

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        self.asked += 1
        if self.asked > self.takes:
            raise self.error
        return await super().retain(bank, item, operation_id=operation_id)

    async def recall(self, bank: str, query: RecallQuery) -> Recall:  # noqa: ARG002  (the port's)
        raise self.error


class Endless(InMemoryBackend):
    """A backend whose operations never end."""

    asked = 0

    async def status(self, bank: str, operation_id: str) -> Operation:  # noqa: ARG002  (the port's)
        self.asked += 1
        return Operation(operation_id=operation_id, status=OperationStatus.PENDING)


@pytest.mark.parametrize("code", ["timeout", "store-busy"])
async def test_a_memory_that_lets_its_deadline_pass_is_not_waited_for_at_each_turn(code: str) -> None:
    backend = Broken(failing(code), takes=2)
    report = await Replay(SESSION, backend, merge([])).run(None)
    assert backend.asked == 3
    assert (report.turns, report.retains, report.waiting, report.code) == (18, 2, 16, code)


async def test_a_memory_that_refuses_at_once_is_asked_again_at_the_next_turn() -> None:
    backend = Broken(failing("network"))
    await Replay(SESSION, backend, merge([])).run(None)
    assert backend.asked > 18


async def test_operations_that_never_end_are_given_up_together() -> None:
    backend = Endless()
    report = await Replay(SESSION, backend, merge([]), settle_seconds=0).run(None)
    assert report.failed == report.retains == 18
    assert backend.asked == 0


async def test_what_was_not_taken_and_not_asked_is_said_with_what_to_do() -> None:
    report = await Replay(SESSION, Broken(failing("network"), takes=2), merge([])).run(QUESTION)
    text = as_text(report, QUESTION)
    assert "2 of 18 turns taken, 0 failed, 16 not taken" in text
    assert "(memory could not be asked)" in text
    assert "nothing was found" not in text
    retained, asked = problems_of(report)
    assert "(network)" in str(retained)
    assert "again" in retained.next_step
    assert "(network)" in str(asked)
    assert [each.code for each in (retained, asked)] == ["network", "network"]
    assert exit_of(report, QUESTION) is Exit.PARTIAL


async def test_a_memory_that_took_all_is_not_complained_about() -> None:
    report = await Replay(SESSION, InMemoryBackend(), merge([])).run(QUESTION)
    report.code = "store-busy"  # it was busy once, and took the turn later
    assert problems_of(report) == []
    assert "18 turns retained" in as_text(report, QUESTION)
    assert exit_of(report, QUESTION) is Exit.OK


@pytest.mark.parametrize(
    ("code", "exit_"),
    [
        ("network", Exit.UNREACHABLE),
        ("timeout", Exit.UNREACHABLE),
        ("store-unavailable", Exit.UNREACHABLE),
        ("http", Exit.UNREACHABLE),
        ("unauthorized", Exit.CONFIG),
    ],
)
def test_where_nothing_was_taken_the_exit_code_says_why(code: str, exit_: Exit) -> None:
    assert exit_of(ReplayReport(waiting=3, code=code), None) is exit_


@pytest.mark.parametrize(("code", "exit_"), [("wrong-endpoint", Exit.CONFIG), ("store-corrupt", Exit.FAILED)])
def test_where_all_was_refused_the_exit_code_is_not_partial(code: str, exit_: Exit) -> None:
    assert exit_of(ReplayReport(failed=3, code=code), None) is exit_


@pytest.mark.parametrize("absurd", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", 8_640_000_000_000_000])
async def test_an_absurd_time_in_the_file_keeps_no_turn_from_being_retained(tmp_path: Path, absurd: str | int) -> None:
    lines = [json.loads(line) for line in SESSION.read_text("utf-8").splitlines()]
    for line in lines[5:]:
        line["timestamp"] = absurd
        line.get("message", {})["timestamp"] = absurd
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    report = await Replay(path, InMemoryBackend(), merge([])).run(None)
    assert report.retains == report.turns == 18
