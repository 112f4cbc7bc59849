"""The ``hindbrain`` command as a process of its own that need not load everything anew each time."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

FORKSERVER = Path(__file__).with_name("forkserver.py")


class Command(Protocol):
    """Runs the command to its end."""

    def __call__(
        self, *args: str | bytes, cwd: Path, env: Mapping[str, str], stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """What it said, bytes that are no UTF-8 as lone surrogates."""
        ...


@pytest.fixture(scope="session")
def forkserver() -> Iterator["subprocess.Popen[str]"]:
    """A process that has loaded the command and forks one for each line that it is told (forkserver.py)."""
    process = subprocess.Popen([sys.executable, FORKSERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process
    process.communicate(timeout=20)


@pytest.fixture
def hindbrain(forkserver: "subprocess.Popen[str]") -> Iterator[Command]:
    """The command, as the installed script begins it; what the script and its loading do is for other tests."""
    # Not tmp_path: tests look at what lies there.
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("in", "out", "err")]

        def run(
            *args: str | bytes, cwd: Path, env: Mapping[str, str], stdin: str = ""
        ) -> subprocess.CompletedProcess[str]:
            files[0].write_text(stdin, "utf-8", errors="surrogateescape")
            words = [os.fsdecode(each) for each in args]
            asked: dict[str, Any] = {"args": words, "cwd": str(cwd), "env": dict(env), "files": [str(f) for f in files]}
            assert forkserver.stdin is not None
            assert forkserver.stdout is not None
            forkserver.stdin.write(json.dumps(asked) + "\n")
            forkserver.stdin.flush()
            code = int(forkserver.stdout.readline())
            out, err = (each.read_text("utf-8", errors="surrogateescape") for each in files[1:])
            return subprocess.CompletedProcess(["hindbrain", *words], code, out, err)

        yield run
