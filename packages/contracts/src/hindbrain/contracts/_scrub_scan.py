"""The scanner: where in a text the rules find something.

It looks for literals, and matches a pattern only where one stands: so its time is linear, and almost all of it is spent
in C. Literals that end in the same uncommon sign share one pass. Source: spec/anchors.md section 2e.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from hindbrain.contracts._patterns import compiled
from hindbrain.contracts._scrub_rule import Rule

Span = tuple[int, int, int]
"""Start, end and the number of the rule."""

_Hit = tuple[int, int, tuple[int, ...]]
"""Where an anchor begins and ends, and the numbers of the rules that it belongs to."""

_Search: TypeAlias = Callable[[str], object]

_PIVOTS = "_-.=~$JAK"


class _Gate:
    """All anchors that end in one sign: one search for that sign, and a look at what stands before it."""

    def __init__(self, rules: dict[str, tuple[int, ...]]) -> None:
        self._rules = rules
        by_length: dict[int, list[str]] = {}
        for anchor in rules:
            by_length.setdefault(len(anchor), []).append(re.escape(anchor))
        self._lengths = sorted(by_length)
        before = "|".join(f"(?<={'|'.join(by_length[length])})" for length in self._lengths)
        # Two or three sets of signs turn most of them away before the list is tried.
        ends = zip(*(anchor[-self._lengths[0] :] for anchor in rules), strict=True)
        likely = "".join(f"[{re.escape(''.join(sorted(set(signs))))}]" for signs in ends)
        pivot = next(iter(rules))[-1]
        self._pattern = re.compile(f"{re.escape(pivot)}(?<={likely})(?:{before})")
        self.search = self._pattern.search

    def hits(self, text: str) -> Iterator[_Hit]:
        for match in self._pattern.finditer(text):
            for length in self._lengths:
                at = max(0, match.end() - length)
                numbers = self._rules.get(text[at : match.end()])
                if numbers is not None:
                    yield at, match.end(), numbers


class _Literal:
    """One anchor, looked for by itself."""

    def __init__(self, anchor: str, numbers: tuple[int, ...]) -> None:
        self.anchor = anchor
        self._numbers = numbers

    def hits(self, text: str) -> Iterator[_Hit]:
        at = text.find(self.anchor)
        while at >= 0:
            end = at + len(self.anchor)
            yield at, end, self._numbers
            at = text.find(self.anchor, end)


_Passes: TypeAlias = tuple[tuple[tuple[_Search, _Gate], ...], tuple[tuple[str, _Literal], ...]]
"""All passes over one text, each behind what says quickly that it finds nothing: most find nothing in most texts."""


def _passes(rules: Sequence[Rule], *, any_case: bool) -> _Passes:
    numbers: dict[str, tuple[int, ...]] = {}
    for number, rule in enumerate(rules):
        if rule.any_case is any_case:
            numbers |= {anchor: (*numbers.get(anchor, ()), number) for anchor in rule.anchors}
    shared = [{anchor: n for anchor, n in numbers.items() if anchor[-1] == pivot} for pivot in _PIVOTS]
    alone = [_Literal(anchor, n) for anchor, n in numbers.items() if anchor[-1] not in _PIVOTS]
    gates = [_Gate(anchors) for anchors in shared if anchors]
    return tuple((gate.search, gate) for gate in gates), tuple((each.anchor, each) for each in alone)


class Scanner:
    """Rules made ready to be looked for. The number of a rule is its place among them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._as_written = _passes(rules, any_case=False)
        self._in_any_case = _passes(rules, any_case=True)
        self._everywhere = tuple((number, rule) for number, rule in enumerate(rules) if not rule.anchors)

    def spans(self, text: str) -> list[Span]:
        """Everything that a rule finds, in no order; spans may overlap."""
        found = self._found(text)
        if "\\u00" in text or "\\/" in text:
            plain = _Unescaped(text)
            found += ((*plain.origin(start, end), number) for start, end, number in self._found(plain.text))
        return found

    def _found(self, text: str) -> list[Span]:
        # The only character whose lower-case form has another length; positions must stay the same.
        lowered = text.replace("\u0130", "I").lower()
        broken = "\n" in text or "\\n" in text
        found: list[Span] = []
        for (gates, literals), searched in ((self._as_written, text), (self._in_any_case, lowered)):
            for search, gate in gates:
                if search(searched):
                    found += self._matches(gate.hits(searched), text, broken=broken)
            for anchor, literal in literals:
                if anchor in searched:
                    found += self._matches(literal.hits(searched), text, broken=broken)
        for number, rule in self._everywhere:
            matches = compiled(rule.pattern).finditer(text)
            found += ((*match.span(match.lastindex or 0), number) for match in matches if rule.accept(match))
        return found

    def _matches(self, hits: Iterable[_Hit], text: str, *, broken: bool) -> Iterator[Span]:
        past: dict[int, int] = {}
        for at, anchor_end, numbers in hits:
            for number in numbers:
                # Whatever lies within a secret has been seen; what only begins there may be the next one.
                if anchor_end <= past.get(number, 0):
                    continue
                if found := _match(self.rules[number], text, at, broken=broken):
                    past[number] = found[1]
                    yield *found, number


def _match(rule: Rule, text: str, at: int, *, broken: bool) -> tuple[int, int] | None:
    """The secret that has an anchor of the rule at ``at``; ``broken``: the text has line breaks."""
    match = compiled(rule.pattern).match(text, max(0, at - rule.back))
    if match is None:
        return _match_broken(rule, text, at) if rule.wraps and broken else None
    if not rule.accept(match):
        return None
    group = match.lastindex or 0
    rest = compiled(rule.rest).match(text, match.end(group)) if rule.rest else None
    return match.start(group), match.end(group) if rest is None else rest.end()


_BROKEN = r"[A-Za-z0-9_.:~-]{6,80}+((?:\\+r)?\\+n|\r?\n)(?=[A-Za-z0-9_.-]{6})"
_TAIL = 300
_BEFORE = 8


def _match_broken(rule: Rule, text: str, at: int) -> tuple[int, int] | None:
    """The same where one line break, also an escaped one, was put into the secret."""
    broken = compiled(_BROKEN).match(text, at)
    if broken is None:
        return None
    start = max(0, at - rule.back)
    first, (end, again) = max(0, start - _BEFORE), broken.span(1)
    joined = text[first:end] + text[again : again + _TAIL]
    match = compiled(rule.pattern).match(joined, start - first)
    if match is None or first + match.end() <= end or not rule.accept(match):
        return None
    return first + match.start(match.lastindex or 0), first + match.end() + again - end


_ESCAPE = r"\\+(?:u00(?!5[cC])([2-7][0-9A-Fa-f])|/)"


class _Unescaped:
    """A text with JSON's escapes of printable signs undone, to any depth, and the way back to it."""

    def __init__(self, text: str) -> None:
        pieces: list[str] = []
        self._here = [0]
        self._there = [0]
        size = 0
        for match in compiled(_ESCAPE).finditer(text):
            pieces += (text[self._there[-1] : match.start()], chr(int(match[1], 16)) if match[1] else "/")
            size += len(pieces[-2]) + 1
            self._here.append(size)
            self._there.append(match.end())
        self.text = "".join([*pieces, text[self._there[-1] :]])

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of this text stands in the text it was made of."""
        first, last = (bisect_right(self._here, at) - 1 for at in (start, end))
        return self._there[first] + start - self._here[first], self._there[last] + end - self._here[last]
