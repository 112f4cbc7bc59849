"""How wide a text is on a terminal, which has a cell for a Latin letter and two for a Chinese character."""

from __future__ import annotations

from unicodedata import category, east_asian_width

_NONE = frozenset({"Mn", "Me", "Cf"})
_WIDENS = "\ufe0f"
"""Asks for the picture of the sign before it, which may take a cell more."""


def cells(text: str) -> int:
    """The cells that a line takes; for pictures that are joined of several, at most too many."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def cut_to_cells(text: str, width: int, *, mark: str = "") -> str:
    """The beginning of a line that fits into ``width`` cells, without control characters.

    Args:
        text: the line.
        width: the cells there are.
        mark: ends a line that was cut; its cells count.
    """
    line = text if text.isprintable() else "".join(each for each in text if category(each) != "Cc")
    if cells(line) <= width:
        return line
    room = width - cells(mark)
    if room < 0:
        return ""
    for place, each in enumerate(line):
        room -= _cell(each)
        if room < 0:
            return line[:place] + mark
    return line + mark


def _cell(sign: str) -> int:
    if sign == _WIDENS:
        return 1
    if category(sign) in _NONE:
        return 0
    return 2 if east_asian_width(sign) in {"W", "F"} else 1
