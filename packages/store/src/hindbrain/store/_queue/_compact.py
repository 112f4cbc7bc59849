"""When the log is rewritten without what is done, and what the acks have to say afterwards. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from hindbrain.store._queue._record import Attempt, Plan, Record
from hindbrain.store._queue._state import State

_LINES = 256
_BYTES = 1 << 20


def is_worth_it(state: State) -> bool:
    """Whether more than half is done, and enough of it to pay for a rewrite."""
    return len(state.done) > len(state.live) and (len(state.done) >= _LINES or state.done_bytes >= _BYTES)


def remaining(state: State) -> Sequence[Record]:
    """What there is to say about the jobs that are not done."""
    merges = tuple(merge for merge in state.merges.values() if state.members(merge.id))
    singles = tuple(each for each in state.fixed if each in state.live)
    plan = [Plan(merges, singles)] if merges or singles else []
    waiting = {*state.live, *(merge.id for merge in merges)}
    attempts = [
        Attempt(each, state.codes[each], times, state.renewals.get(each, 0))
        for each, times in state.retries.items()
        if each in waiting
    ]
    taken = [record for unit, record in state.taken.items() if unit in waiting]
    return [*plan, *attempts, *taken]
