"""The program that may refuse a job before it is queued, run for real."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from hindbrain.contracts import Entry, Message, RetainItem, RetainJob, TextPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import InProcessHost, Session
from hindbrain.generic._gate import GateUnansweredError, admits
from hindbrain.memory import Checkout, EnqueueGate, MemoryConfig, RetainConfig, ScopeConfig, SessionIdentity, identify

ID = "93e33487-6c92-5880-9b29-dc86689d9c26"
ITEM = RetainItem(content="We ship on Fridays 🚀", document_id="doc", tags=("b", "a"), metadata={"k": "v"})
JOB = RetainJob(id=ID, bank="bank-a", item=ITEM, operation_id=ID, created_at="2026-01-02T03:04:05.000Z")
PROJECT = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
IDENTITY = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="local")


def gate(code: str, timeout_ms: int = 20_000) -> EnqueueGate:
    return EnqueueGate(command=(sys.executable, "-I", "-c", code), timeout_ms=timeout_ms)


@pytest.mark.parametrize(("code", "admitted"), [(0, True), (1, False), (7, False)])
async def test_the_exit_code_decides(code: int, admitted: bool) -> None:
    assert await admits(gate(f"raise SystemExit({code})"), JOB) is admitted


async def test_without_a_gate_every_job_is_admitted() -> None:
    assert await admits(None, JOB)


async def test_the_program_reads_the_job_as_sorted_json(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = f"import sys, pathlib; pathlib.Path({str(seen)!r}).write_bytes(sys.stdin.buffer.read())"
    assert await admits(gate(program), JOB)
    raw = seen.read_text("utf-8")
    read = json.loads(raw)
    assert (read["bankId"], read["item"]["content"]) == ("bank-a", "We ship on Fridays 🚀")
    assert raw == json.dumps(read, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


@pytest.mark.parametrize(
    "broken",
    [EnqueueGate(command=()), EnqueueGate(command=("/nowhere/at/all",)), EnqueueGate(command=("a\x00b",))],
    ids=["misspelt", "missing", "nul"],
)
async def test_a_program_that_cannot_be_run_lets_nothing_through(broken: EnqueueGate) -> None:
    with pytest.raises(GateUnansweredError):
        await admits(broken, JOB)


def runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(") ", 1)[1][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_a_program_that_does_not_end_is_ended_with_what_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    child = "import signal; signal.pause()"
    program = (
        "import os, pathlib, signal, subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        f"pathlib.Path({str(pids)!r}).write_text(str(os.getpid()) + ' ' + str(child.pid))\n"
        "signal.pause()"
    )
    with pytest.raises(GateUnansweredError):
        await admits(gate(program, timeout_ms=5_000), JOB)
    async with asyncio.timeout(10):  # a process that was ended takes a moment to go
        while any(map(runs, pids.read_text("utf-8").split())):  # noqa: ASYNC110 - /proc tells no event
            await asyncio.sleep(0.01)


class Told:
    def __init__(self, enqueue: EnqueueGate) -> None:
        self.lines: list[str] = []
        self.host = InProcessHost(notify=lambda text, _level: self.lines.append(text))
        self.last: str | None = None
        self.session = self.opened(enqueue)

    def opened(self, enqueue: EnqueueGate) -> Session:
        config = MemoryConfig(retain=RetainConfig(before_enqueue=enqueue))
        return Session(host=self.host, backend=InMemoryBackend(), config=config, project=PROJECT, identity=IDENTITY)

    def say(self, text: str) -> None:
        message = Message(role="user", parts=(TextPart(text),))
        self.host.add(Entry(id=text, parent_id=self.last, kind="message", message=message))
        self.last = text


async def test_a_turn_that_is_refused_is_never_retained_and_the_next_one_is() -> None:
    told = Told(gate("import sys; raise SystemExit('private' in sys.stdin.read())"))
    told.say("private words")
    first = await told.session.settled()
    told.say("open words")
    second = await told.session.settled()
    assert (first.jobs, first.passed_over) == ((), 1)
    assert ["private" in job.item.content for job in second.jobs] == [False]


async def test_a_turn_whose_check_gave_no_answer_is_kept_from_the_queue_and_offered_again() -> None:
    told = Told(EnqueueGate(command=("/nowhere/at/all",)))
    told.say("words")
    assert (await told.session.settled()).skipped == "error"
    assert (await told.session.settled()).skipped == "error"
    assert any("GateUnansweredError" in line for line in told.lines)
    mended = told.opened(gate("pass"))
    assert ["words" in job.item.content for job in (await mended.settled()).jobs] == [True]
