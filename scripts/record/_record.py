"""Play the story on a real host and bring back the session files it wrote."""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from _hosts import Host
from _model import ScriptedModel
from _pinned.install import install
from _pinned.rpc import HostFailedError, RpcHost
from _story import Reply, Step, Story, Summary

EXTENSION = Path(__file__).with_name("rewind.ts")
Entry = dict[str, Any]


@dataclass(frozen=True)
class Machine:
    """The temporary machine: everything a host sees lies below `root`, as if it were `/`."""

    root: Path
    home: Path
    project: Path


@contextmanager
def temporary_machine(project: str) -> Iterator[Machine]:
    """Make the folders /home/dev/PROJECT below a temporary root and remove them again."""
    with tempfile.TemporaryDirectory(prefix="record-", ignore_cleanup_errors=True) as name:
        root = Path(name).resolve()
        home = root / "home" / "dev"
        (home / project).mkdir(parents=True)
        (home / "bin").mkdir()
        python = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
        # The story's commands say python3; a link keeps version managers and their folders out of the recording.
        (home / "bin" / "python3").symlink_to(python)
        yield Machine(root, home, home / project)


class Player:
    """Plays steps on one running host, checking that the real tools did what the script says."""

    def __init__(self, host: Host, story: Story, rpc: RpcHost, model: ScriptedModel) -> None:
        self._host, self._story, self._rpc, self._model = host, story, rpc, model
        self._ends: dict[str, str] = {}
        self.session = Path()

    def play(self, steps: list[Step]) -> None:
        """Play the steps in order; HostFailedError names the step that went astray."""
        for step in steps:
            print(f"  {step.label or step.shell or step.rewind or 'compact'}", file=sys.stderr)
            self._model.play(step.replies)
            self._obey(step)
            if self._model.unexpected:
                raise HostFailedError(f"no answer is scripted for {self._model.unexpected}")
            if left := self._model.drop():
                raise HostFailedError(f"step {step.label}: {left} scripted answers were not asked for")
            self.session = Path(self._rpc.request("get_state")["sessionFile"])
            entries = entries_of(self.session)
            self._check_tools(entries)
            if step.label:
                self._ends[step.label] = entries[-1]["id"]

    def _check_tools(self, entries: list[Entry]) -> None:
        """Compare each real tool result with what the story says of its call."""
        for message in (entry["message"] for entry in entries if "message" in entry):
            if message["role"] == "toolResult":
                call = self._model.calls[message["toolCallId"]]
                if call.fails != message["isError"]:
                    raise HostFailedError(f"{call} should {'fail' if call.fails else 'work'}: {text_of(message)}")

    def _obey(self, step: Step) -> None:
        if step.user:
            self._host.prompt(self._rpc, step.user)
        elif step.shell:
            self._rpc.request("bash", command=step.shell)
        elif step.rewind:
            self._host.rewind(self._rpc, self._ends[step.rewind])
        elif step.summary:
            self._model.aside = partial(_summarise, self._story, step.summary)
            self._rpc.request("compact", customInstructions=step.compact)
            self._model.aside = self._host.aside


def _summarise(story: Story, summary: Summary, body: dict[str, Any]) -> Reply:
    """Answer one of a compaction's requests by what it shows: an earlier summary, the whole past, or one turn."""
    shown = "".join(text_of(message) for message in body["messages"])
    prompts = [step.user for step in story.steps if step.user and step.user in shown]
    if summary.whole.splitlines()[-1] in shown:
        return Reply(summary.short)
    if story.steps[0].user in prompts:
        return Reply(summary.whole)
    return Reply(summary.turn.format(asked=prompts[-1]))


@dataclass(frozen=True)
class Recording:
    """The texts of the files a host wrote, by the name each gets in `examples/sessions`."""

    machine_root: str
    files: dict[str, bytes]


def record(host: Host, story: Story) -> Recording:
    """Install the host, play the story on it, and return what it wrote."""
    bins = install(host.name)
    with temporary_machine(story.project) as machine, ScriptedModel(host.translate, host.aside) as model:
        extra = host.configure(machine.home, model.url)
        path = ":".join([str(machine.home / "bin"), *map(str, bins), "/usr/local/bin", "/usr/bin", "/bin"])
        home = {"HOME": str(machine.home), "TMPDIR": str(machine.root), "USER": "dev", "LOGNAME": "dev"}
        env = {**home, "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "TZ": "UTC", **extra}
        with RpcHost(host.argv(EXTENSION), machine.project, env) as rpc:
            files = _play_all(host, story, rpc, model)
        return Recording(str(machine.root), {name: path.read_bytes() for name, path in files.items()})


def _play_all(host: Host, story: Story, rpc: RpcHost, model: ScriptedModel) -> dict[str, Path]:
    host.started(rpc)
    rpc.request("set_session_name", name=story.title)
    player = Player(host, story, rpc, model)
    player.play(story.steps_for(host.name))
    main, stem = player.session, f"{host.name}-{host.version}"
    files = {f"{stem}.jsonl": main}
    if aside := story.steps_for(host.name, only_in="fork"):
        rpc.request("fork", entryId=user_entry(entries_of(main), story.said(story.fork_at)))
        player.play(aside)
        files[f"{stem}-fork.jsonl"] = player.session
    for child in sorted(main.with_suffix("").glob("*.jsonl")):
        files[f"{stem}/{child.name}"] = child
    return files


def entries_of(path: Path) -> list[Entry]:
    """Return the entries of a session file, without its head lines."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [line for line in lines if line["type"] not in {"title", "session"}]


def user_entry(entries: list[Entry], text: str) -> str:
    """Return the id of the entry in which the user said exactly this; HostFailedError when there is none."""
    for entry in entries:
        message = entry.get("message", {})
        if message.get("role") == "user" and text_of(message).strip() == text.strip():
            return str(entry["id"])
    raise HostFailedError(f"no entry holds the user's text {text[:60]!r}")


def text_of(message: Entry) -> str:
    """Return the text of a message, whose content is a string or a list of parts."""
    content = message.get("content", "")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)
