"""pi, as the commands that install its shim know it. Source: spec/pi-host.md section 6."""

from __future__ import annotations

import json
from pathlib import Path

import hindbrain.bridge
from hindbrain.generic.hosts import HostKind
from hindbrain.pi import VERSION


def _settings(url: str, model: str) -> dict[str, str]:
    known = {"id": model, "contextWindow": 128_000, "maxTokens": 4096}
    provider = {"baseUrl": url, "api": "openai-completions", "apiKey": "none", "models": [known]}
    chosen = {"defaultProvider": "loopback", "defaultModel": model, "defaultThinkingLevel": "off", "quietStartup": True}
    return {
        "models.json": json.dumps({"providers": {"loopback": provider}}),
        "settings.json": json.dumps({**chosen, "retry": {"enabled": False}}),
    }


KIND = HostKind(
    name="pi",
    version=VERSION,
    module="hindbrain.pi",
    shim=Path(__file__).with_name("shim") / "index.ts",
    core=Path(hindbrain.bridge.__file__).with_name("shim") / "core.ts",
    protocol=hindbrain.bridge.PROTOCOL,
    home=".pi/agent",
    manifest="pi",
    trial_settings=_settings,
)
