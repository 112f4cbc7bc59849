"""Finding the facts of one bank that answer a question, best first."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence

from attrs import field, frozen

from hindbrain.contracts import FactType, RecallQuery, Scores, groups_match
from hindbrain.store import _rank
from hindbrain.store._config import EmbeddedConfig
from hindbrain.store._rank import Spot
from hindbrain.store._terms import Terms, choose
from hindbrain.store._vectors import nearest
from hindbrain.store._words import coded

_FEW = 500
"""A filter that leaves no more facts than this is answered by looking at every one of them."""
_SPREAD = 50
"""So many of the best hits bring in their neighbours, which need not hold an asked word themselves."""
_LISTED = "(SELECT value FROM json_each(?))"
_SPOT = "SELECT id, document, seq, turn, role, moment, words, about FROM fact"
_BESIDE = """
SELECT fact.id, document, seq, turn, role, moment, '', '' FROM json_each(?) AS place
CROSS JOIN fact ON document = json_extract(place.value, '$[0]') AND seq = json_extract(place.value, '$[1]') AND
"""


@frozen
class Filter:
    """Which facts may be found.

    ``where`` is an SQL condition on ``fact`` with its ``values``; ``few`` where so few pass that each can be looked at;
    ``tagsets`` the sets of tags that pass, None where every one does.
    """

    where: str = "1"
    values: tuple[str, ...] = ()
    few: bool = False
    tagsets: frozenset[int] | None = None


@frozen
class Asked:
    """A question with its vector, where an embedder gave one."""

    query: RecallQuery
    model: str | None = None
    vector: bytes | None = field(default=None, repr=False)


@frozen
class Hit:
    """A fact that was found, by its row number, and its scores."""

    fact: int
    scores: Scores


def _passing(connection: sqlite3.Connection, query: RecallQuery) -> frozenset[int] | None:
    """The sets of tags that pass, judged by the contracts' evaluator once each; None where every one does."""
    if not query.filter:
        return None
    rows = connection.execute("SELECT id, tags FROM tagset").fetchall()
    passing = frozenset(row[0] for row in rows if groups_match(query.filter, json.loads(row[1])))
    return None if len(passing) == len(rows) else passing


def build_filter(connection: sqlite3.Connection, query: RecallQuery) -> Filter | None:
    """The filter of a query; None where nothing can pass.

    A fact is judged by its own tags, an observation by one of the tag sets of its fact's scope.
    """
    kinds = frozenset(query.types or FactType)
    tagsets = _passing(connection, query)
    either: list[str] = []
    values: list[str] = []
    if raw := kinds - {FactType.OBSERVATION}:
        either.append(f"fact.type IN {_LISTED}")
        values.append(json.dumps(sorted(raw)))
        if tagsets is not None:
            either[0] += f" AND fact.tagset IN {_LISTED}"
            values.append(json.dumps(sorted(tagsets)))
    if FactType.OBSERVATION in kinds:
        if tagsets is None:
            return Filter()
        scopes = connection.execute("SELECT id, tagsets FROM scope").fetchall()
        either.append(f"fact.scope IN {_LISTED}")
        values.append(json.dumps([number for number, sets in scopes if tagsets.intersection(json.loads(sets))]))
    elif tagsets is None and len(raw) == len(FactType) - 1:
        return Filter()
    where = f"({' OR '.join(either)})"
    counted = f"SELECT count(*) FROM (SELECT 1 FROM fact WHERE {where} LIMIT {_FEW + 1})"  # noqa: S608  (ours)
    passing = connection.execute(counted, values).fetchone()[0]
    return Filter(where, tuple(values), passing <= _FEW, tagsets) if passing else None


def _spots(connection: sqlite3.Connection, sql: str, values: Sequence[object]) -> list[Spot]:
    return [
        Spot(r[0], (r[1], r[2]), r[3], r[4], r[5], r[6].split(), r[7].split()) for r in connection.execute(sql, values)
    ]


def _matching(
    connection: sqlite3.Connection, words: Iterable[str], wanted: Filter, order: str, limit: int
) -> list[int]:
    match = " OR ".join(f'"{coded(word)}"' for word in words)
    sql = "SELECT view.rowid FROM view "
    if wanted.values:
        sql += f"CROSS JOIN fact ON fact.id = view.rowid AND {wanted.where} "
    sql += f"WHERE view MATCH ? ORDER BY {order} LIMIT ?"
    return [row[0] for row in connection.execute(sql, (*wanted.values, match, limit))]


def _candidates(connection: sqlite3.Connection, terms: Terms, wanted: Filter, depth: int) -> list[int]:
    """Facts worth a close look: by the rarest words, then by those left out where a filter leaves too few."""
    if not terms.first:
        return []
    if terms.crowded:
        # One word that a great part of the bank holds says nothing but when: the newest are looked at.
        return _matching(connection, terms.first, wanted, "view.rowid DESC", depth)
    found = _matching(connection, terms.first, wanted, "rank", depth)
    for word in terms.rest if wanted.values else ():
        if len(found) >= depth:
            break
        found += _matching(connection, [word], wanted, "view.rowid DESC", depth - len(found))
    return list(dict.fromkeys(found))


def _lexical(
    connection: sqlite3.Connection, asked: Asked, wanted: Filter, config: EmbeddedConfig
) -> tuple[list[tuple[Spot, float]], Terms]:
    """The facts found by words, best first, with their neighbours."""
    total, all_words = (row[0] for row in connection.execute("SELECT value FROM stat ORDER BY name"))
    terms = choose(connection, asked.query.text, total=total, postings=config.postings)
    if wanted.few:
        looked_at = _spots(connection, f"{_SPOT} WHERE {wanted.where}", wanted.values)
    else:
        ids = _candidates(connection, terms, wanted, config.depth[asked.query.budget])
        looked_at = _spots(connection, f"{_SPOT} WHERE id IN {_LISTED}", (json.dumps(ids),))
    pairs, usual = _rank.touching(terms.order), max(1.0, all_words / max(1, total))
    own = {spot.place: _rank.own_score(spot, terms, pairs, usual) for spot in looked_at}
    known = {spot.place: spot for spot in looked_at}
    best = sorted((place for place in own if own[place] > 0), key=lambda place: -own[place])
    beside = {place for hit in best[:_SPREAD] for place in _rank.around(hit)} - known.keys()
    for spot in _neighbours(connection, sorted(beside), wanted):
        known[spot.place] = spot
    spread = _rank.neighbourhood(own, known)
    return _rank.settled(known.values(), {known[place].id: score for place, score in spread.items()}), terms


def _neighbours(connection: sqlite3.Connection, places: Sequence[tuple[int, int]], wanted: Filter) -> list[Spot]:
    return _spots(connection, f"{_BESIDE} {wanted.where}", (json.dumps(places), *wanted.values))


def search(connection: sqlite3.Connection, asked: Asked, wanted: Filter, config: EmbeddedConfig) -> list[Hit]:
    """Facts for a question, best first, each once; observations are made of them by the caller.

    ``keyword`` is BM25 of the fact and its neighbourhood, ``semantic`` a cosine. ``final`` is the keyword score over
    that of a fact which holds every asked word once; with an embedder, the fused ranks (1 leads all of them).
    """
    ranked, terms = _lexical(connection, asked, wanted, config)
    keyword = {spot.id: score for spot, score in ranked}
    if asked.vector is None or asked.model is None:
        best = _rank.best_possible(terms)
        return _above(asked, (Hit(i, Scores(final=s / best, keyword=s)) for i, s in keyword.items()))
    near = dict(
        nearest(
            connection, asked.model, asked.vector, where=wanted.where, values=wanted.values, found=keyword,
            depth=config.depth[asked.query.budget],
        )
    )  # fmt: skip
    total = _rank.fused([list(keyword), list(near)])
    hits = [Hit(i, Scores(final=total[i], keyword=keyword.get(i), semantic=near.get(i))) for i in total]
    return _above(asked, sorted(hits, key=lambda hit: -(hit.scores.final or 0)))


def _above(asked: Asked, hits: Iterable[Hit]) -> list[Hit]:
    floors = asked.query.min_scores
    if floors is None:
        return list(hits)
    wanted: list[Callable[[Scores], bool]] = [
        lambda s: floors.final is None or (s.final or 0) >= floors.final,
        lambda s: floors.keyword is None or (s.keyword or 0) >= floors.keyword,
        lambda s: floors.semantic is None or s.semantic is None or s.semantic >= floors.semantic,
    ]
    return [hit for hit in hits if all(passes(hit.scores) for passes in wanted)]
