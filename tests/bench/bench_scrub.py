"""Scrubbing: how fast beside reading the JSON, one big alternation and detect-secrets; what it finds, what it spares.

The text is the 2.4 MB public pi session where it is at hand, else one of the same size and shape made here; neither
holds a secret. All count CPU time. The peers are slow, so they get every seventh line of the same text.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from _row import Row, median
from bench_client import CACHE, environment
from bench_parse import REAL, made

from hindbrain.contracts import scrub
from hindbrain.contracts._scrub_rules import RULES
from hindbrain.contracts.testing import planted_secrets

RUNS = 9
PEER_RUNS = 3
EVERY = 7
PROBE = 20_000
FAST = 25
PEER = "detect-secrets"
REQUIREMENT = "detect-secrets==1.5.0"

DETECT = """
import sys, time
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import default_settings
lines = open(sys.argv[1], encoding="utf-8").read().split("\\n")
with default_settings():
    list(scan_line("warm up"))
    start = time.process_time()
    for line in lines:
        list(scan_line(line))
print(time.process_time() - start)
"""

UNITS = (
    *(
        "token:",
        'token="',
        "token= ",
        "token\\",
        "token=\\",
        "key=key=",
        "secret_key= ",
        "PASSWORD=1",
        "password",
        "apikey",
    ),
    *("-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA\n"),
    *("://", "://a:", "://a:b@", "://hooks.slack.com/services/", "signature=", "sig=", ";pwd=", "curl ", "curl -u "),
    *("eyJ", "eyJaaaaaaaaaaa.", "QUJD" * 8, "a", "_", "-", ".", "=", "$6$", "ab.", "MTA" + "a" * 20 + "."),
    *(
        "sk-",
        "sk-\n",
        "sk-aaaaaa\n",
        "gh" + "p_",
        "gh" + "p_aaaaaa\\n",
        "AK" + "IA",
        "xoxb-",
        "SK",
        "dapi",
        "8Q~",
        ":AA",
    ),
    *("bearer ", "basic aaaaaaaa", "Cookie:a=bbbb", "auth", 'auth":"aaaaaaaaaaaaaaaaaaaa', "machine a login a "),
    *("\\u0041", "\\/", "\\\\", '\\"token\\": \\"', "\u0130", "[REDACTED:password]", "token: x_token= "),
)
"""What costs most where a rule looks at anything twice."""


def seconds(job: Callable[[], object], runs: int) -> float:
    """The median CPU time of a job."""
    taken: list[float] = []
    for _ in range(runs):
        start = time.process_time()
        job()
        taken.append(time.process_time() - start)
    return median(taken)


def detected(lines: Sequence[str]) -> float:
    """CPU seconds that detect-secrets takes, in an environment of its own."""
    python = environment(PEER, REQUIREMENT)
    text = CACHE / "scrub.txt"
    text.write_text("\n".join(lines), encoding="utf-8")
    runs = (subprocess.check_output([str(python), "-c", DETECT, str(text)], text=True) for _ in range(PEER_RUNS))
    return median([float(out) for out in runs])


def speed(lines: Sequence[str]) -> Row:
    """Megabytes a second. Either the text goes through fast, or the peers are left far behind."""
    sample = lines[::EVERY]
    size, part = (sum(map(len, some)) / 1e6 for some in (lines, sample))
    alternation = re.compile("|".join(f"(?:{rule.pattern})" for rule in RULES))
    value = round(size / seconds(lambda: [scrub(line) for line in lines], RUNS), 2)
    by_alternation = seconds(lambda: [sum(1 for _ in alternation.finditer(line)) for line in sample], PEER_RUNS)
    return Row(
        name="scrub.session",
        value=value,
        unit="MB/s",
        runs=RUNS,
        floor=round(size / seconds(lambda: [json.loads(line) for line in lines], RUNS), 2),
        peers={"alternation": round(part / by_alternation, 4), PEER: round(part / detected(sample), 4)},
        bar=f"value >= {FAST}" if value >= FAST else f"x alternation >= 15 and x {PEER} >= 100",
    )


def found() -> float:
    """The share of planted secrets that are gone, with their kind named."""
    planted = planted_secrets()
    gone = [p for p in planted if p.core not in (text := scrub(p.text)) and f"[REDACTED:{p.family}]" in text]
    return len(gone) / len(planted)


def worst() -> float:
    """Milliseconds for the hostile text that takes longest; the best of three runs of each."""
    texts = [(unit * (PROBE // len(unit) + 1))[:PROBE] for unit in UNITS]
    return 1000 * max(min(seconds(lambda text=text: scrub(text), 1) for _ in range(3)) for text in texts)  # type: ignore[misc]  # the default binds the loop's text


def rows(path: Path) -> Iterable[Row]:
    """All rows for one session."""
    lines = path.read_text(encoding="utf-8").splitlines()
    touched = sum(scrub(line) != line for line in lines) / len(lines)
    yield speed(lines)
    yield Row(name="scrub.recall", value=found(), unit="share", runs=1, bar="value >= 1")
    yield Row(name="scrub.false_lines", value=round(touched, 5), unit="share", runs=1, bar="value <= 0.01")
    yield Row(name="scrub.probe.worst", value=round(worst(), 2), unit="ms", runs=3, bar="value <= 50")


def run() -> Iterable[Row]:
    """The rows of this bench."""
    if REAL.exists():
        yield from rows(REAL)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from rows(made(Path(folder) / "made.jsonl"))
