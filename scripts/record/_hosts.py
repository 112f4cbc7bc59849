"""What differs between pi and omp: settings files, tool names, and how a prompt ends."""

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from _model import MODEL
from _rpc import Frame, HostFailedError, RpcHost
from _story import Call, Reply

PROVIDER = "loopback"
WINDOW = 128_000


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

    name, version = "pi", "1.6.0"

    def configure(self, home: Path, model_url: str) -> dict[str, str]:
        agent = home / ".pi" / "agent"
        model = {"id": MODEL, "contextWindow": WINDOW, "maxTokens": 4096}
        provider = {"baseUrl": model_url, "api": "openai-completions", "apiKey": "none", "models": [model]}
        settings = {
            "defaultProvider": PROVIDER,
            "defaultModel": MODEL,
            "defaultThinkingLevel": "off",
            "quietStartup": True,
            "compaction": {"enabled": False, "reserveTokens": 8000, "keepRecentTokens": 1500},
            "retry": {"enabled": False},
        }
        _write_json(agent / "models.json", {"providers": {PROVIDER: provider}})
        _write_json(agent / "settings.json", settings)
        return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}

    def argv(self, extension: Path) -> list[str]:
        return ["pi", "--mode", "rpc", "-e", str(extension)]

    def translate(self, call: Call) -> tuple[str, dict[str, Any]]:
        args = call.args
        if call.tool == "edit":
            return "edit", {"path": args["path"], "edits": [{"oldText": args["old"], "newText": args["new"]}]}
        return call.tool, dict(args)

    def is_settled(self, frame: Frame) -> bool:
        return frame.get("type") == "agent_settled"


class Omp(Host):
    """omp: YAML settings (JSON is YAML too) below ~/.omp; a prompt is over at an `agent_end` that does not go on."""

    name, version = "omp", "18.2.3"

    def configure(self, home: Path, model_url: str) -> dict[str, str]:
        agent = home / ".omp" / "agent"
        model = {
            "id": MODEL,
            "name": "Scripted",
            "reasoning": False,
            "input": ["text"],
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            "contextWindow": WINDOW,
            "maxTokens": 4096,
        }
        provider = {"baseUrl": model_url, "api": "openai-completions", "apiKey": "none", "models": [model]}
        role = f"{PROVIDER}/{MODEL}"
        settings = {
            "modelRoles": {"default": role, "smol": role},
            "setupVersion": 99,
            "startup": {"checkUpdate": False, "setupWizard": False, "quiet": True},
            "compaction": {"enabled": True, "keepRecentTokens": 1500},
            "edit": {"mode": "replace"},
            # A subagent ends before its parent goes on, so that the order of the answers is fixed.
            "async": {"enabled": False},
        }
        _write_json(agent / "models.yml", {"providers": {PROVIDER: provider}})
        _write_json(agent / "config.yml", settings)
        return {}

    def argv(self, extension: Path) -> list[str]:
        return ["omp", "--mode", "rpc", "--no-lsp", "--model", f"{PROVIDER}/{MODEL}", "-e", str(extension)]

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


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
