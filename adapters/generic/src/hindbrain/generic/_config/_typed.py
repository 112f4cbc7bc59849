"""Effective settings as the frozen values the rooms ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import evolve

from hindbrain.contracts import Budget, MinScores
from hindbrain.generic._config._merge import Settings
from hindbrain.memory import (
    BankEntry,
    EnqueueGate,
    MemoryConfig,
    ObservationConfig,
    RecallConfig,
    RetainConfig,
    RetainMode,
    ScopeConfig,
)

REFUSE_ALL = EnqueueGate(command=())
"""In place of a gate that was misspelt: a check that was asked for and cannot run lets nothing through."""


def memory_config(s: Settings) -> MemoryConfig:
    """The memory path's settings."""
    banks = bank_entries(s)
    project = next((entry for entry in banks if entry.role == "coding"), None)
    user = next((entry for entry in banks if entry.is_user and entry.enabled), None)
    return MemoryConfig(
        enabled=s["enabled"],
        project_bank=project.id if project else None,
        user_bank=user.id if user else None,
        banks=banks,
        recall=_recall(s),
        retain=_retain(s),
        scope=_scope(s),
        observations=ObservationConfig(enabled=s["observations.enabled"], scopes=s["observations.scopes"]),
    )


def bank_entries(s: Settings) -> tuple[BankEntry, ...]:
    """All banks: the list, where one is given, and over it what a higher layer says in the two slots."""
    listed = s["banks"]
    entries = (BankEntry(id=None),) if listed is None else listed
    entries = _with_slot(s, "project", entries, "coding", lambda entry: entry.role == "coding")
    return _with_slot(s, "user", entries, "user", lambda entry: entry.is_user)


def _with_slot(
    s: Settings, slot: str, entries: tuple[BankEntry, ...], role: str, is_meant: Callable[[BankEntry], bool]
) -> tuple[BankEntry, ...]:
    said: dict[str, Any] = {}
    for name, path in (("id", "bankId"), ("enabled", "enabled"), ("retain_mode", "retain.mode")):
        setting = s.values[f"banks.{slot}.{path}"]
        if setting.origin != "default" and setting.value is not None:
            said[name] = RetainMode(setting.value) if name == "retain_mode" else setting.value
    index = next((n for n, entry in enumerate(entries) if is_meant(entry)), None)
    if index is not None:
        return (*entries[:index], evolve(entries[index], **said), *entries[index + 1 :])
    if "id" not in said:
        return entries
    new = BankEntry(role=role, **said)
    return (new, *entries) if role == "coding" else (*entries, new)


def _recall(s: Settings) -> RecallConfig:
    return RecallConfig(
        enabled=s["recall.enabled"],
        types=s["recall.types"],
        budget=Budget(s["recall.budget"]),
        max_tokens=s["recall.maxTokens"],
        user_max_tokens=s["recall.userMaxTokens"],
        prefer_observations=s["recall.preferObservations"],
        include_source_facts=s["recall.includeSourceFacts"],
        max_source_facts_tokens=s["recall.maxSourceFactsTokens"],
        context_turns=s["recall.contextTurns"],
        roles=s["recall.roles"],
        max_query_chars=s["recall.maxQueryChars"],
        query_preamble=s["recall.queryPreamble"],
        include_date_in_query=s["recall.includeDateInQuery"],
        include_repo_hints_in_query=s["recall.includeRepoHintsInQuery"],
        query_timestamp=s["recall.queryTimestamp"],
        top_k=s["recall.topK"],
        deadline_ms=s["recall.deadlineMs"],
        cache_ttl_ms=s["recall.cacheTtlMs"],
        injection_position=s["recall.injectionPosition"],
        min_scores=MinScores(
            semantic=s["recall.minScores.semantic"],
            keyword=s["recall.minScores.keyword"],
            reranker=s["recall.minScores.reranker"],
            final=s["recall.minScores.final"],
        ),
        store_last_recall=s["recall.storeLastRecall"],
        store_last_recall_failures=s["recall.storeLastRecallFailures"],
        last_recall_path=s["recall.lastRecallPath"],
    )


def _retain(s: Settings) -> RetainConfig:
    return RetainConfig(
        enabled=s["retain.enabled"],
        user=s["retain.content.user"],
        assistant=s["retain.content.assistant"],
        tool_result=s["retain.content.toolResult"],
        tool_call_include=s["retain.toolFilter.toolCall.include"],
        tool_call_exclude=s["retain.toolFilter.toolCall.exclude"],
        tool_result_include=s["retain.toolFilter.toolResult.include"],
        tool_result_exclude=s["retain.toolFilter.toolResult.exclude"],
        compact_tool_calls=s["retain.compactToolCalls"],
        strip_message=s["retain.strip.message"],
        strip_top_level=s["retain.strip.topLevel"],
        before_enqueue=REFUSE_ALL if "retain.beforeEnqueue" in s.refused else s["retain.beforeEnqueue"],
        flush_interval_ms=s["retain.flushIntervalMs"],
    )


def _scope(s: Settings) -> ScopeConfig:
    return ScopeConfig(
        project_id=s["scope.projectId"],
        project_id_strategy=s["scope.projectIdStrategy"],
        legacy_tags=s["scope.legacyTags"],
        user_scope_tags=s["scope.userScopeTags"],
        share_hosts=s["scope.shareHosts"],
        unscoped_recall_banks=s["scope.unscopedRecallBanks"],
        include_shared_observations=s["scope.includeSharedObservations"],
    )
