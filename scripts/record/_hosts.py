"""What differs between pi and omp: settings files, tool names, and how a prompt ends."""

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from _model import MODEL
from _pinned.rpc import Frame, HostFailedError, RpcHost
from _pinned.settings import VERSIONS, argv, configure
from _story import Call, Reply


class Host(ABC):
    """One host, told how to start in a home of its own and how to obey."""

    name: str
    version: str

    @abstractmethod
    def configure(self, home: Path, model_url: str) -> dict[str, str]:
        """Write the host's settings below `home` and return the environment variables it needs."""

    @abstractmethod
    def argv(self, extension: Path) -> list[str]:
        """Return the command line of RPC mode."""

    @abstractmethod
    def translate(self, call: Call) -> tuple[str, dict[str, Any]]:
        """Return the host's tool name and arguments for a neutral call."""

    def aside(self, _body: dict[str, Any]) -> Reply | None:
        """Return the answer to a request outside the story, or None."""
        return None

    @abstractmethod
    def is_settled(self, frame: Frame) -> bool:
        """Tell whether this frame says that the prompt's work is over."""

    def started(self, rpc: RpcHost) -> None:
        """Wait until the host takes commands."""
        rpc.request("get_state")

    def prompt(self, rpc: RpcHost, text: str) -> None:
        """Send a prompt and wait for the end of its work."""
        rpc.request("prompt", message=text)
        rpc.wait(self.is_settled)

    def rewind(self, rpc: RpcHost, entry: str) -> None:
        """Make an entry the leaf of the tree, by the command of `rewind.ts`."""
        rpc.send("prompt", message=f"/rewind {entry}")
        note = rpc.wait(lambda frame: str(frame.get("message", "")).startswith("rewind:"))
        if note["message"] != "rewind: done":
            raise HostFailedError(note["message"])


class Pi(Host):
    """pi: JSON settings in the agent folder; a prompt is over at `agent_settled`."""

    name, version = "pi", VERSIONS["pi"]

    def configure(self, home: Path, model_url: str) -> dict[str, str]:
        compaction = {"enabled": False, "reserveTokens": 8000, "keepRecentTokens": 1500}
        return configure("pi", home, MODEL, model_url, {"compaction": compaction})

    def argv(self, extension: Path) -> list[str]:
        return argv("pi", MODEL, "--mode", "rpc", "-e", str(extension))

    def translate(self, call: Call) -> tuple[str, dict[str, Any]]:
        args = call.args
        if call.tool == "edit":
            return "edit", {"path": args["path"], "edits": [{"oldText": args["old"], "newText": args["new"]}]}
        return call.tool, dict(args)

    def is_settled(self, frame: Frame) -> bool:
        return frame.get("type") == "agent_settled"


class Omp(Host):
    """omp: YAML settings (JSON is YAML too) below ~/.omp; a prompt is over at an `agent_end` that does not go on."""

    name, version = "omp", VERSIONS["omp"]

    def configure(self, home: Path, model_url: str) -> dict[str, str]:
        more = {
            "compaction": {"enabled": True, "keepRecentTokens": 1500},
            "edit": {"mode": "replace"},
            # A subagent ends before its parent goes on, so that the order of the answers is fixed.
            "async": {"enabled": False},
        }
        return configure("omp", home, MODEL, model_url, more)

    def argv(self, extension: Path) -> list[str]:
        return argv("omp", MODEL, "--mode", "rpc", "-e", str(extension))

    def started(self, rpc: RpcHost) -> None:
        rpc.wait(lambda frame: frame.get("type") == "ready")

    def translate(self, call: Call) -> tuple[str, dict[str, Any]]:
        args = call.args
        if call.tool == "edit":
            return "edit", {"path": args["path"], "old_string": args["old"], "new_string": args["new"]}
        if call.tool == "task":
            task = {"name": args["name"], "task": args["text"]}
            return "task", {"agent": "task", "context": "csvpush", "tasks": [task]}
        if call.tool == "done":
            return "yield", {"data": {"verdict": args["text"]}}
        return call.tool, dict(args)

    def aside(self, body: dict[str, Any]) -> Reply | None:
        # omp has each delegated task labelled by a call without tools, beside the subagent's own calls.
        if not body.get("tools") and "<title>" in json.dumps(body["messages"][0]):
            return Reply("<title>Review the retry policy</title>")
        return None

    def is_settled(self, frame: Frame) -> bool:
        return frame.get("type") == "agent_end" and not frame.get("willContinue")
