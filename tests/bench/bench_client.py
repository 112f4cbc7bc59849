"""The client beside the official one: time of a retain and a recall, one by one and 16 at once, and of the import.

Every client runs in a process of its own against one loopback server; the rounds take turns, so that a noisy moment
hits all of them. The floor is a raw socket that sends the same bytes. The import is CPU time over that of a bare
interpreter, in a clean environment each.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from _row import Row, median

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache" / "bench"
OFFICIAL = "hindsight-client"
REQUIREMENT = "hindsight-client==1.1.0"
ROUNDS = 9
CALLS = 160
AT_ONCE = 16
IMPORTS = 7

FIRST_CALL = """
import hindbrain.client
from hindbrain.client._answers import read_retained
from hindbrain.contracts import Endpoint
client = hindbrain.client.HindsightClient(Endpoint.parse("http://127.0.0.1:1"))
client._transport._build()
read_retained(b'{"async":true,"operation_id":"a"}')
"""


def _uv() -> str:
    return os.environ.get("UV", "uv")


def environment(name: str, *requirements: str) -> Path:
    """The interpreter of a bench-only environment, made once under ``.cache/bench``."""
    home = CACHE / name
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        subprocess.run([_uv(), "venv", "--quiet", "--clear", "--python", sys.executable, str(home)], check=True)
        subprocess.run([_uv(), "pip", "install", "--quiet", "--python", str(python), *requirements], check=True)
        (home / "ready").touch()
    return python


class Worker:
    """A client in its own process."""

    def __init__(self, python: Path, who: str, port: int) -> None:
        self.process = subprocess.Popen(
            [str(python), str(HERE / "_client_worker.py"), who, str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HINDSIGHT_API_TOKEN": "bench-key"},
        )

    def seconds(self, verb: str, at_once: int, calls: int) -> float:
        """Seconds a call."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{verb} {at_once} {calls}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def stop(self) -> None:
        """End the process by ending its input."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=10)


@contextmanager
def workers() -> Iterator[dict[str, Worker]]:
    """All clients, connected to one server."""
    peer = environment(OFFICIAL, REQUIREMENT)
    here = Path(sys.executable)
    server = subprocess.Popen(
        [sys.executable, str(HERE / "_client_loopback.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    running: dict[str, Worker] = {}
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        for who, python in {"raw": here, "httpx": here, "aiohttp": here, "official": peer}.items():
            running[who] = Worker(python, who, port)
        yield running
    finally:
        for worker in running.values():
            worker.stop()
        assert server.stdin is not None
        server.stdin.close()
        server.wait(timeout=10)


def measure() -> dict[tuple[str, str, int], float]:
    """Median seconds a call by client, verb and calls at once."""
    samples: dict[tuple[str, str, int], list[float]] = {}
    with workers() as running:
        for round_ in range(-1, ROUNDS):
            for at_once in (1, AT_ONCE):
                for verb in ("retain", "recall"):
                    for who, worker in running.items():
                        if who == "raw" and at_once > 1:
                            continue
                        seconds = worker.seconds(verb, at_once, CALLS)
                        if round_ >= 0:  # the first round warms up
                            samples.setdefault((who, verb, at_once), []).append(seconds)
    return {key: median(values) for key, values in samples.items()}


def _cpu(python: Path, code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(python), "-c", code], check=True, cwd=CACHE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def import_row() -> Row:
    """CPU seconds of the import and of all that a first call builds, over a bare interpreter."""
    ours = environment("hindbrain-client", str(ROOT / "packages" / "contracts"), str(ROOT / "packages" / "client"))
    theirs = environment(OFFICIAL, REQUIREMENT)
    samples: dict[str, list[float]] = {"ours": [], "theirs": [], "bare": []}
    for round_ in range(-1, IMPORTS):
        taken = {
            "bare": _cpu(ours, "pass"),
            "ours": _cpu(ours, FIRST_CALL),
            "theirs": _cpu(theirs, "import hindsight_client"),
        }
        if round_ >= 0:  # the first round compiles
            for who, seconds in taken.items():
                samples[who].append(seconds)
    bare = median(samples["bare"])
    return Row(
        name="client.import",
        value=round(median(samples["ours"]) - bare, 5),
        unit="s",
        runs=IMPORTS,
        peers={OFFICIAL: round(median(samples["theirs"]) - bare, 5)},
        bar=f"x {OFFICIAL} <= 0.2",
    )


def run() -> Iterable[Row]:
    """All rows."""
    took = measure()
    plan = [
        ("client", "httpx", 1, "<= 1.35"),
        ("client.fast", "aiohttp", 1, "<= 0.75"),
        ("client", "httpx", AT_ONCE, None),
        ("client.fast", "aiohttp", AT_ONCE, "<= 0.8"),
    ]
    for name, who, at_once, bar in plan:
        for verb in ("retain", "recall"):
            yield Row(
                name=f"{name}.{verb}.{'sequential' if at_once == 1 else f'concurrent{at_once}'}",
                value=took[who, verb, at_once],
                unit="s",
                runs=ROUNDS,
                floor=took["raw", verb, 1],
                peers={OFFICIAL: took["official", verb, at_once]},
                bar=bar and f"x {OFFICIAL} {bar}",
            )
    yield import_row()
