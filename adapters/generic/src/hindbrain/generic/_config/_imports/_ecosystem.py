"""``~/.hindsight/coding-agent.json`` of the official integrations. Source: spec/faults.md, part C2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindbrain.generic._config._imports._found import Found

_NAMES = {"apiUrl": "hindsight.baseUrl", "bankId": "banks.project.bankId", "retainSessions": "retain.enabled"}


def read_ecosystem(tree: Mapping[str, Any]) -> Found:
    """Take over the address, the bank and the two switches; the integrations' own behaviour stays theirs."""
    found = Found()
    for name, value in tree.items():
        if name in _NAMES:
            found.take(name, _NAMES[name], value)
        elif name == "disabled" and isinstance(value, bool):
            found.take(name, "enabled", not value)
        elif name == "apiToken":
            found.leave(name, "a key is never copied: name its place in hindsight.apiKeyRef")
        else:
            found.leave(name)
    return found
