"""Which recalled facts are worth showing. Source: seed 000, "Quality pass"; spec/memory.md section 4."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from attrs import frozen

from hindbrain.contracts import Fact, MinScores, Scores, is_contaminated, neutralise


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
    """The text as it would be shown, in lower case: so that blank and duplicate mean what a reader would call so.

    White space and what no reader sees are those of :func:`hindbrain.contracts.neutralise`.
    """
    return neutralise(text).lower()


def below_floor(scores: Scores, floors: MinScores) -> bool:
    """Whether any score that is there lies under its floor; a score that is missing keeps the fact.

    Source: seed 000, table of score floors; NaN never compares below.
    """
    pairs = (
        (scores.semantic, floors.semantic),
        (scores.keyword, floors.keyword),
        (scores.reranker, floors.reranker),
        (scores.final, floors.final),
    )
    return any(score is not None and floor is not None and score < floor for score, floor in pairs)


def judge(
    candidates: Iterable[tuple[str, Fact]],
    *,
    top_k: int,
    floors: MinScores | None = None,
    suppressed: Collection[str] = (),
) -> tuple[Verdict, ...]:
    """Judge candidates in order; the reasons of one add up, and only what is kept counts as seen.

    A fact is dropped where it is blank, looks like injected memory, repeats one that was kept (in any bank), lies under
    a floor, was suppressed by its id, or stands beyond ``top_k`` of its bank.

    Args:
        candidates: bank and fact, best first.
        top_k: how many of each bank are kept at most.
        floors: local floors; None judges no score.
        suppressed: ids of facts the user does not want to see.
    """
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
                ("below-score-floor", floors is not None and below_floor(fact.scores, floors)),
                ("suppressed", fact.id in suppressed),
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
