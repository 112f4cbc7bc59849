"""What stands where: counts, clocks, pools and budget, as values and as lines.

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
from hindbrain.observe._run import Stage
from hindbrain.observe._timeline import LEGEND, timeline


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
    """What a live session adds: its mode, who is at work, what was spent, and the last failure of each worker."""

    passive: bool = False
    stage: Stage | None = None
    compacting: bool = False
    spend_usd: float = 0.0
    calls: Mapping[Stage, int] = field(factory=dict)
    errors: Mapping[Stage, str] = field(factory=dict)

    def lines(self) -> list[str]:
        """A line for each thing there is to say."""
        at_work = [self.stage.value] if self.stage is not None else []
        at_work += ["compaction"] if self.compacting else []
        calls = ", ".join(f"{stage.value} {count}" for stage, count in self.calls.items())
        told = ["Passive: nothing starts by itself"] if self.passive else []
        told.append(f"In flight: {', '.join(at_work) or 'nothing'}")
        told.append(f"Cost: ${self.spend_usd:.4f}" + (f" ({calls} calls)" if calls else ""))
        return told + [f"Last error of the {stage.value}: {text}" for stage, text in self.errors.items()]


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


def status_lines(
    index: LedgerIndex,
    config: ObserveConfig,
    window: int | None = None,
    *,
    width: int = 80,
    activity: Activity | None = None,
) -> list[str]:
    """The state as lines of at most ``width`` columns, the timeline last; ``activity`` is that of a live session."""
    s = status(index, config, window)
    active = s.active_pool + s.reflection_pool
    lines = [
        f"Memory is {'on' if s.gate_on else 'off'}",
        f"Observations: {_layer(s.observations, 'dropped')}",
        f"Reflections: {_layer(s.reflections, 'superseded')}",
        f"Next observation: {_share(s.clocks.observe, config.observe_after_tokens)}",
        f"Next reflection: {_share(s.clocks.reflect, config.reflect_after_tokens)}",
        f"Next compaction: {_share(s.clocks.compact, s.compact_threshold)}",
        f"Visible observations: {s.visible_pool:,} / {config.observations_pool_max_tokens:,} tokens",
        f"Active observations: {s.active_pool:,} / {config.pool_target:,} tokens",
        f"Active reflections: {s.reflection_pool:,} tokens",
        f"Cap: {s.cap:,} tokens ({'configured' if s.cap_configured else 'derived'})",
        f"Active memory: {active:,} / {s.cap:,} tokens",
    ]
    if (last := s.last_render) is not None:
        lines += [
            f"Last render: {last.rendered_tokens:,} / {last.max_tokens:,} tokens, tail {last.tail_tokens:,}",
            f"Trimmed: {last.trimmed_observations:,} observations, {last.trimmed_reflections:,} reflections",
        ]
    lines += activity.lines() if activity is not None else []
    lines += [f"Timeline: {index.tokens_from(0):,} tokens, {s.compactions} compactions", LEGEND, timeline(index, width)]
    return [line[:width] for line in lines]


def _layer(layer: Layer, gone: str) -> str:
    apart = f" +{layer.new} / -{layer.missing}" if layer.new or layer.missing else ""
    return (
        f"{layer.recorded:,} recorded, {layer.gone:,} {gone}, {layer.active:,} active, {layer.visible:,} visible{apart}"
    )


def _share(value: int, of: int) -> str:
    return f"{value:,} / {of:,} ({(200 * value + of) // (2 * of)}%)"
