"""The memory that a worker is shown: the bounded view that is rendered too, however large the ledger is.

Source: 004_d1a6c9e182f889a8.txt, "Memory budget"; spec/observe.md sections 2.4, 3.4 to 3.6.
"""

from __future__ import annotations

from attrs import field, frozen

from hindbrain.observe._budget import memory_cap
from hindbrain.observe._config import ObserveConfig
from hindbrain.observe._coverage import coverage, tier
from hindbrain.observe._index import LedgerIndex
from hindbrain.observe._projection import full
from hindbrain.observe._records import Observation, Reflection
from hindbrain.observe._render import OBSERVATIONS, REFLECTIONS, chronological, frame_tokens
from hindbrain.observe._select import Selection, select
from hindbrain.observe._tokens import tokens

_NOTHING = "(nothing yet)"


@frozen(kw_only=True)
class Sight:
    """What a worker sees of the memory: the records, in ledger order, and their text."""

    observations: tuple[Observation, ...]
    reflections: tuple[Reflection, ...]
    text: str = field(repr=False)


def memory_room(config: ObserveConfig, window: int | None) -> int:
    """The most tokens of records that are ever shown: memory's cap without the lines around them."""
    return max(0, memory_cap(config, window) - frame_tokens())


def reflection_share(index: LedgerIndex, config: ObserveConfig, window: int | None) -> int:
    """The tokens that a render keeps for reflections, whatever observations there are."""
    room = memory_room(config, window)
    return room - min(index.fold.observation_tokens, config.pool_target, room)


def sight(index: LedgerIndex, config: ObserveConfig, *, room: int, marked: bool = False) -> Sight:
    """Choose what a worker is shown.

    Args:
        index: the branch.
        config: the settings.
        room: the tokens of the text.
        marked: whether each observation says how many reflections rest on it.
    """
    projection = full(index)
    counts = coverage(projection.reflections) if marked else None
    fitting = room
    while True:
        chosen = select(projection, room=fitting, target=config.pool_target)
        text = _text(chosen, counts)
        over = tokens(text) - room
        if over <= 0 or fitting <= 0:
            break
        fitting = max(0, fitting - over)
    return Sight(
        observations=chosen.observations,
        reflections=chosen.reflections,
        text=text if over <= 0 else "",
    )


def _text(chosen: Selection, counts: dict[str, int] | None) -> str:
    if not chosen.observations and not chosen.reflections:
        return _NOTHING
    reflections = [each.line for each in chosen.reflections]
    observations = [
        each.line if counts is None else f"{tier(counts.get(each.id, 0))} {each.line}"
        for each in chronological(chosen.observations)
    ]
    return "\n".join([REFLECTIONS, *reflections, "", OBSERVATIONS, *observations])
