"""The engine's settings as one value.

Source: 004_d1a6c9e182f889a8.txt, "Defaults"; spec/observe.md section 7.3; decisions.md, "Observational memory".
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from attrs import frozen

from hindbrain.observe._errors import BudgetError, ObserveSettingError

_LONGEST_IDLE = 2_147_483
"""Seconds: what a host's own timers can hold."""


class Thinking(StrEnum):
    """How much a worker's model reasons before it answers."""

    OFF = "off"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


@frozen(kw_only=True)
class ModelChoice:
    """The model that the workers ask, by the host's names for it.

    Raises:
        ObserveSettingError: the provider or the id is empty.
    """

    provider: str
    id: str
    thinking: Thinking = Thinking.LOW

    def __attrs_post_init__(self) -> None:
        for name in ("provider", "id"):
            if not getattr(self, name).strip():
                raise ObserveSettingError(f"model.{name}", "a name")


@frozen(kw_only=True)
class ObserveConfig:
    """Thresholds and pools in estimated tokens, and how the workers work. None means that the value is derived.

    A target that is not below the maximum counts as half of it. ``model`` None is the session's own. Where the
    ``observer`` is ``extractive`` no worker asks a model. ``idle_compaction_ttl`` is in seconds, None for never.

    Raises:
        BudgetError: a number of tokens or of turns is not a whole one from 1 up, or the ratio not between 0 and 1.
        ObserveSettingError: another value does not have its form.
    """

    observe_after_tokens: int = 10_000
    observer_chunk_max_tokens: int | None = None
    reflect_after_tokens: int = 20_000
    compact_after_tokens: int = 81_000
    compact_after_tokens_mode: Literal["calibrated", "ratio"] = "calibrated"
    compact_after_tokens_ratio: float = 0.68
    observations_pool_max_tokens: int = 20_000
    observations_pool_target_tokens: int | None = None
    memory_max_tokens: int | None = None
    agent_max_turns: int = 16
    agent_max_tokens: int = 32_000
    model: ModelChoice | None = None
    observer: Literal["model", "extractive"] = "model"
    show_worker_notifications: bool = True
    passive: bool = False
    debug_log: bool = False
    subagents: bool = False
    idle_compaction_ttl: int | None = 1_800
    idle_compaction_min_tokens: int = 75_000

    def __attrs_post_init__(self) -> None:
        self._check_counts()
        if not 0 < self.compact_after_tokens_ratio < 1:
            raise BudgetError("compact_after_tokens_ratio")
        if self.observer not in {"model", "extractive"}:
            raise ObserveSettingError("observer", "model or extractive")
        ttl = self.idle_compaction_ttl
        if ttl is not None and not (_is_count(ttl) and ttl <= _LONGEST_IDLE):
            raise ObserveSettingError("idle_compaction_ttl", f"whole seconds from 1 to {_LONGEST_IDLE}, or none")

    def _check_counts(self) -> None:
        counts = {
            "observe_after_tokens": self.observe_after_tokens,
            "observer_chunk_max_tokens": self.observer_chunk_max_tokens,
            "reflect_after_tokens": self.reflect_after_tokens,
            "compact_after_tokens": self.compact_after_tokens,
            "observations_pool_max_tokens": self.observations_pool_max_tokens,
            "observations_pool_target_tokens": self.observations_pool_target_tokens,
            "memory_max_tokens": self.memory_max_tokens,
            "agent_max_turns": self.agent_max_turns,
            "agent_max_tokens": self.agent_max_tokens,
            "idle_compaction_min_tokens": self.idle_compaction_min_tokens,
        }
        for name, count in counts.items():
            if count is not None and not _is_count(count):
                raise BudgetError(name)

    @property
    def pool_target(self) -> int:
        """The tokens at which the pool of active observations is held."""
        target = self.observations_pool_target_tokens
        if target is None or target >= self.observations_pool_max_tokens:
            return max(1, self.observations_pool_max_tokens // 2)
        return target


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
