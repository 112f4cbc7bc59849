"""Which observations leave first, and the reclaim that needs no model.

Source: 004_d1a6c9e182f889a8.txt, "Memory budget" (pool enforcer); spec/observe.md sections 3.6 and 3.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hindbrain.observe._budget import memory_cap
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._coverage import coverage
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._records import Observation, Reflection, Relevance

_STRONG = 2
_FAR = 1 << 62


def least_valuable(observations: Sequence[Observation], reflections: Iterable[Reflection]) -> list[Observation]:
    """Observations in the order in which they may go.

    By kind (progress, fact, user, decision), then the better covered, the less relevant, the older, and as they were
    given. One without a moment counts as the newest.
    """
    covered = coverage(reflections)
    return sorted(
        observations,
        key=lambda each: (
            -each.rank[0],
            -min(covered[each.id], _STRONG),
            -each.rank[1],
            each.at if each.at is not None else _FAR,
        ),
    )


def watermark(cap: int) -> int:
    """The tokens of active memory from which on the ledger is reclaimed, with this cap."""
    return cap * 3 // 2


def reclaim(index: LedgerIndex, config: ObserveConfig, window: int | None = None) -> tuple[str, ...]:
    """The observations to drop so that the ledger stays bounded, by id; none where active memory is small enough.

    It begins where active memory exceeds one and a half times the cap, and goes on until the observations are at their
    target, or at what the reflections leave under the cap. Critical ones are never among them.
    """
    fold, cap = index.fold, memory_cap(config, window)
    if fold.observation_tokens + fold.reflection_tokens <= watermark(cap):
        return ()
    target = max(0, min(config.pool_target, cap - fold.reflection_tokens))
    gone: list[str] = []
    left = fold.observation_tokens
    if left <= target:
        return ()
    able = [each for each in fold.active_observations.values() if each.relevance is not Relevance.CRITICAL]
    for record in least_valuable(able, fold.active_reflections.values()):
        if left <= target:
            break
        gone.append(record.id)
        left -= record.cost
    return tuple(gone)
