"""What the documents show of the command line is what it prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hindbrain.generic import _envelope

ROOT = Path(__file__).parents[2]


def test_the_pages_show_what_the_program_prints() -> None:
    run = [sys.executable, "scripts/_docs.py", "--check"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=55, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_tells_every_exit_code() -> None:
    text = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    assert [code for code in _envelope.Exit if f"| {code.value} |" not in text] == []
