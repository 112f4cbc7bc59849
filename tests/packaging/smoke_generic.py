"""generic alone: the installed command tells its versions and gives a recorded session a memory."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HINDBRAIN = Path(sys.executable).with_name("hindbrain")
SESSION = Path(__file__).parents[2] / "examples/sessions/pi-1.6.0.jsonl"


def run(*arguments: str | Path, home: str = "") -> str:
    """What the command prints, in an environment that sets nothing."""
    done = subprocess.run(
        [HINDBRAIN, *arguments], env={"HOME": home}, capture_output=True, text=True, timeout=40, check=True
    )
    return done.stdout


assert run("--version").split()[::2] == [
    f"hindbrain-{name}" for name in ("contracts", "client", "store", "memory", "observe", "generic")
]
with tempfile.TemporaryDirectory() as folder:
    question = "which retry policy did we choose, and why?"
    said = run("replay", SESSION, "--ask", question, "--json", "--data-dir", folder, home=folder)
assert "retry" in json.loads(said)["data"]["injected"]["text"]
