"""``ext_settings.json`` of the observational-memory extension, and its settings of before. Source: seed 004."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hindbrain.generic._config._imports._found import LATER, Found, leaves
from hindbrain.generic._config._keys_observe import OBSERVE

NAMESPACE, OLD_NAMESPACE = "pi-ext-memory", "observational-memory"
_OBSERVE = frozenset(key.path.removeprefix("observe.") for key in OBSERVE)
"""Settings of observational memory, which stand under ``observe`` here."""
_SERVER = {
    "apiUrl": "hindsight.baseUrl",
    "bankId": "banks.project.bankId",
    "autoRecall": "recall.enabled",
    "retainSessions": "retain.enabled",
    "readTimeoutMs": "hindsight.timeoutMs",
}
_RENAMED = {
    "observationThresholdTokens": "observeAfterTokens",
    "compactionThresholdTokens": "compactAfterTokens",
    "compactionModel.provider": "model.provider",
    "compactionModel.id": "model.id",
    "thinkingLevel": "model.thinking",
    "passive": "passive",
    "debugLog": "debugLog",
}
_TURNS = ("observerMaxTurnsPerRun", "reflectorMaxTurnsPerPass", "prunerMaxTurnsPerPass")
_WHY_OLD = {
    "reflectionThresholdTokens": "it became three: observe.reflectAfterTokens, observe.observationsPoolMaxTokens and"
    " observe.observationsPoolTargetTokens; set those that you mean",
    "compactionMaxToolCalls": "nothing took its place",
}


def read_ext_memory(tree: Mapping[str, Any]) -> Found:
    """Take over both parts: observational memory goes under ``observe``, the server's settings to their own keys."""
    found = Found()
    now, before = tree.get(NAMESPACE), tree.get(OLD_NAMESPACE)
    if isinstance(before, Mapping):
        _old(before, OLD_NAMESPACE, found)
    if isinstance(now, Mapping):
        rest = dict(now)
        server = rest.pop("hindsight", None)
        if isinstance(server, Mapping):
            _server(server, found)
        old = {name: rest.pop(name) for name in list(rest) if _is_old(name) and name not in _OBSERVE}
        _old(old, NAMESPACE, found)
        for name, value in leaves(rest):
            if name in _OBSERVE:
                found.take(f"{NAMESPACE}.{name}", f"observe.{name}", value)
            else:
                found.leave(f"{NAMESPACE}.{name}")
    return found


def _is_old(name: str) -> bool:
    return name in _TURNS or name in _WHY_OLD or any(old.partition(".")[0] == name for old in _RENAMED)


def _old(tree: Mapping[str, Any], namespace: str, found: Found) -> None:
    """The names of before. Where three caps became one, the largest is kept, so that no worker is cut shorter."""
    turns: list[tuple[str, Any]] = []
    for name, value in leaves(tree):
        was = f"{namespace}.{name}"
        if name in _RENAMED:
            found.take(was, f"observe.{_RENAMED[name]}", value)
        elif name in _TURNS:
            turns.append((was, value))
        elif name in _WHY_OLD:
            found.leave(was, _WHY_OLD[name])
        else:
            found.leave(was, f"this part of the file is not read any more: put it under {NAMESPACE}")
    counts = [value for _, value in turns if type(value) is int]
    for was, value in turns:
        found.take(was, "observe.agentMaxTurns", max(counts) if type(value) is int else value)


def _server(tree: Mapping[str, Any], found: Found) -> None:
    for name, value in tree.items():
        was = f"{NAMESPACE}.hindsight.{name}"
        if name == "apiToken":
            if value:
                found.leave(was, "a key is never copied: name its place in hindsight.apiKeyRef")
        elif name == "enabled":
            if value is True:
                found.take(was, "backend", "hindsight")
            else:
                found.leave(was, "the server was not in use")
        elif name in _SERVER:
            if value != "":
                found.take(was, _SERVER[name], value)
        else:
            found.leave(was, LATER)
