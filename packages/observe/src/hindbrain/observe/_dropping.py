"""How many observations may leave, and which of those that the dropper names do: pure judgement.

Source: 004_d1a6c9e182f889a8.txt, "Memory budget" (dropper); spec/observe.md section 3.6. The seed caps the dropper's
target by memory's cap as well, and wins over the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from hindbrain.contracts import JsonValue
from hindbrain.observe._agent import Receipt
from hindbrain.observe._budget import memory_cap
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._reclaim import least_valuable
from hindbrain.observe._records import Observation, Reflection
from hindbrain.observe._sight import Sight


@frozen(kw_only=True)
class Pool:
    """The active observations against their target, in tokens: all there are, not only those that are shown."""

    tokens: int
    target: int

    @property
    def over(self) -> int:
        """How much too large it is; 0 where it is not."""
        return max(0, self.tokens - self.target)


def pool_of(index: LedgerIndex, config: ObserveConfig, window: int | None) -> Pool:
    """The pool at the tip of the branch."""
    return Pool(tokens=index.fold.observation_tokens, target=min(config.pool_target, memory_cap(config, window)))


def most_drops(pool: Pool, sight: Sight) -> int:
    """How many of the shown observations may leave: as many as the excess is worth at their mean size."""
    count, shown = len(sight.observations), sum(each.cost for each in sight.observations)
    if not count or not pool.over:
        return 0
    return min(count, max(1, -(-pool.over * count // shown)))


def judge_drops(
    arguments: Mapping[str, JsonValue], sight: Sight, so_far: tuple[str, ...], most: int
) -> tuple[tuple[str, ...], Receipt]:
    """Take the ids of one call that are shown, each once. Coverage refuses none, and neither does relevance."""
    raws = arguments.get("ids")
    if not isinstance(raws, list) or not raws:
        return so_far, Receipt("ids must be a list of at least one.", refused=True)
    shown = {each.id for each in sight.observations}
    named = tuple(dict.fromkeys((*so_far, *(each for each in raws if isinstance(each, str) and each in shown))))
    added = len(named) - len(so_far)
    text = f"{added} taken, {len(raws) - added} unknown or named before; {len(named)} in all."
    if len(named) > most:
        text += f" Only {most} may leave: the least valuable of them will."
    return named, Receipt(text, refused=not added)


def chosen_drops(
    named: tuple[str, ...], observations: Mapping[str, Observation], reflections: Iterable[Reflection], most: int
) -> tuple[str, ...]:
    """Those that leave; of too many the least valuable, and of equal ones those named first."""
    records = [observations[each] for each in named if each in observations]
    if len(records) <= most:
        return tuple(each.id for each in records)
    return tuple(each.id for each in least_valuable(records, reflections)[:most])
