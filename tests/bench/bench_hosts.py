"""The shim and the sidecar of pi: what a turn waits for, at histories of 2 kB to 5 MB.

The hooks are called by a harness in the host's order, under the host's own Node, on a session file that grows; so a
figure is what the host waits for, and nothing of the host is in it. Memory answers at once, but for the rows named
``embedded``. The prototype that we began with is measured the
same way where it is at hand. The last rows are of the real pi and of the process itself. Milliseconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _row import Row, median, p95

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests")]

from _pinned.install import install  # noqa: E402  (the folders above come first)
from hosts.machine import Machine, Rpc  # noqa: E402
from hosts.model import ObedientModel  # noqa: E402

from hindbrain.generic.hosts import kind_of, shim_files  # noqa: E402

HERE = Path(__file__).parent
PROTOTYPE = ROOT.parent / "shared/prototypes/pi"
SIZES = {"2kB": 2_000, "100kB": 100_000, "1MB": 1_000_000, "5MB": 5_000_000}
# pi ends a run in an error where an answer of its history does not say what it cost.
NOTHING = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
USAGE = {**NOTHING, "totalTokens": 0, "cost": {**NOTHING, "total": 0}}
ANSWERED = {
    "api": "openai-completions",
    "provider": "loopback",
    "model": "obedient-1",
    "stopReason": "stop",
    "usage": USAGE,
}
TURNS = 40
LONG = 200
PROMPTS = 31
STARTS = 11
BARE = """
import asyncio, sys
async def main():
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.readline()
    sys.stdout.write("{}\\n")
    sys.stdout.flush()
asyncio.run(main())
"""


def node() -> str:
    """The Node that pi runs on here."""
    return shutil.which("node", path=os.pathsep.join(map(str, install("pi")))) or "node"


def write_session(file: Path, project: Path, size: int) -> None:
    """A session of pi of about so many bytes."""
    stamp = "2026-01-01T00:00:00.000Z"
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "bench", "timestamp": stamp, "cwd": str(project)}
    ]
    written, number, parent = 0, 0, None
    while written < size:
        role = "assistant" if number % 2 else "user"
        text = f"Entry {number}: " + "what was said in a turn, about as long as they are. " * 10
        message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1_767_225_600_000 + number}
        if role == "assistant":
            message |= ANSWERED
        entry = {"type": "message", "id": f"h{number:07x}", "parentId": parent, "timestamp": stamp, "message": message}
        parent, number = entry["id"], number + 1
        lines.append(entry)
        written += len(json.dumps(entry)) + 1
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def drive(folder: Path, extension: Path, size: int, turns: int, *, anchor: bool = False) -> dict[str, Any]:
    """The harness's measurements, in a project and a home of their own."""
    project, agent = folder / "project", folder / "home/.pi/agent"
    (project / ".git").mkdir(parents=True)
    agent.mkdir(parents=True)
    (agent / "hindbrain.json").write_text(json.dumps({"backend": "local", "dataDir": str(folder / "data")}), "utf-8")
    session = folder / "session.jsonl"
    write_session(session, project, size)
    command = {"command": [sys.executable, str(PROTOTYPE / "sidecar.py")]}
    (folder / "prototype.json").write_text(json.dumps(command), "utf-8")
    asked = {
        "extension": str(extension),
        "file": str(session),
        "project": str(project),
        "turns": turns,
        "scratch": str(folder / "scratch"),
        "anchor": anchor,
    }
    env = {
        "HOME": str(folder / "home"),
        "PATH": os.environ["PATH"],
        "PI_CODING_AGENT_DIR": str(agent),
        "MEMSHIM_CONFIG": str(folder / "prototype.json"),
    }
    run = [
        node(),
        "--experimental-transform-types",
        "--no-warnings",
        str(HERE / "hosts_harness.mjs"),
        json.dumps(asked),
    ]
    done = subprocess.run(run, env=env, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def assembled(folder: Path, *, at_once: bool = False) -> Path:
    """Our shim as it is installed, or with a sidecar whose memory answers at once."""
    folder.mkdir(parents=True)
    for name, data in shim_files(kind_of("pi"), sys.executable).items():
        (folder / name).write_bytes(data)
    if at_once:
        command = [sys.executable, "-I", str(HERE / "_hosts_sidecar.py")]
        (folder / "shim.json").write_text(json.dumps({"command": command, "version": "bench", "protocol": 1}), "utf-8")
    return folder / "index.ts"


def started(command: list[str]) -> float:
    """Milliseconds from the start of a process to its first answer."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocol": 1, "host": "pi"}}
    begun = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(hello).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        took = (time.perf_counter() - begun) * 1000
        process.stdin.close()
    return took


def starts() -> Row:
    """The first answer of the sidecar beside that of a bare loop of asyncio."""
    bare, ours = [sys.executable, "-I", "-c", BARE], [sys.executable, "-I", "-m", "hindbrain.pi"]
    samples: dict[str, list[float]] = {"bare": [], "ours": []}
    for _ in range(STARTS):
        samples["bare"].append(started(bare))
        samples["ours"].append(started(ours))
    floor = median(samples["bare"])
    return Row(
        name="hosts.initialize",
        value=median(samples["ours"]),
        unit="ms",
        runs=STARTS,
        floor=floor,
        bar="x floor <= 1.5",
    )


def hooks(folder: Path, name: str, size: int) -> Iterable[Row]:
    """The rows of one size of history."""
    ours = drive(folder / "ours", assembled(folder / "shim", at_once=True), size, TURNS)
    embedded = drive(folder / "embedded", assembled(folder / "embedded-shim"), size, TURNS)
    if not (ours["shown"] and embedded["shown"]):
        raise RuntimeError(f"nothing was recalled, so that nothing was measured ({ours['shown']}, {embedded['shown']})")
    old = drive(folder / "old", PROTOTYPE / "ext/index.ts", size, TURNS, anchor=True) if PROTOTYPE.exists() else None
    for kind in ("miss", "hit"):
        peers = {} if old is None else {"prototype": median(old["miss"])}
        yield row(f"hosts.context.{kind}.{name}.p50", median(ours[kind]), peers, "value <= 1.5")
        yield row(
            f"hosts.context.{kind}.{name}.p95", p95(ours[kind]), {} if old is None else {"prototype": p95(old["miss"])}
        )
    yield row(f"hosts.context.miss.{name}.embedded.p50", median(embedded["miss"]), {})
    sync = median(ours["sync"])
    peers = {} if old is None else {"prototype": median(old["settled"])}
    yield Row(
        name=f"hosts.settled.{name}.p50",
        value=median(ours["settled"]),
        unit="ms",
        runs=TURNS,
        floor=sync,
        peers=peers,
        bar=f"value <= {2 + sync:.3f}",
    )
    yield row(
        f"hosts.settled.{name}.p95", p95(ours["settled"]), {} if old is None else {"prototype": p95(old["settled"])}
    )


def prompts(folder: Path) -> Row:
    """A whole prompt of the real pi at 1 MB, with and without memory, in turns; the model answers at once."""
    samples: dict[str, list[float]] = {"without": [], "with": []}
    with ObedientModel() as model, contextlib.ExitStack() as running:
        hosts: dict[str, Rpc] = {}
        for kind in samples:
            machine = Machine("pi", folder / kind, model)
            (machine.project / ".git").mkdir()
            if kind == "with":
                shutil.copytree(assembled(folder / f"{kind}-shim", at_once=True).parent, machine.installed)
            session = folder / f"{kind}.jsonl"
            write_session(session, machine.project, SIZES["1MB"])
            hosts[kind] = running.enter_context(machine.rpc("--session", str(session))).started()
        for number in range(-5, PROMPTS):
            for kind, pi in hosts.items():
                begun, before = time.perf_counter(), len(model.requests)
                pi.prompt(f"What did we decide about the harbour and number {number}?")
                took = (time.perf_counter() - begun) * 1000
                if len(model.requests) == before:
                    raise RuntimeError(f"the model was not asked, so that nothing was measured ({kind})")
                if number >= 0:
                    samples[kind].append(took)
    without = median(samples["without"])
    bar = f"value <= {without + 8:.3f}"
    peers = {"without": without}
    return Row(name="hosts.prompt.1MB", value=median(samples["with"]), unit="ms", runs=PROMPTS, peers=peers, bar=bar)


def row(name: str, value: float, peers: dict[str, float], bar: str | None = None) -> Row:
    """A row over the turns."""
    return Row(name=name, value=value, unit="ms", runs=TURNS, peers=peers, bar=bar)


def run() -> Iterable[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory(prefix="hosts-") as name:  # not below this checkout, which would be its project
        folder = Path(name)
        yield starts()
        for label, size in SIZES.items():
            yield from hooks(folder / label, label, size)
        yield prompts(folder / "prompts")
        long = drive(folder / "long/ours", assembled(folder / "long/shim"), SIZES["100kB"], LONG)
        yield Row(name=f"hosts.rss.{LONG}-turns", value=long["rss"], unit="MB", runs=1, bar="value <= 60")
        yield Row(
            name="hosts.session-replaced",
            value=long["replaced"],
            unit="ms",
            runs=1,
            peers={"start": long["start"]},
            bar="x start <= 0.3",
        )
