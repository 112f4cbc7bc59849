"""What stands where: counts, clocks, pools and budget, as values.

Source: 004_d1a6c9e182f889a8.txt, "Commands and agent tool"; spec/observe.md section 7.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from hindbrain.observe._budget import memory_cap
from hindbrain.observe._clocks import Clocks, clocks, compact_threshold
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._events import RenderBudget
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._projection import Drift, drift, visible
from hindbrain.observe._reclaim import watermark
from hindbrain.observe._run import Stage


@frozen(kw_only=True)
class Layer:
    """One layer of memory in numbers. ``gone`` are dropped or superseded; new and gone ids tell visible from active."""

    recorded: int
    gone: int
    active: int
    visible: int
    new: int
    missing: int


@frozen(kw_only=True)
class Activity:
    """What a live session adds: its mode, who is at work, what was spent, and the last failure of each worker.

    ``calls`` are model calls. ``hindsight`` are the lines of the memory that outlives the session.
    """

    passive: bool = False
    stage: Stage | None = None
    compacting: bool = False
    spend_usd: float = 0.0
    calls: Mapping[Stage, int] = field(factory=dict)
    errors: Mapping[Stage, str] = field(factory=dict)
    hindsight: tuple[str, ...] = ()


@frozen(kw_only=True)
class Status:
    """The state of a branch's memory. Pools are in tokens."""

    gate_on: bool
    observations: Layer
    reflections: Layer
    clocks: Clocks
    compact_threshold: int
    visible_pool: int
    active_pool: int
    reflection_pool: int
    cap: int
    cap_configured: bool
    last_render: RenderBudget | None
    compactions: int

    @property
    def active_memory(self) -> int:
        """The tokens of all that is in force."""
        return self.active_pool + self.reflection_pool

    @property
    def watermark(self) -> int:
        """Where the reclaim begins that needs no model."""
        return watermark(self.cap)


def status(index: LedgerIndex, config: ObserveConfig, window: int | None = None) -> Status:
    """The state at the tip of the branch, from the same sums the triggers use."""
    fold, seen, apart = index.fold, visible(index), drift(index)
    return Status(
        gate_on=index.gate_on,
        observations=Layer(
            recorded=len(fold.observations),
            gone=len(fold.observations) - len(fold.active_observations),
            active=len(fold.active_observations),
            visible=len(seen.observations),
            new=len(apart.observations_new),
            missing=len(apart.observations_gone),
        ),
        reflections=_reflections(index, len(seen.reflections), apart),
        clocks=clocks(index),
        compact_threshold=compact_threshold(config, window),
        visible_pool=sum(each.cost for each in seen.observations),
        active_pool=fold.observation_tokens,
        reflection_pool=fold.reflection_tokens,
        cap=memory_cap(config, window),
        cap_configured=config.memory_max_tokens is not None,
        last_render=index.visible.budget if index.visible is not None else None,
        compactions=len(index.cuts),
    )


def _reflections(index: LedgerIndex, shown: int, apart: Drift) -> Layer:
    fold = index.fold
    return Layer(
        recorded=len(fold.reflections),
        gone=len(fold.reflections) - len(fold.active_reflections),
        active=len(fold.active_reflections),
        visible=shown,
        new=len(apart.reflections_new),
        missing=len(apart.reflections_gone),
    )
