"""Effective settings as the frozen values the rooms ask for."""

from __future__ import annotations

from hindbrain.contracts import Budget
from hindbrain.generic._config._merge import Settings
from hindbrain.memory import MemoryConfig, RecallConfig, RetainConfig, ScopeConfig


def memory_config(s: Settings) -> MemoryConfig:
    """The memory path's settings."""
    recall = RecallConfig(
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
        injection_position=s["recall.injectionPosition"],
    )
    retain = RetainConfig(
        enabled=s["retain.enabled"],
        user=s["retain.content.user"],
        assistant=s["retain.content.assistant"],
        tool_result=s["retain.content.toolResult"],
        tool_call_exclude=s["retain.toolFilter.toolCall.exclude"],
        tool_result_exclude=s["retain.toolFilter.toolResult.exclude"],
        compact_tool_calls=s["retain.compactToolCalls"],
        strip_message=s["retain.strip.message"],
        strip_top_level=s["retain.strip.topLevel"],
    )
    scope = ScopeConfig(
        project_id=s["scope.projectId"],
        project_id_strategy=s["scope.projectIdStrategy"],
        legacy_tags=s["scope.legacyTags"],
        user_scope_tags=s["scope.userScopeTags"],
        share_hosts=s["scope.shareHosts"],
    )
    return MemoryConfig(
        enabled=s["enabled"],
        project_bank=s["banks.project.bankId"],
        user_bank=s["banks.user.bankId"],
        recall=recall,
        retain=retain,
        scope=scope,
    )
