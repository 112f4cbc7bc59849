"""What a pinned host needs to start in a home of its own and to ask a model on loopback."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROVIDER = "loopback"
WINDOW = 128_000
VERSIONS = {"pi": "1.6.0", "omp": "18.2.3"}


def configure(host: str, home: Path, model: str, url: str, more: Mapping[str, Any]) -> dict[str, str]:
    """Write a host's settings below `home`, `more` among them; return the environment variables it needs."""
    agent = agent_folder(host, home)
    role = f"{PROVIDER}/{model}"
    if host == "pi":
        known = {"id": model, "contextWindow": WINDOW, "maxTokens": 4096}
        settings = {
            "defaultProvider": PROVIDER,
            "defaultModel": model,
            "defaultThinkingLevel": "off",
            "quietStartup": True,
            "retry": {"enabled": False},
        }
        models, file = agent / "models.json", agent / "settings.json"
    else:
        costs = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        known = {
            "id": model,
            "name": model,
            "reasoning": False,
            "input": ["text"],
            "cost": costs,
            "contextWindow": WINDOW,
            "maxTokens": 4096,
        }
        settings = {
            "modelRoles": {"default": role, "smol": role},
            "setupVersion": 99,
            "startup": {"checkUpdate": False, "setupWizard": False, "quiet": True},
        }
        # YAML files, which JSON is too.
        models, file = agent / "models.yml", agent / "config.yml"
    provider = {"baseUrl": url, "api": "openai-completions", "apiKey": "none", "models": [known]}
    _write_json(models, {"providers": {PROVIDER: provider}})
    _write_json(file, {**settings, **more})
    return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"} if host == "pi" else {}


def agent_folder(host: str, home: Path) -> Path:
    """Where a host keeps settings, sessions and extensions."""
    return home / f".{host}" / "agent"


def argv(host: str, model: str, *more: str) -> list[str]:
    """Return a command line; omp is told its model, and neither may look for language servers."""
    return ["pi", *more] if host == "pi" else ["omp", "--no-lsp", "--model", f"{PROVIDER}/{model}", *more]


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
