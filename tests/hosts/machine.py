"""A machine of its own for one real host: a home, a project, an extension folder, and ways to start the host."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _pinned.install import install
from _pinned.rpc import Frame, HostFailedError, RpcHost
from _pinned.settings import agent_folder, argv, configure
from _pinned.shim import assemble
from hosts.model import MODEL, ObedientModel
from hosts.terminal import Pty, Terminal, Tmux

ECHO = Path(__file__).with_name("echo_sidecar.py")
SECONDS = 90.0
MORE = {
    "pi": {"compaction": {"enabled": False}},
    # A subagent ends before its parent goes on.
    "omp": {"async": {"enabled": False}},
}


class Machine:
    """Everything the host sees lies below `root`; the sidecar's log is `log`."""

    def __init__(self, host: str, root: Path, model: ObedientModel) -> None:
        self.host, self.root, self.model = host, root, model
        self.home, self.project, self.log = root / "home", root / "home" / "project", root / "sidecar.jsonl"
        self.project.mkdir(parents=True)
        extra = configure(host, self.home, MODEL, model.url, MORE[host])
        path = os.pathsep.join([*map(str, install(host)), "/usr/local/bin", "/usr/bin", "/bin"])
        home = {"HOME": str(self.home), "TMPDIR": str(root), "USER": "dev", "LOGNAME": "dev", "PATH": path}
        self.env = {**home, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "TZ": "UTC", **extra}

    @property
    def installed(self) -> Path:
        """Where an installed extension of ours lies."""
        return agent_folder(self.host, self.home) / "extensions" / "hindbrain"

    def install(self, behaviour: Frame | None = None, *, folder: Path | None = None) -> Path:
        """Put the shim and the repeating sidecar where the host looks for extensions, or into another folder."""
        command = [sys.executable, "-I", str(ECHO), str(self.log), json.dumps(behaviour or {})]
        return assemble(self.host, folder or self.installed, command)

    def install_command(self, command: Sequence[str]) -> None:
        """The same with a sidecar of another command."""
        assemble(self.host, self.installed, command)

    def print(self, text: str, *more: str) -> str:
        """One turn in print mode; the host must end well. Returns what it printed."""
        command = argv(self.host, MODEL, *more, "-p", text)
        # Whatever stands in stdin, the host would put it before the prompt.
        with subprocess.Popen(
            command,
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as host:
            said, errors = host.communicate(timeout=SECONDS)
        assert host.returncode == 0, errors[-2000:]
        return said

    def rpc(self, *more: str) -> "Rpc":
        """The host in RPC mode; use it as a context manager."""
        rpc = Rpc(argv(self.host, MODEL, "--mode", "rpc", *more), self.project, self.env)
        rpc.host = self.host
        return rpc

    def tui(self, *more: str, kind: type[Tmux | Pty] | None = None) -> Terminal:
        """The host in a terminal of 100 by 30, of tmux where that is there; use it as a context manager."""
        mode = ["--tui-mode", "regular"] if self.host == "pi" else []
        env = {**self.env, "TERM": "xterm-256color"}
        return Terminal(argv(self.host, MODEL, *mode, *more), self.project, env, self.root, kind)

    def events(self, kind: str) -> list[Frame]:
        """What the sidecar noted of this kind, in order."""
        lines = self.log.read_text("utf-8").splitlines() if self.log.exists() else []
        return [event for line in lines if (event := json.loads(line))["kind"] == kind]

    def calls(self, method: str) -> list[Any]:
        """The parameters of the calls of this method that reached the sidecar."""
        return [e["frame"]["params"] for e in self.events("frame") if e["frame"].get("method") == method]

    def pids(self) -> list[int]:
        """The sidecars that were started, oldest first."""
        return [event["pid"] for event in self.events("start")]

    def processes(self, word: str = "") -> list[int]:
        """What runs in this machine's home with this word in its command."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and is_alive(int(folder.name)):
                try:
                    command, env = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
                except OSError:
                    continue
                if word.encode() in command and os.fsencode(f"HOME={self.home}\0") in env:
                    found.append(int(folder.name))
        return found

    def sessions(self) -> list[Path]:
        """The session files, oldest first."""
        found = agent_folder(self.host, self.home).joinpath("sessions").rglob("*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)


class Rpc(RpcHost):
    """RPC mode as a user sees it: prompts, commands and what the host shows."""

    host: str

    def started(self) -> "Rpc":
        """Wait until the host takes commands."""
        if self.host == "omp":
            self.wait(lambda frame: frame.get("type") == "ready")
        else:
            self.request("get_state")
        return self

    def prompt(self, text: str) -> None:
        """Send a prompt and wait for the end of its work."""
        self.request("prompt", message=text)
        self.wait(self.is_settled)

    def is_settled(self, frame: Frame) -> bool:
        """Whether a frame says that a prompt's work is over."""
        if self.host == "pi":
            return frame.get("type") == "agent_settled"
        return frame.get("type") == "agent_end" and not frame.get("willContinue")

    def command(self, text: str) -> str:
        """Run a slash command and return what it showed."""
        self.send("prompt", message=text)
        return str(self.wait(lambda frame: frame.get("method") == "notify")["message"])

    def answer(self, method: str, **fields: Any) -> Frame:
        """Wait for a question of the host's UI, answer it, and return it."""
        asked = self.wait(lambda frame: frame.get("type") == "extension_ui_request" and frame.get("method") == method)
        self.send("extension_ui_response", **{**fields, "id": asked["id"]})
        return asked


def eventually(check: Callable[[], Any], seconds: float = 20.0) -> Any:
    """The first true value of a check that something outside this process makes true."""
    until = time.monotonic() + seconds
    while not (value := check()):
        if time.monotonic() > until:
            raise HostFailedError(f"{check} did not come true within {seconds:.0f} s")
        time.sleep(0.02)
    return value


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended but was not waited for does not."""
    return _state(pid) not in "ZX"


def is_stopped(pid: int) -> bool:
    """Whether a process stands still by SIGSTOP."""
    return _state(pid) == "T"


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"
