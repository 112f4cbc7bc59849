"""The settings of observational memory as the value its room asks for."""

from __future__ import annotations

from hindbrain.generic._config._merge import Settings
from hindbrain.observe import ModelChoice, ObserveConfig, Thinking


def observe_config(s: Settings) -> ObserveConfig:
    """What the engine and its workers go by. A model that is named by half is none."""
    return ObserveConfig(
        observe_after_tokens=s["observe.observeAfterTokens"],
        observer_chunk_max_tokens=s["observe.observerChunkMaxTokens"],
        reflect_after_tokens=s["observe.reflectAfterTokens"],
        compact_after_tokens=s["observe.compactAfterTokens"],
        compact_after_tokens_mode=s["observe.compactAfterTokensMode"],
        compact_after_tokens_ratio=s["observe.compactAfterTokensRatio"],
        observations_pool_max_tokens=s["observe.observationsPoolMaxTokens"],
        observations_pool_target_tokens=s["observe.observationsPoolTargetTokens"],
        memory_max_tokens=s["observe.memoryMaxTokens"],
        agent_max_turns=s["observe.agentMaxTurns"],
        agent_max_tokens=s["observe.agentMaxTokens"],
        model=_model(s),
        observer=s["observe.observer"],
        show_worker_notifications=s["observe.showWorkerNotifications"],
        passive=s["observe.passive"],
        debug_log=s["observe.debugLog"],
        subagents=s["observe.subagents"],
        idle_compaction_ttl=s["observe.idleCompactionTtl"] or None,
        idle_compaction_min_tokens=s["observe.idleCompactionMinTokens"],
    )


def _model(s: Settings) -> ModelChoice | None:
    provider, name = s["observe.model.provider"], s["observe.model.id"]
    if provider is None or name is None:
        return None
    return ModelChoice(provider=provider, id=name, thinking=Thinking(s["observe.model.thinking"]))
