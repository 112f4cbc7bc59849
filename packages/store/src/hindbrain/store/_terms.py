"""Which words of a question are looked up, and what each is worth.

A question is cut to its rarest words until their index entries fill the postings budget, so that a long automatic
query costs no more than a short question. A word the bank has never seen is replaced by words of similar shape.
"""

from __future__ import annotations

import json
import math
import sqlite3

from attrs import frozen

from hindbrain.store._words import asked

MOST_TEXT = 16_000
"""Characters of a question that are read, from its end: the newest words come last."""
_MOST_LOOKED_UP = 24
_MOST_UNKNOWN = 4
_SHORTEST_UNKNOWN = 5
_LIKE = 0.55
_LIKE_WORTH = 0.6
_TRIGRAM = 3
_RUN, _LONG_RUN, _LONG = 4, 5, 10
_MOST_SIMILAR = 200


@frozen
class Terms:
    """A question as index words.

    ``weights`` holds every word worth scoring with its rarity (natural logarithm, at least 0), ``order`` those words as
    they stand in the question, ``first`` the rarest within the budget, ``rest`` those the budget left out, and
    ``crowded`` is True where even the rarest alone is over it.
    """

    weights: dict[str, float]
    order: tuple[str, ...]
    first: tuple[str, ...]
    rest: tuple[str, ...]
    crowded: bool


def rarity(facts: int, total: int) -> float:
    """What finding a word in a fact is worth, given how many of all facts hold it."""
    return math.log(1 + (max(total, facts) - facts + 0.5) / (facts + 0.5))


def _trigrams(word: str) -> set[str]:
    return {word[i : i + _TRIGRAM] for i in range(len(word) - _TRIGRAM + 1)}


def _likeness(left: str, right: str) -> float:
    """The share of three-letter runs two words have in common; 1 where one holds the other."""
    if left in right:
        return 1.0
    a, b = _trigrams(left), _trigrams(right)
    return 2 * len(a & b) / (len(a) + len(b))


def similar(connection: sqlite3.Connection, word: str) -> list[str]:
    """At most two known words of similar shape: those that share a run of letters, judged by three-letter runs."""
    size = _RUN if len(word) < _LONG else _LONG_RUN
    runs = {word[i : i + size] for i in range(len(word) - size + 1)}
    match = " OR ".join(f'"{run}"' for run in sorted(runs))
    rows = connection.execute(
        "SELECT word FROM term WHERE id IN (SELECT rowid FROM shape WHERE shape MATCH ? LIMIT ?)",
        (match, _MOST_SIMILAR),
    )
    liked = sorted(((_likeness(word, known), known) for (known,) in rows), reverse=True)
    return [known for likeness, known in liked[:2] if likeness >= _LIKE]


def _counts(connection: sqlite3.Connection, words: list[str]) -> dict[str, int]:
    rows = connection.execute(
        "SELECT word, facts FROM term WHERE word IN (SELECT value FROM json_each(?))", (json.dumps(words),)
    )
    return dict(rows.fetchall())


def choose(connection: sqlite3.Connection, text: str, *, total: int, postings: int) -> Terms:
    """Choose the words of a question for a bank of ``total`` facts and a budget of ``postings`` index entries."""
    order = asked(text[-MOST_TEXT:])
    counts = _counts(connection, order)
    worth = dict.fromkeys(counts, 1.0)
    unknown = [word for word in order if word not in counts and len(word) >= _SHORTEST_UNKNOWN]
    for word in unknown[:_MOST_UNKNOWN]:
        for known in similar(connection, word):
            worth.setdefault(known, _LIKE_WORTH)
    counts |= _counts(connection, [word for word in worth if word not in counts])
    first: list[str] = []
    spent = 0
    rarest = sorted(worth, key=lambda word: (counts[word], word))
    for word in rarest[:_MOST_LOOKED_UP]:
        spent += counts[word]
        if first and spent > postings:
            break
        first.append(word)
    return Terms(
        weights={word: worth[word] * rarity(counts[word], total) for word in rarest},
        order=tuple(word for word in order if word in worth),
        first=tuple(first),
        rest=tuple(rarest[len(first) :]),
        crowded=bool(first) and counts[first[0]] > postings,
    )
