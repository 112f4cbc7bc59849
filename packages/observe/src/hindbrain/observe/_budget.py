"""How many tokens a rendered memory may take.

Source: 004_d1a6c9e182f889a8.txt, "Memory budget"; spec/observe.md section 5.1; the floor is ours (decisions.md).
"""

from __future__ import annotations

from attrs import frozen

from hindbrain.observe._clocks import compact_threshold
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._errors import BudgetError

FLOOR = 4_000
SYSTEM = 6_000
"""What a system prompt counts as where the host does not tell it."""


@frozen(kw_only=True)
class Moment:
    """What the host tells when it compacts, in estimated tokens; None where it does not know.

    ``window`` is the session model's, ``reserve`` what the host keeps free of it, ``tail`` what stays after the cut,
    ``system`` the system prompt. ``overflow`` says that the compaction answers a request that was too large.
    """

    window: int | None = None
    reserve: int | None = None
    tail: int = 0
    system: int | None = None
    overflow: bool = False

    def __attrs_post_init__(self) -> None:
        for name in ("tail", "system"):
            if (getattr(self, name) or 0) < 0:
                raise BudgetError(name)


@frozen(kw_only=True)
class Budget:
    """The tokens there are: the context's limit, what tail and system leave of it, memory's cap, and the render's."""

    soft_limit: int
    available: int
    cap: int
    render: int


def memory_cap(config: ObserveConfig, window: int | None) -> int:
    """The most tokens of memory that stay visible, whatever else is in the context.

    ``memory_max_tokens`` where it is set, even below 4 000; else the smaller of half the trigger and a tenth of the
    window, at least 4 000. An unknown window is left out.
    """
    if config.memory_max_tokens is not None:
        return config.memory_max_tokens
    return _derived(_soft_limit(config, window, 0), window)


def _soft_limit(config: ObserveConfig, window: int | None, reserve: int) -> int:
    trigger = compact_threshold(config, window)
    return trigger if window is None or window <= 0 else min(trigger, max(0, window - reserve))


def _derived(soft_limit: int, window: int | None) -> int:
    half = soft_limit // 2
    return max(FLOOR, half if window is None or window <= 0 else min(half, window // 10))


def render_budget(config: ObserveConfig, moment: Moment) -> Budget:
    """The budget of a compaction at this moment.

    Half of what is available, between 4 000 and the cap. Where less than 4 000 is available the floor is that: a
    summary never makes the context grow. After an overflow it is half of that again.

    Raises:
        BudgetError: a quantity of the moment is negative.
    """
    reserve = moment.reserve if moment.reserve is not None and moment.reserve > 0 else 0
    soft_limit = _soft_limit(config, moment.window, reserve)
    system = SYSTEM if moment.system is None else moment.system
    available = max(0, soft_limit - moment.tail - system)
    cap = config.memory_max_tokens or _derived(soft_limit, moment.window)
    render = min(cap, max(min(FLOOR, available), available // 2))
    return Budget(
        soft_limit=soft_limit, available=available, cap=cap, render=render // 2 if moment.overflow else render
    )
