"""How far it is to the next observation, reflection and compaction. All of it is sums that the index keeps.

Source: 004_d1a6c9e182f889a8.txt, "Scaling compaction to the model's context window"; spec/observe.md sections 2.2 and
4, fault F-23 (a threshold below the retained tail); decisions.md, "Observational memory".
"""

from __future__ import annotations

from attrs import frozen

from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._index import LedgerIndex

_GROWN = 4
"""A compaction waits until at least a quarter of its threshold is new: else one that cannot shrink repeats for ever."""


@frozen(kw_only=True)
class Clocks:
    """Estimated source tokens since the newest observation and reflection, and in the part not yet compacted."""

    observe: int
    reflect: int
    compact: int


def clocks(index: LedgerIndex) -> Clocks:
    """The clocks at the tip of the branch. Ledger entries and compactions weigh nothing."""
    return Clocks(
        observe=index.tokens_from(index.observed_to + 1),
        reflect=index.tokens_from(index.reflected_to + 1),
        compact=index.tokens_from(index.kept_from),
    )


def compact_threshold(config: ObserveConfig, window: int | None) -> int:
    """At how many tokens a compaction is asked for.

    In ratio mode that is a share of the active model's window, at least 1, and ``compact_after_tokens`` where the
    window is not known.
    """
    if config.compact_after_tokens_mode != "ratio" or window is None or window <= 0:
        return config.compact_after_tokens
    return max(1, int(window * config.compact_after_tokens_ratio))


def observe_due(index: LedgerIndex, config: ObserveConfig) -> bool:
    """Whether the observer has enough to look at."""
    return index.gate_on and clocks(index).observe >= config.observe_after_tokens


def reflect_due(index: LedgerIndex, config: ObserveConfig) -> bool:
    """Whether something was observed since the last reflection, and enough happened since then."""
    new = index.observed_to > index.reflected_to
    return index.gate_on and new and clocks(index).reflect >= config.reflect_after_tokens


def compact_due(index: LedgerIndex, config: ObserveConfig, window: int | None = None) -> bool:
    """Whether a compaction should be asked for.

    Never where nothing came since the last one, nor where what came is less than a quarter of the threshold: the tail a
    host retains may alone be longer than the threshold, and then no compaction could shrink it.
    """
    threshold = compact_threshold(config, window)
    if not index.gate_on or clocks(index).compact < threshold:
        return False
    grown = index.tokens_from(index.compacted_at + 1)
    return grown > 0 and grown * _GROWN >= (threshold if index.compacted_at >= 0 else 0)
