"""The order of facts for a question: pure functions of index words and places.

What each step adds is measured in docs/adr/0002-embedded-ranking.md. The numbers were chosen on questions about two
recorded coding sessions, never on the benchmark.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from attrs import field, frozen

from hindbrain.store._terms import Terms

_K1 = 1.2
_B = 0.75
_ABOUT = 0.5
_PAIR = 0.3
_AROUND = ((1, 0.4), (2, 0.2))
_TOOL_ROLES = frozenset({"toolResult", "toolCall", "bashExecution"})
_TOOL_OWN = 0.5
_TOOL_PLACE = 0.7
_SAME_TURN = 0.6
_NEWER = 0.02
_FUSE = 60


@frozen
class Spot:
    """A fact as ranking sees it.

    ``words`` are its index words in order, ``about`` those of its speaker, tool, context and day; ``place`` is its
    document and number there, ``turn`` the number of its turn, ``moment`` milliseconds since 1970.
    """

    id: int
    place: tuple[int, int]
    turn: int
    role: str | None
    moment: int
    words: Sequence[str] = field(default=(), repr=False)
    about: Sequence[str] = field(default=(), repr=False)


def touching(order: Sequence[str]) -> set[tuple[str, str]]:
    """Every two words that follow one another."""
    return set(pairwise(order))


def own_score(spot: Spot, terms: Terms, pairs: set[tuple[str, str]], usual: float) -> float:
    """BM25 of a fact's own words, with a share for what it is about and for asked words that touch.

    ``usual`` is the mean number of words of a fact.
    """
    weights = terms.weights
    found: dict[str, float] = {}
    for word in spot.words:
        if word in weights:
            found[word] = found.get(word, 0.0) + 1.0
    for word in spot.about:
        if word in weights:
            found[word] = found.get(word, 0.0) + _ABOUT
    slow = _K1 * (1 - _B + _B * len(spot.words) / usual)
    score = sum(weights[word] * count * (1 + _K1) / (count + slow) for word, count in found.items())
    if len(found) > 1 and pairs:
        together = pairs & touching(spot.words)
        score += _PAIR * sum(min(weights[a], weights[b]) for a, b in together)
    return score * _TOOL_OWN if spot.role in _TOOL_ROLES else score


def around(place: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The places just before and after, in the same document."""
    document, seq = place
    for distance, _ in _AROUND:
        yield document, seq - distance
        yield document, seq + distance


def neighbourhood(
    own: Mapping[tuple[int, int], float], known: Container[tuple[int, int]]
) -> dict[tuple[int, int], float]:
    """Each known place's score with a share of what stands just before and after it."""
    spread = {place: score for place, score in own.items() if place in known}
    for (document, seq), score in own.items():
        for distance, share in _AROUND if score else ():
            for place in ((document, seq - distance), (document, seq + distance)):
                if place in known:
                    spread[place] = spread.get(place, 0.0) + share * score
    return spread


def settled(spots: Iterable[Spot], scores: Mapping[int, float]) -> list[tuple[Spot, float]]:
    """Best first: tools after people, the newer before the older, later pieces of one long turn after the first."""
    spots = [spot for spot in spots if scores.get(spot.id, 0.0) > 0]
    newest = max((spot.moment for spot in spots), default=0)
    oldest = min((spot.moment for spot in spots), default=0)
    span = max(1, newest - oldest)

    def value(spot: Spot) -> float:
        score = scores[spot.id] * (1 + _NEWER * (spot.moment - oldest) / span)
        return score * _TOOL_PLACE if spot.role in _TOOL_ROLES else score

    valued = sorted(((value(spot), spot) for spot in spots), key=lambda pair: (-pair[0], -pair[1].id))
    seen: dict[tuple[int, int], int] = {}
    result: list[tuple[Spot, float]] = []
    for score, spot in valued:
        turn = (spot.place[0], spot.turn)
        result.append((spot, score * _SAME_TURN ** seen.get(turn, 0)))
        seen[turn] = seen.get(turn, 0) + 1
    return sorted(result, key=lambda pair: -pair[1])


def fused(rankings: Iterable[Sequence[int]]) -> dict[int, float]:
    """Reciprocal rank fusion: 1 for a fact that leads every ranking.

    Source: Cormack, Clarke and Buettcher, SIGIR 2009 (k = 60).
    """
    rankings = [ranking for ranking in rankings if ranking]
    total: dict[int, float] = {}
    for ranking in rankings:
        for rank, fact in enumerate(ranking):
            total[fact] = total.get(fact, 0.0) + (_FUSE + 1) / (_FUSE + 1 + rank) / len(rankings)
    return total


def best_possible(terms: Terms) -> float:
    """The score of a fact of usual length that holds every asked word once; what a score is measured against."""
    return sum(terms.weights.values()) or 1.0
