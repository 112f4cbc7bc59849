"""What speaks against settings that are each of the right form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hindbrain.generic._config._merge import Settings
from hindbrain.generic._config._typed import bank_entries

PLACEHOLDERS = ("projectId", "repoKey", "sessionId", "cwdHash", "projectBankId", "bankId")
"""What a tag of ``observations.scopes`` may hold in braces. Source: seed 000; projectId is upstream's."""


def conflicts(settings: Settings) -> Iterator[str]:
    """A sentence for each two settings that do not go together, or one that can have no effect."""
    s = settings
    if bool(s["embedder.baseUrl"]) != bool(s["embedder.model"]):
        yield "embedder.baseUrl and embedder.model have an effect only together."
    if s["embedder.baseUrl"] and s["backend"] != "local":
        yield "embedder.baseUrl has no effect: the server makes its own embeddings."
    if s["recall.storeLastRecallFailures"] and not s["recall.storeLastRecall"]:
        yield "recall.storeLastRecallFailures has no effect while recall.storeLastRecall is false."
    if (
        s["recall.maxSourceFactsTokens"] != _default("recall.maxSourceFactsTokens")
        and not s["recall.includeSourceFacts"]
    ):
        yield "recall.maxSourceFactsTokens has no effect while recall.includeSourceFacts is false."
    if (s["observe.model.provider"] is None) != (s["observe.model.id"] is None):
        yield "observe.model.provider and observe.model.id have an effect only together; the session's model works."
    if (s["observe.endpoint.baseUrl"] is None) != (s["observe.endpoint.model"] is None):
        yield "observe.endpoint.baseUrl and observe.endpoint.model have an effect only together."
    target, most = s["observe.observationsPoolTargetTokens"], s["observe.observationsPoolMaxTokens"]
    if target is not None and target >= most:
        yield (
            "observe.observationsPoolTargetTokens is not below observe.observationsPoolMaxTokens; half of that is used."
        )
    known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    for name in _unknown_placeholders(s):
        yield f"observations.scopes names the placeholder {name[:80]!r}, which is not known. There are {known}."
    entries = bank_entries(s)
    if s["retain.enabled"] and not any(entry.retained_always for entry in entries):
        yield "No bank takes every turn, so nothing is retained automatically."


def _default(path: str) -> object:
    from hindbrain.generic._config._keys import BY_PATH

    return BY_PATH[path].default


def _unknown_placeholders(s: Settings) -> list[str]:
    tags = [tag for row in s["observations.scopes"] or () for tag in row]
    names = dict.fromkeys(name for tag in tags for name in re.findall(r"\{([^{}]*)\}", tag))
    return [name for name in names if name not in PLACEHOLDERS]
