"""The status as lines for a person: a heading for each part, the timeline last.

Source: 004_d1a6c9e182f889a8.txt, "Commands and agent tool"; spec/observe.md section 7.1.
"""

from __future__ import annotations

from hindbrain.contracts import cut_to_cells
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._status import Activity, Layer, Status, status
from hindbrain.observe._timeline import timeline_lines


def status_lines(
    index: LedgerIndex,
    config: ObserveConfig,
    window: int | None = None,
    *,
    width: int = 80,
    activity: Activity | None = None,
) -> list[str]:
    """The state as lines of at most ``width`` cells.

    Args:
        index: the branch and its memory.
        config: the settings in effect.
        window: the model's window in tokens; None where nobody knows it.
        width: of the terminal.
        activity: that of a live session; a file has none.
    """
    now = status(index, config, window)
    passive = ["Passive: nothing starts by itself"] if activity is not None and activity.passive else []
    lines = [f"Memory is {'on' if now.gate_on else 'off'}", *passive]
    lines += _part("Memory", _memory(now))
    lines += _part("Activity", _activity(now, config))
    lines += _part("Memory budget", _budget(now, config))
    if activity is not None:
        lines += _part("In flight", [_at_work(activity)])
        lines += _part("Cost", [_cost(activity)])
        lines += _part("Hindsight", activity.hindsight)
        lines += _part("Last errors", [f"{stage.value}: {text}" for stage, text in activity.errors.items()])
    lines += timeline_lines(index, width)
    return [cut_to_cells(line, width) for line in lines]


def _part(heading: str, lines: list[str] | tuple[str, ...]) -> list[str]:
    return [heading, *(f"  {line}" for line in lines)] if lines else []


def _memory(now: Status) -> list[str]:
    return [
        f"Observations: {_layer(now.observations, 'dropped')}",
        f"Reflections: {_layer(now.reflections, 'superseded')}",
    ]


def _activity(now: Status, config: ObserveConfig) -> list[str]:
    return [
        f"Next observation: {_share(now.clocks.observe, config.observe_after_tokens)}",
        f"Next reflection: {_share(now.clocks.reflect, config.reflect_after_tokens)}",
        f"Next compaction: {_share(now.clocks.compact, now.compact_threshold)}",
        f"Visible observations: {now.visible_pool:,} / {config.observations_pool_max_tokens:,} tokens",
        f"Active observations: {now.active_pool:,} / {config.pool_target:,} tokens",
        f"Active reflections: {now.reflection_pool:,} tokens",
    ]


def _budget(now: Status, config: ObserveConfig) -> list[str]:
    lines = [
        f"Cap: {now.cap:,} tokens ({'configured' if now.cap_configured else 'derived'})",
        f"Active memory: {now.active_memory:,} / {now.cap:,} tokens",
    ]
    if now.active_memory > now.watermark:
        lines.append(f"Over {now.watermark:,} tokens: the next run drops the least valuable observations")
    elif now.active_memory > now.cap:
        lines.append("Over the cap: a compaction shows a part of it")
    if now.reflection_pool > now.cap - config.pool_target:
        lines.append("Reflections take the room of observations; merging them makes room")
    if (last := now.last_render) is not None:
        lines += [
            f"Last render: {last.rendered_tokens:,} / {last.max_tokens:,} tokens, tail {last.tail_tokens:,}",
            f"Trimmed: {last.trimmed_observations:,} observations, {last.trimmed_reflections:,} reflections",
        ]
    return lines


def _at_work(activity: Activity) -> str:
    at_work = [activity.stage.value] if activity.stage is not None else []
    return ", ".join([*at_work, *(["compaction"] if activity.compacting else [])]) or "nothing"


def _cost(activity: Activity) -> str:
    calls = ", ".join(f"{stage.value} {count}" for stage, count in activity.calls.items())
    return f"${activity.spend_usd:.4f}" + (f", calls: {calls}" if calls else "")


def _layer(layer: Layer, gone: str) -> str:
    apart = f" +{layer.new} / -{layer.missing}" if layer.new or layer.missing else ""
    return (
        f"{layer.recorded:,} recorded, {layer.gone:,} {gone}, {layer.active:,} active, {layer.visible:,} visible{apart}"
    )


def _share(value: int, of: int) -> str:
    return f"{value:,} / {of:,} ({(200 * value + of) // (2 * of)}%)"
