"""Secrets out of every text that goes to disk, to the wire or to another model.

The scanner looks for literals with :meth:`str.find` and matches a pattern only where one stands: so its time is linear,
and almost all of it is spent in C. Source: spec/anchors.md section 2e.
"""

from __future__ import annotations

from collections.abc import Iterator

from hindbrain.contracts._scrub_named import NAMED
from hindbrain.contracts._scrub_rules import CARRIERS, VENDORS, Rule

RULES = (*VENDORS, *CARRIERS, NAMED)
"""Every rule, the most telling first: where several find the same text, the first gives the placeholder its kind."""

Span = tuple[int, int, int]
"""Start, end and the number of the rule."""


def scrub(text: str) -> str:
    """Replace each secret by a placeholder that names its kind, such as ``[REDACTED:github-token]``.

    The word before a secret stays (``Bearer``, a name, a URL's user), and so do numbers, dates, hashes, ids and code.
    Scrubbing again changes nothing. The time is linear in the length.

    Source: spec/memory.md section 6.8; spec/facts.md section 5.4 (the placeholder's form); S2-consent-006.
    """
    # Taking one secret out can lay open the beginning of another, so go on until nothing is found.
    while spans := _merged(_spans(text)):
        parts: list[str] = []
        at = 0
        for start, end, rule in spans:
            parts += (text[at:start], f"[REDACTED:{RULES[rule].kind}]")
            at = end
        text = "".join([*parts, text[at:]])
    return text


def _spans(text: str) -> list[Span]:
    # The only character whose lower-case form has another length; positions must stay the same.
    lowered = text.replace("\u0130", "I").lower()
    found: list[Span] = []
    for number, rule in enumerate(RULES):
        found += ((*span, number) for span in _matches(rule, text, lowered if rule.any_case else text))
    return found


def _matches(rule: Rule, text: str, searched: str) -> Iterator[tuple[int, int]]:
    for anchor in rule.anchors:
        at = searched.find(anchor)
        while at >= 0:
            match = rule.pattern.match(text, max(0, at - rule.back))
            if match is not None and rule.accept(match):
                group = match.lastindex or 0
                rest = rule.rest.match(text, match.end(group))
                end = match.end(group) if rest is None else rest.end()
                yield match.start(group), end
                at = searched.find(anchor, max(end, match.end()))
            else:
                at = searched.find(anchor, at + len(anchor))


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
