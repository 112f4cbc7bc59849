"""The recall path's own time: one call of the context hook, over the backend in memory, in CPU time.

A history of 1 MB stands behind each question. On a miss the question is new, so two banks are asked, judged, and the
block is made and told in events; on a hit it is the question before. The rows by length ask new questions behind 100,
1,000 and 10,000 messages, in turns: what was said long ago must cost nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from _row import Row, median, p95
from bench_parse import CODE

from hindbrain.contracts import Entry, Message, TextPart, ToolCallPart
from hindbrain.contracts.in_memory import InMemoryBackend
from hindbrain.generic import InProcessHost, Session
from hindbrain.memory import Checkout, MemoryConfig, ScopeConfig, SessionIdentity, identify

RUNS = 400
LENGTHS = (100, 1_000, 10_000)
MEGABYTE = 1_000_000
FACTS = 40


def said(role: str, text: str) -> Message:
    """A message of words."""
    return Message(role=role, parts=(TextPart(text),))


def history(count: int, size: int) -> list[Message]:
    """So many messages of a coding session, together about ``size`` characters."""
    code = (CODE * (size // count // len(CODE) + 1))[: max(40, size // count)]
    call = Message(role="assistant", parts=(TextPart("Next."), ToolCallPart("1", "edit", {"path": "a.ts"})))
    turn = (said("user", f"Look at this.\n{code}"), call, Message(role="toolResult", parts=(TextPart(code),)))
    return [turn[n % 3] for n in range(count)]


def question(number: int) -> Message:
    """A question that finds something, and that no other run asked."""
    return said("user", f"Which port does service {number} use, and who deploys it on Friday?")


async def session() -> Session:
    """A session whose project bank holds some facts."""
    project = identify(Checkout(cwd="/repo", root="/repo"), ScopeConfig(project_id="acme"))
    identity = SessionIdentity(host="pi", key="29e67821bedc391a", lineage="s1", label="s.jsonl", origin="local")
    host, config = InProcessHost(), MemoryConfig(project_bank="proj-a", user_bank="user-a")
    made = Session(host=host, backend=InMemoryBackend(), config=config, project=project, identity=identity)
    for n in range(FACTS):
        message = said("user", f"The service number {n} listens on port {8000 + n}, and team {n % 5} deploys it.")
        host.add(Entry(id=f"e{n}", parent_id=f"e{n - 1}" if n else None, kind="message", message=message))
    await made.settled()
    return made


async def call(one: Session, messages: list[Message], *, cache: str) -> float:
    """Milliseconds of one call of the hook."""
    start = time.process_time()
    patch = await one.context(messages)
    took = time.process_time() - start
    if not patch.text or patch.cache != cache:
        raise RuntimeError(patch.skipped or patch.cache)
    return took * 1000


async def measure() -> tuple[dict[str, list[float]], dict[int, list[float]]]:
    """Milliseconds by miss and hit, and by the length of the history."""
    one = await session()
    big = history(400, MEGABYTE)
    by_length = {length: history(length, 100 * length) for length in LENGTHS}
    taken: dict[str, list[float]] = {"miss": [], "hit": []}
    lengths: dict[int, list[float]] = {length: [] for length in LENGTHS}
    for number in range(RUNS):
        messages = [*big, question(number)]
        taken["miss"].append(await call(one, messages, cache="miss"))
        taken["hit"].append(await call(one, messages, cache="hit"))
        for place, length in enumerate(LENGTHS, start=1):
            messages = [*by_length[length], question(number + place * RUNS)]
            lengths[length].append(await call(one, messages, cache="miss"))
    return taken, lengths


def run() -> Iterable[Row]:
    """The rows of this bench."""
    taken, lengths = asyncio.run(measure())
    for name, samples in taken.items():
        yield Row(name=f"recall.{name}.p50", value=median(samples), unit="ms", runs=RUNS, bar="value <= 2")
        yield Row(name=f"recall.{name}.p95", value=p95(samples), unit="ms", runs=RUNS, bar="value <= 5")
    smallest = median(lengths[LENGTHS[0]])
    for length, samples in lengths.items():
        peers = {"shortest": smallest}
        bar = None if length == LENGTHS[0] else "x shortest <= 1.3"
        name = f"recall.messages.{length}"
        yield Row(name=name, value=median(samples), unit="ms", runs=RUNS, peers=peers, bar=bar)
