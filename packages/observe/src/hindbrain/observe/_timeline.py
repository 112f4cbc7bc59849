"""The branch as one line of signs: what was compacted, what is observed, what waits.

Source: 004_d1a6c9e182f889a8.txt, "Worker spend and timeline"; spec/observe.md section 7.2.
"""

from __future__ import annotations

from hindbrain.observe._index import LedgerIndex

LEGEND = "▓ compacted   ▒ memory pool   ░ raw backlog   ┊ cut   ▶ tip"
_COMPACTED, _POOL, _RAW, _CUT, _TIP = "▓▒░┊▶"


def timeline_lines(index: LedgerIndex, width: int) -> list[str]:
    """What the strip measures, what its signs mean, and the strip."""
    total, compactions = index.tokens_from(0), len(index.cuts)
    each = f", {_step(index, width):,} a sign" if total else ""
    counted = f"{compactions} compaction{'' if compactions == 1 else 's'}"
    return [f"Timeline: {total:,} tokens{each}, {counted}", LEGEND, timeline(index, width)]


def timeline(index: LedgerIndex, width: int) -> str:
    """The strip, at most ``width`` columns wide: a sign for so many tokens, a mark for each cut, and the tip."""
    total = index.tokens_from(0)
    cuts = sorted(index.tokens_before(cut) for cut in index.cuts)
    observed = index.tokens_before(index.observed_to + 1)
    width = max(1, width)
    step, room = _step(index, width), _room(index, width)
    count = min(max(1, -(-total // step)), room) if total else 0
    newest = cuts[-1] if cuts else 0
    cells = [_cell(at * step, newest, observed) for at in range(count)]
    for place in sorted({min(cut // step, count) for cut in cuts}, reverse=True):
        cells.insert(place, _CUT)
    return "".join([*cells, _TIP])[-width:]


def _room(index: LedgerIndex, width: int) -> int:
    return max(1, max(1, width) - 1 - len(index.cuts))


def _step(index: LedgerIndex, width: int) -> int:
    """The tokens that a sign stands for."""
    return max(1, -(-index.tokens_from(0) // _room(index, width)))


def _cell(at: int, cut: int, observed: int) -> str:
    if at < cut:
        return _COMPACTED
    return _POOL if at < observed else _RAW
