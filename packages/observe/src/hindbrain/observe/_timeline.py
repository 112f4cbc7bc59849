"""The branch as one line of signs: what was compacted, what is observed, what waits.

Source: 004_d1a6c9e182f889a8.txt, "Worker spend and timeline"; spec/observe.md section 7.2.
"""

from __future__ import annotations

from hindbrain.observe._index import LedgerIndex

LEGEND = "▓ compacted   ▒ memory pool   ░ raw backlog   ┊ cut   ▶ tip"
_COMPACTED, _POOL, _RAW, _CUT, _TIP = "▓▒░┊▶"


def timeline(index: LedgerIndex, width: int) -> str:
    """The strip, at most ``width`` columns wide: a cell for so many tokens, a mark for each cut, and the tip."""
    total = index.tokens_from(0)
    cuts = sorted(index.tokens_before(cut) for cut in index.cuts)
    observed = index.tokens_before(index.observed_to + 1)
    width = max(1, width)
    room = max(1, width - 1 - len(cuts))
    step = max(1, -(-total // room))
    count = min(max(1, -(-total // step)), room) if total else 0
    newest = cuts[-1] if cuts else 0
    cells = [_cell(at * step, newest, observed) for at in range(count)]
    for place in sorted({min(cut // step, count) for cut in cuts}, reverse=True):
        cells.insert(place, _CUT)
    return "".join([*cells, _TIP])[-width:]


def _cell(at: int, cut: int, observed: int) -> str:
    if at < cut:
        return _COMPACTED
    return _POOL if at < observed else _RAW
