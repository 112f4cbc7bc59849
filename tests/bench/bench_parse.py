"""Session files: time to read one into entries, beside reading and splitting its bytes.

The file is the 2.4 MB public pi session where it is at hand, else one of the same size and shape made here. Runs take
turns with the floor, and all count CPU time, so that a busy machine does not change the ratio.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from _row import Row, median

from hindbrain.memory.sessions import SessionReader, iter_session, read_session

RUNS = 31
REAL = Path(__file__).parents[3] / "shared" / "data" / "pi-before-compaction.jsonl"
CODE = 'export function at(list: string[], index: number) {\n\tif (index < 0) throw new Error("below 0");\n}\n'


def made(path: Path) -> Path:
    """A session of 1,003 lines and 2.4 MB: a user's word, then calls and long results, as coding sessions are."""
    usage = {"input": 5, "output": 171, "cacheRead": 0, "cacheWrite": 9000, "cost": {"input": 0.1, "total": 0.2}}
    entries: list[dict[str, object]] = [{"type": "session", "id": "bench", "timestamp": _iso(0), "cwd": "/home/dev/p"}]
    for n in range(501):
        call = {
            "type": "toolCall",
            "id": f"call_{n}",
            "name": "edit",
            "arguments": {"path": "a.ts", "newText": CODE * 9},
        }
        answer = {"role": "assistant", "content": [{"type": "text", "text": "Next."}, call], "usage": usage}
        result = {"role": "toolResult", "toolCallId": f"call_{n}", "toolName": "edit", "isError": False}
        content = {"content": [{"type": "text", "text": CODE * 20}], "details": {"diff": CODE * 6}}
        entries += [
            {"type": "message", "timestamp": _iso(n), "message": {**answer, "model": "m", "timestamp": 1765233669389}},
            {"type": "message", "timestamp": _iso(n), "message": {**result, **content, "timestamp": 1765233669394}},
        ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def _iso(n: int) -> str:
    return f"2025-12-08T{n // 60:02d}:{n % 60:02d}:09.389Z"


def timed(*jobs: Callable[[], object]) -> list[float]:
    """The median CPU time of each job, in seconds; the jobs take turns."""
    samples: list[list[float]] = [[] for _ in jobs]
    for _ in range(RUNS):
        for job, taken in zip(jobs, samples, strict=True):
            start = time.process_time()
            result = job()
            taken.append(time.process_time() - start)
            del result
    return [median(taken) for taken in samples]


def rows(path: Path) -> Iterable[Row]:
    """One row with the bar, and what the other two doors take."""
    floor, whole, stepwise, growing = timed(
        lambda: path.read_bytes().split(b"\n"),
        lambda: read_session(path),
        lambda: sum(1 for _ in iter_session(path)),
        lambda: SessionReader(path).read_new(),
    )
    yield Row(name="parse.pi_session", value=whole, unit="s", runs=RUNS, floor=floor, bar="x floor <= 8")
    yield Row(name="parse.pi_session.stepwise", value=stepwise, unit="s", runs=RUNS, floor=floor)
    yield Row(name="parse.pi_session.growing", value=growing, unit="s", runs=RUNS, floor=floor)


def run() -> Iterable[Row]:
    """The rows of this bench."""
    if REAL.exists():
        yield from rows(REAL)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from rows(made(Path(folder) / "made.jsonl"))
