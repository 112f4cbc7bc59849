"""Values of settings as JSON, the way they stand in a file."""

from __future__ import annotations

import json
from typing import Any

from hindbrain.contracts import scrub
from hindbrain.memory import BankEntry, EnqueueGate


def plain(value: object) -> Any:
    """The value with lists, objects and words in place of our own types."""
    match value:
        case BankEntry():
            named = {} if value.id is None else {"id": value.id}
            switches = {"enabled": value.enabled, "access": str(value.access)}
            return {**named, "role": value.role, **switches, "retain": {"mode": str(value.retain_mode)}}
        case EnqueueGate():
            return {"command": list(value.command), "timeoutMs": value.timeout_ms}
        case tuple():
            return [plain(item) for item in value]
        case str():
            return str(value)
        case _:
            return value


def holds_secret(value: object) -> bool:
    """Whether something in a value looks like a key or password: such a value is neither written nor shown."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return scrub(text) != text
