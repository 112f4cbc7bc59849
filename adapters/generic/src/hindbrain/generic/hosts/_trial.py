"""Starting the real host once, in a home of its own and against a model on loopback, to see each seam work.

Nothing of the user's is read or changed but the host's program and its shim; nothing leaves this machine.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from hindbrain.generic.hosts._kinds import HostKind
from hindbrain.generic.hosts._loopback import NAME, LoopbackModel
from hindbrain.generic.hosts._place import install
from hindbrain.generic.hosts._shim import shim_files

SECONDS = 90.0
"""The longest one turn of the host may take; it takes two or three."""
_KEPT_OF_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "TEMP")
TURNS = 2
_BLOCK = "<hindsight-memory>"


@frozen(kw_only=True)
class Seam:
    """One place where host and memory meet, and whether it held. ``advice`` says what to do where it did not."""

    name: str
    holds: bool
    text: str
    advice: str = ""


@frozen(kw_only=True)
class Trial:
    """A host in a home of its own.

    Attributes:
        kind: the host.
        program: its executable.
        home: the home, made for this.
        model: what it asks.
    """

    kind: HostKind
    program: str
    home: Path
    model: LoopbackModel

    @property
    def project(self) -> Path:
        """Where it works."""
        return self.home / "project"

    @property
    def agent(self) -> Path:
        """Its agent folder."""
        return self.home / self.kind.home

    def prepare(self) -> None:
        """Write the settings of the host and of memory, and install the shim."""
        (self.project / ".git").mkdir(parents=True)
        self.agent.mkdir(parents=True)
        for name, text in self.kind.trial_settings(self.model.url, NAME).items():
            (self.agent / name).write_text(text, "utf-8")
        memory = {"backend": "local", "dataDir": str(self.home / "data")}
        (self.agent / "hindbrain.json").write_text(json.dumps(memory), "utf-8")
        install(self.kind.user_folder({}, self.home), shim_files(self.kind, sys.executable))

    def turn(self, prompt: str) -> bool:
        """One prompt in print mode; whether the host came to a good end."""
        kept = {name: os.environ[name] for name in _KEPT_OF_ENVIRONMENT if name in os.environ}
        environment = {**kept, "HOME": str(self.home), "NO_COLOR": "1", "PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"}
        command = [self.program, *self.kind.trial_arguments, "-p", prompt]
        try:
            done = subprocess.run(  # noqa: S603 - the host that the user named, found on PATH
                command,
                cwd=self.project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0


def try_host(kind: HostKind) -> list[Seam]:
    """Two turns of the real host: what the first was told, the second has to be shown. Blocks for some seconds."""
    program = shutil.which(kind.name)
    if program is None:
        advice = f"Install {kind.name}, or put it on PATH."
        return [Seam(name="start", holds=False, text=f"{kind.name} was not found on PATH.", advice=advice)]
    with (
        tempfile.TemporaryDirectory(prefix="hindbrain-", ignore_cleanup_errors=True) as folder,
        LoopbackModel() as model,
    ):
        trial = Trial(kind=kind, program=program, home=Path(folder).resolve(), model=model)
        trial.prepare()
        return list(_seams(trial))


def _seams(trial: Trial) -> Iterator[Seam]:
    word, name = f"cedar{secrets.token_hex(4)}", trial.kind.name
    first = trial.turn(f"Keep in mind that the word of the day is {word}.")
    second = trial.turn("What is the word of the day?")
    asked = len(trial.model.requests)
    yield Seam(
        name="start",
        holds=first and second and asked >= TURNS,
        text=f"{name} ran two turns and asked the model {asked} times.",
        advice=f"Run `{name} -p hello`: it has to work before memory can.",
    )
    if asked < TURNS:
        return
    again = f"Run `hindbrain install {name}` and look at `hindbrain hosts`."
    tools = _tools(trial.model.requests[-1])
    offered = sorted(tool for tool in tools if tool.startswith("hindsight_"))
    yield Seam(name="tools", holds=bool(offered), text=f"The model is offered {len(offered)} tools.", advice=again)
    queue = trial.project / f".{name}" / "hindsight" / "retain-queue.jsonl"
    kept = queue.exists() and word.encode() in queue.read_bytes()
    yield Seam(
        name="retain", holds=kept, text="A finished turn is on the disk." if kept else "No turn was kept.", advice=again
    )
    last = json.dumps(trial.model.requests[-1].get("messages"), ensure_ascii=False)
    shown = _BLOCK in last and word in last
    text = "The next session is shown what this one was told." if shown else "Nothing of it was shown to the model."
    yield Seam(name="recall", holds=shown, text=text, advice=again)
    sessions = [path.read_bytes() for path in trial.agent.joinpath("sessions").rglob("*.jsonl")]
    clean = bool(sessions) and not any(_BLOCK.encode() in each for each in sessions)
    text = "What was shown is in no session file." if clean else "What was shown was written to the session."
    yield Seam(name="transcript", holds=clean, text=text, advice=again)


def _tools(body: Mapping[str, Any]) -> set[str]:
    found = body.get("tools")
    named = [each.get("function") for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return {str(each.get("name")) for each in named if isinstance(each, dict)}
