"""From the facts that were found to what a recall returns."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from hindbrain.contracts import Fact, FactType, Recall, RecallQuery, Scores
from hindbrain.store._search import Filter, Hit

_CHARACTERS = 4
"""Characters of a token, as every estimate of ours counts them."""
_MOST_SOURCES = 50
_FACT = """
SELECT fact.key, fact.type, fact.text, fact.context, fact.origin, fact.at, fact.moment, fact.seq, fact.tagset,
  document.name, document.metadata, tagset.tags, scope.tagsets
FROM fact JOIN document ON document.id = fact.document JOIN tagset ON tagset.id = fact.tagset
JOIN scope ON scope.id = fact.scope
"""


@frozen
class _Found:
    """A row of a fact with what belongs to it."""

    key: bytes
    type: FactType
    text: str
    context: str | None
    origin: str
    at: str | None
    moment: int
    seq: int
    tagset: int
    document: str
    metadata: str
    tags: str
    scope: str

    @property
    def id(self) -> str:
        return _uuid("fact", self.document, str(self.seq), self.key.hex())

    @property
    def known(self) -> dict[str, str]:
        """The document's metadata and what is known about the fact's own source."""
        found: dict[str, str] = json.loads(self.metadata) | json.loads(self.origin)
        return found


def _uuid(*parts: str) -> str:
    return str(uuid.UUID(bytes=hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()[:16]))


def tokens(text: str) -> int:
    """The estimated tokens of a text: a quarter of its characters, rounded up."""
    return -(-len(text) // _CHARACTERS)


def _fact(row: _Found, scores: Scores) -> Fact:
    return Fact(
        id=row.id,
        text=row.text,
        type=FactType(row.type),
        document_id=row.document,
        context=row.context,
        tags=tuple(json.loads(row.tags)),
        metadata=row.known,
        mentioned_at=row.at,
        scores=scores,
    )


def _observation(row: _Found, tags: str, sources: Sequence[_Found], scores: Scores) -> Fact:
    """An observation a fact stands for: its text and one set of tags, resting on every fact that says the same."""
    return Fact(
        id=_uuid("observation", row.key.hex(), tags),
        text=row.text,
        type=FactType.OBSERVATION,
        context=row.context,
        tags=tuple(json.loads(tags)),
        metadata=row.known,
        mentioned_at=max(sources, key=lambda source: source.moment, default=row).at,
        source_fact_ids=tuple(source.id for source in sources),
        scores=scores,
    )


class _Teller:
    """Makes facts and observations of hits, each once, best first."""

    def __init__(self, connection: sqlite3.Connection, query: RecallQuery, wanted: Filter) -> None:
        self._connection = connection
        self._kinds = frozenset(query.types or FactType)
        self._only_observations = FactType.OBSERVATION in self._kinds and bool(query.prefer_observations)
        self._passing = wanted.tagsets
        self._tags: dict[int, str] = {}
        self._seen: set[tuple[bytes, int]] = set()

    def tell(self, hits: Iterable[Hit]) -> Iterator[tuple[Fact, Sequence[_Found]]]:
        """Each with the sources it rests on."""
        for hit in hits:
            row = self._connection.execute(f"{_FACT} WHERE fact.id = ?", (hit.fact,)).fetchone()
            if row is None:
                continue
            found = _Found(*row)
            if FactType.OBSERVATION in self._kinds:
                yield from self._observations(found, hit.scores)
            if found.type in self._kinds and not self._only_observations and self._passes(found.tagset):
                yield _fact(found, hit.scores), ()

    def _passes(self, tagset: int) -> bool:
        return self._passing is None or tagset in self._passing

    def _observations(self, found: _Found, scores: Scores) -> Iterator[tuple[Fact, Sequence[_Found]]]:
        for tagset in json.loads(found.scope):
            if self._passes(tagset) and (found.key, tagset) not in self._seen:
                self._seen.add((found.key, tagset))
                sources = self._sources(found, tagset)
                yield _observation(found, self._tags_of(tagset), sources, scores), sources

    def _tags_of(self, tagset: int) -> str:
        if tagset not in self._tags:
            row = self._connection.execute("SELECT tags FROM tagset WHERE id = ?", (tagset,)).fetchone()
            self._tags[tagset] = row[0]
        return self._tags[tagset]

    def _sources(self, found: _Found, tagset: int) -> list[_Found]:
        """The facts of this text whose observations carry these tags, newest first."""
        sql = f"{_FACT} WHERE fact.key = ? ORDER BY fact.id DESC LIMIT ?"
        rows = (_Found(*row) for row in self._connection.execute(sql, (found.key, _MOST_SOURCES)))
        return [row for row in rows if row.scope == found.scope or tagset in json.loads(row.scope)]


def answer(connection: sqlite3.Connection, query: RecallQuery, wanted: Filter, hits: Sequence[Hit]) -> Recall:
    """The recall's value: as many facts as the token bound takes, at least one, and their sources within theirs."""
    kept: list[Fact] = []
    sources: list[_Found] = []
    left = query.max_tokens
    for fact, behind in _Teller(connection, query, wanted).tell(hits):
        cost = tokens(fact.text)
        if kept and cost > left:
            break
        kept.append(fact)
        sources += behind
        left -= cost
    return Recall(facts=tuple(kept), source_facts=_bounded(sources, query.source_fact_tokens))


def _bounded(rows: Iterable[_Found], bound: int | None) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    left = bound or 0
    for row in rows if bound is not None else ():
        if found and tokens(row.text) > left:
            break
        found[row.id] = _fact(row, Scores())
        left -= tokens(row.text)
    return found
