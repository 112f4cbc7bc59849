"""How far it is to the next observation, reflection and compaction. All of it is sums that the index keeps.

Where the host says how full the model's context is, the workers' clocks are calibrated: from an answer on whose context
the provider counted, its growth takes the place of our estimate. The source takes the growth alone; then a system
prompt would count as conversation before the first answer, and a retained tail that nobody observed would count as
nothing after a compaction. So what lies before that answer stays estimated here.

Source: 004_d1a6c9e182f889a8.txt, "Scaling compaction to the model's context window"; spec/observe.md sections 2.2 and
4, fault F-23 (a threshold below the retained tail); decisions.md, "Observational memory".
"""

from __future__ import annotations

from bisect import bisect_right

from attrs import frozen

from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._index import LedgerIndex

_GROWN = 4
"""A compaction waits until at least a quarter of its threshold is new: else one that cannot shrink repeats for ever."""


@frozen(kw_only=True)
class Clocks:
    """Estimated source tokens since the newest observation and reflection, and in the part not yet compacted.

    ``observe_calibrated`` and ``reflect_calibrated`` are the same stretches by the provider's count, and equal to the
    others where it is not known.
    """

    observe: int
    reflect: int
    compact: int
    observe_calibrated: int
    reflect_calibrated: int


def clocks(index: LedgerIndex, context: int | None = None) -> Clocks:
    """The clocks at the tip of the branch. Ledger entries and compactions weigh nothing.

    Args:
        index: the branch.
        context: the tokens in the model's context now, as the host counts them; None where it does not know.
    """
    observe, reflect = index.tokens_from(index.observed_to + 1), index.tokens_from(index.reflected_to + 1)
    return Clocks(
        observe=observe,
        reflect=reflect,
        compact=index.tokens_from(index.kept_from),
        observe_calibrated=_calibrated(index, index.observed_to, observe, context),
        reflect_calibrated=_calibrated(index, index.reflected_to, reflect, context),
    )


def _calibrated(index: LedgerIndex, covered_to: int, estimated: int, context: int | None) -> int:
    """The clock since a marker, by the growth of the context since the answer nearest to it that was counted.

    That answer belongs to the present context: it is younger than the last compaction. A context that is smaller than
    it was then is another one, and the estimate stands.
    """
    if not context:
        return estimated
    first = bisect_right(index.measured, index.compacted_at)
    at = max(first, bisect_right(index.measured, covered_to) - 1)
    if at >= len(index.measured) or context < index.measures[at]:
        return estimated
    grown = context - index.measures[at]
    return max(0, estimated - index.tokens_from(index.measured[at] + 1) + grown)


def compact_threshold(config: ObserveConfig, window: int | None) -> int:
    """At how many tokens a compaction is asked for.

    In ratio mode that is a share of the active model's window, at least 1, and ``compact_after_tokens`` where the
    window is not known.
    """
    if config.compact_after_tokens_mode != "ratio" or window is None or window <= 0:
        return config.compact_after_tokens
    return max(1, int(window * config.compact_after_tokens_ratio))


def observe_due(index: LedgerIndex, config: ObserveConfig, context: int | None = None) -> bool:
    """Whether the observer has enough to look at; ``context`` as for :func:`clocks`."""
    observe = index.tokens_from(index.observed_to + 1)
    grown = _calibrated(index, index.observed_to, observe, context)
    return index.gate_on and observe > 0 and grown >= config.observe_after_tokens


def reflect_due(index: LedgerIndex, config: ObserveConfig, context: int | None = None) -> bool:
    """Whether something was observed since the last reflection, and enough happened since then."""
    new = index.observed_to > index.reflected_to
    grown = _calibrated(index, index.reflected_to, index.tokens_from(index.reflected_to + 1), context)
    return index.gate_on and new and grown >= config.reflect_after_tokens


def compact_due(index: LedgerIndex, config: ObserveConfig, window: int | None = None) -> bool:
    """Whether a compaction should be asked for.

    Never where nothing came since the last one, nor where what came is less than a quarter of the threshold: the tail a
    host retains may alone be longer than the threshold, and then no compaction could shrink it.
    """
    threshold = compact_threshold(config, window)
    if not index.gate_on or index.tokens_from(index.kept_from) < threshold:
        return False
    grown = index.tokens_from(index.compacted_at + 1)
    return grown > 0 and grown * _GROWN >= (threshold if index.compacted_at >= 0 else 0)
