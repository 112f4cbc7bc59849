"""The engine's settings as one value.

Source: 004_d1a6c9e182f889a8.txt, "Defaults"; spec/observe.md section 7.3.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from hindbrain.observe._errors import BudgetError


@frozen(kw_only=True)
class ObserveConfig:
    """Thresholds and pools, in estimated tokens. None means that the value is derived.

    A target that is not below the maximum counts as half of it.
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

    def __attrs_post_init__(self) -> None:
        counts = {
            "observe_after_tokens": self.observe_after_tokens,
            "observer_chunk_max_tokens": self.observer_chunk_max_tokens,
            "reflect_after_tokens": self.reflect_after_tokens,
            "compact_after_tokens": self.compact_after_tokens,
            "observations_pool_max_tokens": self.observations_pool_max_tokens,
            "observations_pool_target_tokens": self.observations_pool_target_tokens,
            "memory_max_tokens": self.memory_max_tokens,
        }
        for name, count in counts.items():
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
                raise BudgetError(name)
        if not 0 < self.compact_after_tokens_ratio < 1:
            raise BudgetError("compact_after_tokens_ratio")

    @property
    def pool_target(self) -> int:
        """The tokens at which the pool of active observations is held."""
        target = self.observations_pool_target_tokens
        if target is None or target >= self.observations_pool_max_tokens:
            return max(1, self.observations_pool_max_tokens // 2)
        return target
