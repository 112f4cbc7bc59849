"""Observational memory on a branch of 10,000 entries and 5,000 observations: a turn, a compaction, a status, a recall.

What the host would do is left out. Times are CPU time, the median of many runs; what is compared takes turns. Prefix
stability and compression are counted, not timed: a replay gives the same numbers every time.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

from _row import Row, median

from hindbrain.contracts import Entry
from hindbrain.memory.sessions import read_session
from hindbrain.observe import (
    Compaction,
    Kind,
    LedgerIndex,
    Moment,
    ObserveConfig,
    Observed,
    Reflected,
    Relevance,
    append_of,
    clocks,
    compact,
    compact_due,
    extract,
    make_observation,
    make_reflection,
    observe_due,
    recall,
    recall_page,
    record_lines,
    reflect_due,
    replay,
    status_lines,
)
from hindbrain.observe.testing import BranchScript, planted, planted_observer

RUNS = 201
LOADS = 11
ENTRIES, RECORDS, BATCH = 10_000, 5_000, 20
REAL = Path(__file__).parents[3] / "shared" / "data" / "pi-before-compaction.jsonl"
CONFIG, WINDOW = ObserveConfig(), 200_000
WORDS = "the retry of a batch waits for the limiter, and a row that cannot be read goes to a file of its own; "
KINDS, RELEVANCE = tuple(Kind), tuple(Relevance)


def lines(entries: int, records: int) -> Iterable[str]:
    """A session file: a user's word, the answer with a call and its result in turn, and a batch of records at times."""
    yield json.dumps({"type": "session", "version": 3, "id": "bench", "timestamp": _iso(0), "cwd": "/home/dev/p"})
    every = entries * BATCH // records if records else entries + 1
    parent, made = None, 0
    for n in range(entries):
        if n % every == every - 1:
            entry = {"type": "custom", "id": f"e{n}", "parentId": parent, "timestamp": _iso(n), **_batch(n, made)}
            made += BATCH
        else:
            entry = {"type": "message", "id": f"e{n}", "parentId": parent, "timestamp": _iso(n), "message": _message(n)}
        parent = f"e{n}"
        yield json.dumps(entry)


def _iso(n: int) -> str:
    return f"2026-01-{1 + n // 1440 % 28:02d}T{n // 60 % 24:02d}:{n % 60:02d}:09.000Z"


def _message(n: int) -> dict[str, object]:
    if n % 3 == 0:
        return {"role": "user", "content": [{"type": "text", "text": f"{n} {WORDS}"}]}
    if n % 3 == 1:
        call = {"type": "toolCall", "id": f"c{n}", "name": "read", "arguments": {"path": f"src/{n}.py", "n": n}}
        usage = {"input": 5, "output": 171, "cacheRead": 0, "cacheWrite": 9000, "cost": {"input": 0.1, "total": 0.2}}
        return {
            "role": "assistant",
            "content": [{"type": "text", "text": WORDS * 2}, call],
            "usage": usage,
            "model": "m",
        }
    return {
        "role": "toolResult",
        "toolCallId": f"c{n}",
        "toolName": "read",
        "content": [{"type": "text", "text": WORDS * 8}],
    }


def _batch(n: int, made: int) -> dict[str, object]:
    found = tuple(
        make_observation(
            f"{made + k} {WORDS}",
            at=1_767_344_400_000 + 60_000 * n,
            sources=[f"e{max(0, n - 1 - k)}"],
            relevance=RELEVANCE[k % 4],
            kind=KINDS[k % 4],
        )
        for k in range(BATCH)
    )
    if made % 200 == 0:
        thoughts = tuple(make_reflection(f"{made} {k} {WORDS}", supports=[found[k].id]) for k in range(4))
        event: Observed | Reflected = Reflected(reflections=thoughts, covers=f"e{n - 1}")
    else:
        event = Observed(observations=found, covers=f"e{n - 1}", zone="UTC")
    appended = append_of(event)
    if appended is None:
        raise AssertionError
    return {"customType": appended.custom_type, "data": appended.data}


def written(folder: str, entries: int, records: int) -> Path:
    path = Path(folder) / f"{entries}.jsonl"
    path.write_text("".join(line + "\n" for line in lines(entries, records)), encoding="utf-8")
    return path


def loaded(path: Path) -> LedgerIndex:
    return LedgerIndex(read_session(path).branch().path())


def timed(job: Callable[[int], object], runs: int = RUNS, *, first: int = 0) -> float:
    """The median CPU time of a job in milliseconds; it is told which run it is."""
    samples = []
    for n in range(first, first + runs):
        start = time.process_time_ns()
        job(n)
        samples.append((time.process_time_ns() - start) / 1e6)
    return median(samples)


def turn(index: LedgerIndex) -> Callable[[int], object]:
    """What a turn costs: its four entries are taken in, and every clock is looked at."""
    script = BranchScript()
    entries = []
    for n in range(RUNS):
        script.user(f"{n} {WORDS}")
        for _ in range(3):
            script.assistant(WORDS * 8)
        entries.append(
            [Entry(id=f"t{n}-{e.id}", parent_id=None, kind=e.kind, message=e.message) for e in script.entries[-4:]]
        )

    def take(n: int) -> object:
        index.feed(entries[n])
        clocks(index)
        return observe_due(index, CONFIG), reflect_due(index, CONFIG), compact_due(index, CONFIG, WINDOW)

    return take


def run() -> Iterable[Row]:
    """The rows of this bench."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = written(folder, 100, 0), written(folder, ENTRIES, RECORDS)
        yield from _of_a_turn(loaded(small), loaded(large))
        yield from _of_a_session(loaded(large))
        yield _load(large)
        yield _memory(large)
    yield _stability()
    if REAL.exists():
        yield from _compression()


def _of_a_turn(small: LedgerIndex, large: LedgerIndex) -> Iterable[Row]:
    gc.collect()
    gc.disable()
    jobs = [turn(small), turn(large)]
    samples = [[timed(job, 1, first=n) for job in jobs] for n in range(RUNS)]
    gc.enable()
    first, second = (median(taken) for taken in zip(*samples, strict=True))
    bar = "value <= 0.5 and x entries_100 <= 1.3"
    yield Row(name="observe.turn", value=second, unit="ms", runs=RUNS, peers={"entries_100": first}, bar=bar)


def _of_a_session(index: LedgerIndex) -> Iterable[Row]:
    kept = index.entries[index.place_at(20_000)].id
    moment = Moment(window=WINDOW, reserve=16_384)
    ids = list(index.fold.observations)
    jobs: dict[str, tuple[Callable[[int], object], str]] = {
        "compaction": (lambda _n: compact(index, kept, CONFIG, moment), "value <= 10"),
        "status": (lambda _n: status_lines(index, CONFIG, WINDOW), "value <= 10"),
        "recall": (lambda n: recall_page(recall(index, ids[n * 7 % len(ids)])), "value <= 1"),
    }
    for name, (job, bar) in jobs.items():
        yield Row(name=f"observe.{name}", value=timed(job, 51), unit="ms", runs=51, bar=bar)


def _load(path: Path) -> Row:
    ours, theirs = [], []
    for _ in range(LOADS):
        ours.append(timed(lambda _n: loaded(path), 1))
        theirs.append(timed(lambda _n: [json.loads(line) for line in path.read_bytes().splitlines()], 1))
    peers = {"json_loads": median(theirs)}
    return Row(name="observe.load", value=median(ours), unit="ms", runs=LOADS, peers=peers, bar="x json_loads <= 3")


def _memory(path: Path) -> Row:
    """What a process grows by when it opens the session, in a process of its own."""
    command = [sys.executable, __file__, str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(Path(__file__).parent)}
    )
    return Row(name="observe.memory", value=float(done.stdout), unit="MB", runs=1, bar="value <= 45")


def _resident() -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


def _stability() -> Row:
    """The sections with new records that begin as in the render before, of renders without a drop or a trim."""
    script = BranchScript()
    for n in range(1_200):
        script.user(planted(f"fact {n} {WORDS}"))
        script.assistant("x" * 1_600)
    done = replay(script.entries, planted_observer, ObserveConfig(memory_max_tokens=40_000), window=1_000_000)
    kept = counted = 0
    for before, after in pairwise(one.compaction.details for one in done.compactions):
        earlier = record_lines(before.observations, before.reflections)
        later = record_lines(after.observations, after.reflections)
        trimmed = after.budget is None or after.budget.trimmed_observations or after.budget.trimmed_reflections
        for old, new in zip(earlier, later, strict=True):
            if trimmed or len(new) <= len(old) or set(old) - set(new):
                continue
            counted += 1
            kept += new[: len(old)] == old
    share = kept / counted if counted else 0.0
    return Row(name="observe.prefix_stability", value=share, unit="share", runs=counted, bar="value >= 0.99")


def _compression() -> Iterable[Row]:
    done = replay(read_session(REAL).branch().path(), extract, CONFIG, window=WINDOW)
    shares = [one.compaction for one in done.compactions if isinstance(one.compaction, Compaction)]
    active, shown = done.decisions
    yield Row(name="observe.compression", value=done.source_tokens / done.rendered_tokens, unit="x", runs=len(shares))
    yield Row(name="observe.decisions_visible", value=shown / active if active else 1.0, unit="share", runs=active)


if __name__ == "__main__":
    begin = _resident()
    index = loaded(Path(sys.argv[1]))
    gc.collect()
    print(round(_resident() - begin, 1))
