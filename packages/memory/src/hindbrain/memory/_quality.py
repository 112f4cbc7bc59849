"""Which recalled facts are worth showing. Source: spec/memory.md section 4."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from hindbrain.contracts import Fact, is_contaminated


@frozen(kw_only=True)
class Verdict:
    """A candidate and why it was dropped; no reason means it was kept."""

    bank: str
    fact: Fact
    reasons: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons


def fold(text: str) -> str:
    """The text as duplicates are compared: white space folded, lower case."""
    return " ".join(text.split()).lower()


def judge(candidates: Iterable[tuple[str, Fact]], *, top_k: int) -> tuple[Verdict, ...]:
    """Judge candidates in order: blank, contaminated, seen already (in any bank), beyond ``top_k`` of their bank."""
    seen: set[str] = set()
    counts: dict[str, int] = {}
    verdicts: list[Verdict] = []
    for bank, fact in candidates:
        folded = fold(fact.text)
        reasons = [
            reason
            for reason, holds in (
                ("blank-memory", not folded),
                ("recall-contamination", is_contaminated(fact.text)),
                ("duplicate-memory", bool(folded) and folded in seen),
            )
            if holds
        ]
        if not reasons and counts.get(bank, 0) >= top_k:
            reasons = ["over-top-k"]
        if not reasons:
            seen.add(folded)
            counts[bank] = counts.get(bank, 0) + 1
        verdicts.append(Verdict(bank=bank, fact=fact, reasons=tuple(reasons)))
    return tuple(verdicts)
