"""The ``smartCompact`` part of a host's ``settings.json``. Source: seed 002, "Configuration" and "Consent"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindbrain.generic._config._imports._found import Found

_NAMES = {
    "memoryBackend": "backend",
    "hindsightBaseUrl": "hindsight.baseUrl",
    "hindsightBankId": "facts.bankId",
    "hindsightApiKeyEnv": "hindsight.apiKeyRef",
    "hindsightTimeoutMs": "hindsight.timeoutMs",
    "hindsightRecallMaxTokens": "facts.recallMaxTokens",
}

TURNS_STAYED = "smartCompact (turns were not sent)"
"""What stands in a plan in place of a name, where nobody set what is taken over."""


def read_smart_compact(tree: Mapping[str, Any]) -> Found:
    """Take over the six keys that say where memory lives; the rest is not about memory.

    Only facts that the user confirmed went to the server there, and turns never did. So they do not begin to with an
    import, unless another tool's settings send them.
    """
    found = Found()
    for name, value in tree.items():
        was = f"smartCompact.{name}"
        if name == "hindsightLocalFallback":
            found.leave(was, "one backend is used and no other holds copies")
        elif name not in _NAMES:
            found.leave(was, "it does not say where memory lives")
        elif value is not None:
            found.take(was, _NAMES[name], f"env:{value}" if name == "hindsightApiKeyEnv" else value)
    if tree.get("memoryBackend") == "hindsight":
        found.take(TURNS_STAYED, "retain.enabled", value=False)
    return found
