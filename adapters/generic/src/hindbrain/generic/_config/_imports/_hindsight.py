"""``hindsight.json`` of the TypeScript extension. Its names are ours for the most part; some are older still.

Source: spec/memory.md sections 1.1 to 1.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindbrain.generic._config._imports._found import LATER, UNKNOWN, Found
from hindbrain.generic._config._keys import ALIASES, BY_PATH
from hindbrain.generic._config._merge import flatten

_MISSIONS = ("mission", "retainMission", "reflectMission", "observationsMission", "retainStructuredChunkSize")
_ON_SERVER = "a bank's missions live on the server"
_WHY = {
    "recall.timeoutMs": "recall.deadlineMs bounds all banks together",
    "recall.injectionMode": "there is one way",
    "retain.redactSecrets": "secrets are always taken out",
    "retain.updateMode": "a live session always appends, an import always replaces",
    "retain.async": "the server always works by itself",
    "retain.queuePath": "the queue lies in the host's state folder",
    "scope.mode": "projects share a bank by tags; name a bank in banks.project.bankId to keep one apart",
    "banks.project.derive": "the project's identity gives the bank; name one in banks.project.bankId to pin it",
    "setupComplete": "it is false: nothing was to be sent yet",
    "recall.userQueryPreamble": "there is one recall.queryPreamble for all banks",
    "recall.globalQueryPreamble": "there is one recall.queryPreamble for all banks",
    "recall.projectQueryPreamble": "there is one recall.queryPreamble for all banks",
}
_LATER = (
    "decision.",
    "mentalModels.",
    "import.",
    "banksFallback",
    "recall.mode",
    "recall.bankMode",
    "agentUse",
    "retain.post",
)


def read_hindsight(tree: Mapping[str, Any]) -> Found:
    """Take over what we know, with the older names of banks and modes brought up to date."""
    found = Found()
    rest = dict(tree)
    _banks(rest.pop("banks", None), found)
    for key in ALIASES:
        _retain_mode(rest, key.path, found)
    server = rest.pop("hindsight", None)
    if isinstance(server, Mapping):
        server = dict(server)
        _api_key(server.pop("apiKey", None), found)
        rest["hindsight"] = server
    if rest.get("setupComplete") is True:
        del rest["setupComplete"]
        found.take("setupComplete", "backend", "hindsight")
    for path, value in flatten(rest):
        if path in BY_PATH:
            found.take(path, path, value)
        else:
            found.leave(path, LATER if path.startswith(_LATER) else _WHY.get(path, UNKNOWN))
    return found


def _banks(banks: Any, found: Found) -> None:
    if isinstance(banks, list):
        found.take("banks", "banks", banks)
    if not isinstance(banks, Mapping):
        return
    # An alias's own rule says which of two spellings of one bank wins: the last here.
    for slot, names in (("project", ("coding", "project")), ("user", ("global", "user", "life"))):
        merged: dict[str, tuple[str, Any]] = {}
        for name in names:
            inner = banks.get(name)
            if isinstance(inner, Mapping):
                merged |= {field: (f"banks.{name}.{field}", value) for field, value in inner.items()}
        _slot(slot, merged, found)
    for name in banks:
        if name not in {"coding", "project", "global", "user", "life"}:
            found.leave(f"banks.{name}")


def _slot(slot: str, fields: Mapping[str, tuple[str, Any]], found: Found) -> None:
    for field, (was, value) in fields.items():
        if field in {"bankId", "enabled"}:
            found.take(was, f"banks.{slot}.{field}", value)
        elif field == "retain" and isinstance(value, Mapping) and "mode" in value:
            found.take(f"{was}.mode", f"banks.{slot}.retain.mode", value["mode"])
        else:
            found.leave(was, _ON_SERVER if field in _MISSIONS else _WHY.get(f"banks.{slot}.{field}", UNKNOWN))
    if slot == "user" and "bankId" in fields and "enabled" not in fields:
        # There a user's bank is off unless it is switched on; here it is on where it is named.
        found.take("banks.user.enabled (not set)", "banks.user.enabled", value=False)


def _retain_mode(rest: dict[str, Any], path: str, found: Found) -> None:
    name = path.partition(".")[0]
    said = rest.pop(name, None)
    if isinstance(said, Mapping) and "mode" in said:
        found.take(path, "banks.user.retain.mode", "explicit-only" if said["mode"] == "router" else said["mode"])


def _api_key(key: Any, found: Found) -> None:
    match key:
        case None:
            return
        case {"source": "env", "name": str(name)}:
            found.take("hindsight.apiKey", "hindsight.apiKeyRef", f"env:{name}")
        case str(text) if text.startswith("env:"):
            found.take("hindsight.apiKey", "hindsight.apiKeyRef", text)
        case _:
            found.leave("hindsight.apiKey", "a key is never copied: name its place in hindsight.apiKeyRef")
