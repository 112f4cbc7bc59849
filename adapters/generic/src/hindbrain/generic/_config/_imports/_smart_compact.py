"""The ``smartCompact`` part of a host's ``settings.json``. Source: seed 002, "Configuration"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindbrain.generic._config._imports._found import Found

_NAMES = {
    "memoryBackend": "backend",
    "hindsightBaseUrl": "hindsight.baseUrl",
    "hindsightBankId": "banks.project.bankId",
    "hindsightApiKeyEnv": "hindsight.apiKeyRef",
    "hindsightTimeoutMs": "hindsight.timeoutMs",
    "hindsightRecallMaxTokens": "facts.recallMaxTokens",
}


def read_smart_compact(tree: Mapping[str, Any]) -> Found:
    """Take over the six keys that say where memory lives; the rest is not about memory."""
    found = Found()
    for name, value in tree.items():
        was = f"smartCompact.{name}"
        if name == "hindsightLocalFallback":
            found.leave(was, "one backend is used and no other holds copies")
        elif name not in _NAMES:
            found.leave(was, "it does not say where memory lives")
        elif value is not None:
            found.take(was, _NAMES[name], f"env:{value}" if name == "hindsightApiKeyEnv" else value)
    return found
