"""From the facts that were found to what a recall returns."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hindbrain.contracts import Fact, FactType, Recall, RecallQuery, Scores
from hindbrain.store._search import Hit

_CHARACTERS = 4
"""Characters of a token, as every estimate of ours counts them."""
_MOST_SOURCES = 50
_FACT = """
SELECT fact.id, fact.key, fact.tagset, fact.type, fact.text, fact.context, fact.origin, fact.at, fact.seq,
  document.name, document.metadata, tagset.tags
FROM fact JOIN document ON document.id = fact.document JOIN tagset ON tagset.id = fact.tagset
"""


def _uuid(*parts: str) -> str:
    return str(uuid.UUID(bytes=hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()[:16]))


def tokens(text: str) -> int:
    """The estimated tokens of a text: a quarter of its characters, rounded up."""
    return -(-len(text) // _CHARACTERS)


def _fact_id(row: Sequence[Any]) -> str:
    return _uuid("fact", row[9], str(row[8]), row[1].hex())


def _fact(row: Sequence[Any], scores: Scores) -> Fact:
    return Fact(
        id=_fact_id(row),
        text=row[4],
        type=FactType(row[3]),
        document_id=row[9],
        context=row[5],
        tags=tuple(json.loads(row[11])),
        metadata=json.loads(row[10]) | json.loads(row[6]),
        mentioned_at=row[7],
        scores=scores,
    )


def _observation(row: Sequence[Any], sources: Sequence[Sequence[Any]], scores: Scores) -> Fact:
    """The observation a fact stands for: its text and tags, resting on every fact that says the same."""
    return Fact(
        id=_uuid("observation", row[1].hex(), row[11]),
        text=row[4],
        type=FactType.OBSERVATION,
        context=row[5],
        tags=tuple(json.loads(row[11])),
        metadata=json.loads(row[10]) | json.loads(row[6]),
        mentioned_at=max((source[7] for source in sources if source[7]), default=row[7]),
        source_fact_ids=tuple(_fact_id(source) for source in sources),
        scores=scores,
    )


def _rows(connection: sqlite3.Connection, hits: Sequence[Hit]) -> Iterator[tuple[Any, Scores]]:
    for hit in hits:
        row = connection.execute(f"{_FACT} WHERE fact.id = ?", (hit.fact,)).fetchone()
        if row is not None:
            yield row, hit.scores


def _sources(connection: sqlite3.Connection, row: Sequence[Any]) -> list[Any]:
    sql = f"{_FACT} WHERE fact.key = ? AND fact.tagset = ? ORDER BY fact.id DESC LIMIT ?"
    return connection.execute(sql, (row[1], row[2], _MOST_SOURCES)).fetchall()


def _told(connection: sqlite3.Connection, query: RecallQuery, hits: Sequence[Hit]) -> Iterator[tuple[Fact, list[Any]]]:
    """Every fact and observation the query's types ask for, best first, each observation once."""
    kinds = frozenset(query.types or FactType)
    seen: set[tuple[bytes, int]] = set()
    for row, scores in _rows(connection, hits):
        same = (row[1], row[2])
        if FactType.OBSERVATION in kinds and same not in seen:
            seen.add(same)
            sources = _sources(connection, row)
            yield _observation(row, sources, scores), sources
        if row[3] in kinds and not (FactType.OBSERVATION in kinds and query.prefer_observations):
            yield _fact(row, scores), []


def answer(connection: sqlite3.Connection, query: RecallQuery, hits: Sequence[Hit]) -> Recall:
    """The recall's value: as many facts as the token bound takes, at least one, and their sources within theirs."""
    kept: list[Fact] = []
    sources: list[Any] = []
    left = query.max_tokens
    for fact, behind in _told(connection, query, hits):
        cost = tokens(fact.text)
        if kept and cost > left:
            break
        kept.append(fact)
        sources += behind
        left -= cost
    return Recall(facts=tuple(kept), source_facts=_bounded(sources, query.source_fact_tokens))


def _bounded(rows: Iterable[Any], bound: int | None) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    left = bound or 0
    for row in rows:
        fact = _fact(row, Scores())
        if bound is None or (found and tokens(fact.text) > left):
            break
        found[fact.id] = fact
        left -= tokens(fact.text)
    return found
