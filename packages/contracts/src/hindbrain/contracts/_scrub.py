"""Secrets out of every text that goes to disk, to the wire or to another model.

This is the door; the rules and the scanner are read when a text is first scrubbed. Source: spec/anchors.md section 2e.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from hindbrain.contracts._scrub_scan import Scanner, Span


@frozen
class Scrubbed:
    """A text without its secrets, and how many of each kind were taken out (kinds that were not found are absent)."""

    text: str = field(repr=False)
    counts: Mapping[str, int]


def scrub(text: str, *, pii: bool = False) -> str:
    """Replace each secret by a placeholder that names its kind, such as ``[REDACTED:github-token]``.

    The word before a secret stays (``Bearer``, a name, a URL's user), and so do numbers, dates, hashes, ids and code.
    JSON escapes do not hide a secret, nor does a line break in a token. ``pii`` takes out what tells of a person too:
    email addresses, phone, account and card numbers. Scrubbing again changes nothing. The time is linear in the length.

    Source: spec/memory.md section 6.8; spec/facts.md section 5.4 (the placeholder's form); S2-consent-006 and -007.
    """
    return scrub_counted(text, pii=pii).text


def scrub_counted(text: str, *, pii: bool = False) -> Scrubbed:
    """Scrub as :func:`scrub` does, and count. What several rules find in one place counts once, for the first."""
    counts: dict[str, int] = {}
    (scrubbed,) = _scrubbed((text,), pii, counts)
    return Scrubbed(scrubbed, counts)


def scrub_parts(parts: Sequence[str], *, pii: bool = False) -> tuple[str, ...]:
    """Scrub texts that follow each other, such as the text parts of one message; as many come back, some perhaps empty.

    A secret that begins in one and ends in a later one is found too: its placeholder stands where it began. A word at a
    part's very beginning may go with a secret that ends the part before, since nothing tells where that secret stops.
    """
    return _scrubbed(tuple(parts), pii, {})


@cache
def _scanner(pii: bool) -> Scanner:
    from hindbrain.contracts._scrub_rules import PERSONAL, RULES
    from hindbrain.contracts._scrub_scan import Scanner

    return Scanner((*RULES, *PERSONAL) if pii else RULES)


def _scrubbed(parts: tuple[str, ...], pii: bool, counts: dict[str, int]) -> tuple[str, ...]:
    scanner = _scanner(pii)
    # Taking one secret out can lay open the beginning of another, so go on until nothing is found.
    while spans := _spans(scanner, parts):
        places = [(start, end, scanner.rules[rule].kind) for start, end, rule in spans]
        for *_, kind in places:
            counts[kind] = counts.get(kind, 0) + 1
        parts = _replaced(parts, places)
    return parts


def _spans(scanner: Scanner, parts: tuple[str, ...]) -> list[Span]:
    """What to take out, by its place in all parts joined."""
    if len(parts) == 1:
        return _merged(scanner.spans(parts[0]))
    # In each part too, since a word may seem to go on where only the next part begins.
    offsets = accumulate(map(len, parts), initial=0)
    spans = [
        (start + offset, end + offset, rule)
        for offset, part in zip(offsets, parts, strict=False)
        for start, end, rule in scanner.spans(part)
    ]
    return _merged(scanner.spans("".join(parts)) + spans)


def _merged(spans: list[Span]) -> list[Span]:
    """In order and apart: spans that overlap become one, of the kind that the first rule among them gives."""
    apart: list[Span] = []
    for start, end, rule in sorted(spans):
        if apart and start < apart[-1][1]:
            before = apart.pop()
            apart.append((before[0], max(end, before[1]), min(rule, before[2])))
        else:
            apart.append((start, end, rule))
    return apart


def _replaced(parts: tuple[str, ...], places: list[tuple[int, int, str]]) -> tuple[str, ...]:
    """The parts with a placeholder for each place; what lies between is kept in the part it stood in."""
    joined = "".join(parts)
    ends = list(accumulate(map(len, parts)))
    pieces: list[list[str]] = [[] for _ in parts]

    def keep(at: int, end: int) -> None:
        while at < end:
            part = bisect_right(ends, at)
            until = min(end, ends[part])
            pieces[part].append(joined[at:until])
            at = until

    at = 0
    for start, end, kind in places:
        keep(at, start)
        pieces[bisect_right(ends, start)].append(f"[REDACTED:{kind}]")
        at = end
    keep(at, len(joined))
    return tuple(map("".join, pieces))
