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
_SPOT = "SELECT id, document, seq, turn, role, moment, words, about FROM fact"
_BESIDE = """
SELECT fact.id, document, seq, turn, role, moment, '', '' FROM json_each(?) AS place
CROSS JOIN fact ON document = place.value ->> 0 AND seq = place.value ->> 1 AND
"""


@frozen
class Filter:
    """Which facts may be found: an SQL condition on ``fact`` and its values; ``few`` where they can all be looked at."""

    where: str = "1"
    values: tuple[str, ...] = ()
    few: bool = False


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


def build_filter(connection: sqlite3.Connection, query: RecallQuery) -> Filter | None:
    """The filter of a query; None where nothing can pass.

    Tags are judged by the contracts' evaluator, once for each distinct set of tags in the bank.
    """
    where, values = [], []
    if query.filter:
        rows = connection.execute("SELECT id, tags FROM tagset").fetchall()
        passing = [row[0] for row in rows if groups_match(query.filter, json.loads(row[1]))]
        if not passing:
            return None
        if len(passing) < len(rows):
            where.append("fact.tagset IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(passing))
    if query.types and FactType.OBSERVATION not in query.types:
        where.append("fact.type IN (SELECT value FROM json_each(?))")
        values.append(json.dumps([str(kind) for kind in query.types]))
    if not where:
        return Filter()
    condition = " AND ".join(where)
    counted = f"SELECT count(*) FROM (SELECT 1 FROM fact WHERE {condition} LIMIT {_FEW + 1})"  # noqa: S608  (ours)
    few = connection.execute(counted, values).fetchone()[0] <= _FEW
    return Filter(condition, tuple(values), few)


def _spots(connection: sqlite3.Connection, sql: str, values: Sequence[object]) -> list[Spot]:
    return [
        Spot(r[0], (r[1], r[2]), r[3], r[4], r[5], r[6].split(), r[7].split())
        for r in connection.execute(sql, values)
    ]


def _matching(connection: sqlite3.Connection, words: Iterable[str], wanted: Filter, order: str, limit: int) -> list[int]:
    match = " OR ".join(f'"{coded(word)}"' for word in words)
    sql = "SELECT view.rowid FROM view "
    if wanted.values:
        sql += f"CROSS JOIN fact ON fact.id = view.rowid AND {wanted.where} "
    sql += f"WHERE view MATCH ? ORDER BY {order} LIMIT ?"
    return [row[0] for row in connection.execute(sql, (*wanted.values, match, limit))]


def _candidates(connection: sqlite3.Connection, terms: Terms, wanted: Filter, config: EmbeddedConfig, depth: int) -> list[int]:
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


def _lexical(connection: sqlite3.Connection, asked: Asked, wanted: Filter, config: EmbeddedConfig) -> tuple[list[tuple[Spot, float]], Terms]:
    """The facts found by words, best first, with their neighbours."""
    total, all_words = (row[0] for row in connection.execute("SELECT value FROM stat ORDER BY name"))
    terms = choose(connection, asked.query.text, total=total, postings=config.postings)
    if wanted.few:
        looked_at = _spots(connection, f"{_SPOT} WHERE {wanted.where}", wanted.values)
    else:
        ids = _candidates(connection, terms, wanted, config, config.depth[asked.query.budget])
        looked_at = _spots(connection, f"{_SPOT} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(ids),))
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


def search(connection: sqlite3.Connection, asked: Asked, config: EmbeddedConfig) -> list[Hit]:
    """Facts for a question, best first, each once; observations are made of them by the caller.

    ``keyword`` is BM25 of the fact and its neighbourhood, ``semantic`` a cosine. ``final`` is the keyword score over
    that of a fact which holds every asked word once; with an embedder, the fused ranks (1 leads all of them).
    """
    wanted = build_filter(connection, asked.query)
    if wanted is None:
        return []
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
