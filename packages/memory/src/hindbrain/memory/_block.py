"""The block that is injected. Source: spec/memory.md section 5; fencing is ours (decisions.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from attrs import frozen

from hindbrain.contracts import Fact, fence, is_contaminated, neutralise
from hindbrain.memory._echo import GUIDANCE
from hindbrain.memory._quality import Verdict
from hindbrain.memory._query import estimate_tokens

_EVIDENCE_LINES = 3


@frozen(kw_only=True)
class InjectedItem:
    """One line of the block and the fact behind it. ``number`` counts from 1 within the block."""

    number: int
    bank: str
    fact: Fact


@frozen(kw_only=True)
class Block:
    """The injected text and its items; empty text means nothing is injected."""

    text: str = ""
    items: tuple[InjectedItem, ...] = ()


class _Room:
    """Estimated tokens that are left; None means any number."""

    def __init__(self, tokens: int | None) -> None:
        self._left = tokens

    def takes(self, text: str) -> bool:
        """Whether the text fits; it is then counted."""
        if self._left is None:
            return True
        tokens = estimate_tokens(text)
        if tokens > self._left:
            return False
        self._left -= tokens
        return True

    def cut(self, text: str) -> str:
        """As much of the beginning of the text as fits; it is counted as the fence will leave it."""
        if self._left is not None:
            text = neutralise(text[: self._left * 4])
            while estimate_tokens(text) > self._left:
                text = neutralise(text[: len(text) * 7 // 8])
            self._left -= estimate_tokens(text)
        return text


def _evidence(fact: Fact, sources: Mapping[str, Fact], room: _Room) -> list[str]:
    said = (sources[i].text for i in fact.source_fact_ids if i in sources)
    texts = dict.fromkeys(neutralise(text) for text in said if not is_contaminated(text))
    fitting = (text for text in texts if text and room.takes(text))
    return [f"   - evidence: {text}" for text in islice(fitting, _EVIDENCE_LINES)]


def _shown(facts: Iterable[Fact], room: _Room) -> Iterator[tuple[Fact, str]]:
    """The facts that fit, with their lines. The best is shown in any case, cut where it alone is too long."""
    visible = ((fact, line) for fact in facts if (line := neutralise(fact.text)))
    for number, (fact, line) in enumerate(visible):
        if room.takes(line):
            yield fact, line
        elif number == 0 and (start := room.cut(line)):
            yield fact, start


def render_block(
    verdicts: Sequence[Verdict],
    sources: Mapping[str, Fact] | None = None,
    *,
    budgets: Mapping[str, int] | None = None,
    evidence_tokens: int | None = None,
) -> Block:
    """Render what was kept, bank by bank in order of appearance.

    A backend is asked for so many tokens and may send more; what does not fit is not shown.

    Args:
        verdicts: judged candidates; dropped ones are passed over.
        sources: source facts by id, to show as evidence; None shows none.
        budgets: the most estimated tokens of each bank's facts; a bank that is not named has no bound.
        evidence_tokens: the most estimated tokens of all evidence; None means any number.
    """
    items: list[InjectedItem] = []
    lines: list[str] = []
    evidence = _Room(evidence_tokens)
    for bank in dict.fromkeys(v.bank for v in verdicts if v.kept):
        facts = (verdict.fact for verdict in verdicts if verdict.bank == bank and verdict.kept)
        shown = list(_shown(facts, _Room((budgets or {}).get(bank))))
        lines.extend([f"Bank: {bank}"] if shown else [])
        for fact, line in shown:
            items.append(InjectedItem(number=len(items) + 1, bank=bank, fact=fact))
            lines.append(f"{len(items)}. {line}")
            if sources is not None:
                lines.extend(_evidence(fact, sources, evidence))
    return Block(text=fence(lines, guidance=GUIDANCE), items=tuple(items))
