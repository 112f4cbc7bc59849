"""omp, as the commands that install its shim know it. Source: spec/omp-host.md sections 2 and 8."""

from __future__ import annotations

import json
from pathlib import Path

import hindbrain.bridge
from hindbrain.generic.hosts import HostKind
from hindbrain.omp import VERSION


def _settings(url: str, model: str) -> dict[str, str]:
    """YAML files, which JSON is too."""
    costs = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
    known = {"id": model, "name": model, "reasoning": False, "input": ["text"], "cost": costs, "contextWindow": 128_000}
    provider = {
        "baseUrl": url,
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{**known, "maxTokens": 4096}],
    }
    role = f"loopback/{model}"
    quiet = {"checkUpdate": False, "setupWizard": False, "quiet": True}
    chosen = {"modelRoles": {"default": role, "smol": role}, "setupVersion": 99, "startup": quiet}
    return {"models.yml": json.dumps({"providers": {"loopback": provider}}), "config.yml": json.dumps(chosen)}


KIND = HostKind(
    name="omp",
    version=VERSION,
    module="hindbrain.omp",
    shim=Path(__file__).with_name("shim") / "index.ts",
    core=Path(hindbrain.bridge.__file__).with_name("shim") / "core.ts",
    protocol=hindbrain.bridge.PROTOCOL,
    home=".omp/agent",
    profiles=("OMP_PROFILE", ".omp/profiles"),
    manifest="omp",
    trial_settings=_settings,
    trial_arguments=("--no-lsp",),
    settings="config.yml",
)
