"""Two processes at the same receipt: exactly one is first."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable

import pytest

from hindbrain.store._files import StateDir
from hindbrain.store._ledger import FactLedger, Receipt, State

Many = Callable[..., tuple[Receipt, ...]]
Put = Callable[..., None]

ROUNDS = 20
RACER = """
import sys
from pathlib import Path
from hindbrain.contracts import HindbrainError
from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._ledger import Document, Event, FactLedger, State

ledger = FactLedger(StateDir.open(OsFileLayer(), Path(sys.argv[1])), wait=float(sys.argv[3]))
place = Document(base_url="https://h.example.com", bank_id="b", project_id="p", document_id="new")
print("ready", flush=True)
for line in sys.stdin:
    what, key = line.split()
    try:
        if what == "insert":
            ledger.insert(place, revision=key, operation_id="o", kind="decision", title="t", now=1)
        else:
            ledger.update(key, State.SUBMITTED, Event(sys.argv[2]), 9_000)
        print("won", flush=True)
    except HindbrainError as error:
        print(error.code, flush=True)
"""


async def racers(state: StateDir, wait: str) -> list[Process]:
    """Two processes that are ready, each with another answer to record."""
    started = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", RACER, str(state.path), event, wait, stdin=PIPE, stdout=PIPE
        )
        for event in ("acknowledged", "lost")
    ]
    for process in started:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    return started


async def ask(process: Process, line: str) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line.encode() + b"\n")
    return (await process.stdout.readline()).decode().strip()


async def race(state: StateDir, lines: list[str], wait: str) -> list[list[str]]:
    async with asyncio.timeout(50):
        started = await racers(state, wait)
        answers = [list(await asyncio.gather(*(ask(process, line) for process in started))) for line in lines]
        for process in started:
            assert process.stdin is not None
            process.stdin.close()
            assert await process.wait() == 0
    return answers


@pytest.mark.parametrize("kind", ["update", "insert"])
async def test_of_two_who_expect_the_same_state_one_wins(
    state: StateDir, ledger: FactLedger, put: Put, many: Many, kind: str
) -> None:
    receipts = many(ROUNDS, State.SUBMITTED)
    put(*receipts)
    answers = await race(state, [f"{kind} {receipt.key}" for receipt in receipts], "30")
    assert [sorted(answer) for answer in answers] == [["ledger-conflict", "won"]] * ROUNDS
    after = ledger.read()
    if kind == "insert":
        assert len(after.receipts) == 2 * ROUNDS
    else:
        expected = [State.ACCEPTED if first == "won" else State.UNKNOWN for first, _ in answers]
        assert [receipt.state for receipt in after.receipts] == expected


async def test_without_patience_a_loser_may_be_told_that_it_is_busy_but_never_that_it_won(
    state: StateDir, ledger: FactLedger, put: Put, many: Many
) -> None:
    receipts = many(ROUNDS, State.SUBMITTED)
    put(*receipts)
    answers = await race(state, [f"update {receipt.key}" for receipt in receipts], "0")
    for (first, second), receipt in zip(answers, ledger.read().receipts, strict=True):
        assert {first, second} in ({"won", "ledger-conflict"}, {"won", "lock-busy"})
        assert receipt.state is (State.ACCEPTED if first == "won" else State.UNKNOWN)
