"""A memory that forgets everything with the process: for the tests of code that uses a :class:`Backend`."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from attrs import define, evolve, field

from hindbrain.contracts._errors import BackendRequestError, OperationConflictError
from hindbrain.contracts._facts import cut, observation_tags, terms
from hindbrain.contracts._ids import check_bank, check_document_id, check_operation_id
from hindbrain.contracts._tags import groups_match
from hindbrain.contracts._values import (
    Deleted,
    Fact,
    FactType,
    Operation,
    OperationStatus,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    Scores,
    UpdateMode,
)

__all__ = ["InMemoryBackend"]

_NAMESPACE = uuid.UUID("5b0c9a4e-6f0e-5b6d-9d43-7c1f2f1f7a10")


@define
class _Document:
    facts: tuple[Fact, ...]
    scopes: str | tuple[tuple[str, ...], ...] | None


@define
class _Bank:
    documents: dict[str, _Document] = field(factory=dict)
    operations: dict[str, Operation] = field(factory=dict)
    candidates: tuple[tuple[Fact, frozenset[str]], ...] | None = None
    """All that can be found, each with its words; None where documents changed since it was made."""

    def searchable(self) -> tuple[tuple[Fact, frozenset[str]], ...]:
        """Observations, then facts, each with its words."""
        if self.candidates is None:
            every = (*self.observations(), *self.facts())
            self.candidates = tuple((fact, frozenset(terms(fact.text))) for fact in every)
        return self.candidates

    def facts(self) -> Iterator[Fact]:
        for document in self.documents.values():
            yield from document.facts

    def observations(self) -> Iterable[Fact]:
        """One for each distinct text and tag set, resting on every fact that says it."""
        found: dict[str, Fact] = {}
        for document in self.documents.values():
            for fact in document.facts:
                for tags in observation_tags(fact.tags, document.scopes):
                    key = _id("observation", fact.text, *sorted(tags))
                    seen = found.get(key) or Fact(
                        id=key, text=fact.text, type=FactType.OBSERVATION, tags=tags, mentioned_at=fact.mentioned_at
                    )
                    found[key] = evolve(seen, source_fact_ids=(*seen.source_fact_ids, fact.id))
        return found.values()


class InMemoryBackend:
    """The four verbs over dicts, for users' own tests: a :class:`hindbrain.contracts.Backend`.

    A retain is completed, and searchable, when it returns. Facts are the sentences and lines of the text, each with its
    observation; ranking is the share of the query's words that a fact holds. A token is four characters. ``budget``,
    ``strategy`` and a query's ``timestamp`` change nothing.

    Each verb raises :class:`BackendRequestError` where an id is refused or the backend is closed; ``retain`` raises
    :class:`OperationConflictError` where another bank used the operation id.

    Args:
        now: gives ``mentioned_at`` to texts that bring no time of their own; without it they have none.
    """

    def __init__(self, *, now: Callable[[], datetime] | None = None) -> None:
        self._now = now
        self._banks: dict[str, _Bank] = {}
        self._owners: dict[str, str] = {}
        self._closed = False

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        """Store the facts of one text at once."""
        check_bank(bank)
        operation_id = check_operation_id(operation_id)
        self._check_open()
        if self._owners.setdefault(operation_id, bank) != bank:
            raise OperationConflictError(
                "Another bank used this operation id; nothing was stored.", next_step="Use a new operation id."
            )
        home = self._banks.setdefault(bank, _Bank())
        if operation_id not in home.operations:
            stored = self._store(home, bank, item)
            home.operations[operation_id] = Operation(
                operation_id=operation_id, status=OperationStatus.COMPLETED, facts=stored
            )
        return Retained(operation_id=operation_id, operation_ids=(operation_id,), items=1)

    async def status(self, bank: str, operation_id: str) -> Operation:
        """Say ``completed`` for a retain of this bank and ``not_found`` for all else."""
        check_bank(bank)
        operation_id = check_operation_id(operation_id)
        self._check_open()
        unknown = Operation(operation_id=operation_id, status=OperationStatus.NOT_FOUND)
        return self._banks.get(bank, _Bank()).operations.get(operation_id, unknown)

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        """Find the facts that share a word with the query, best first."""
        check_bank(bank)
        self._check_open()
        home = self._banks.get(bank)
        if home is None or not query.askable:
            return Recall()
        facts = _within(_ranked(home, query), query.max_tokens)
        if query.source_fact_tokens is None:
            return Recall(facts=facts)
        by_id = {fact.id: fact for fact in home.facts()}
        sources = _within((by_id[i] for fact in facts for i in fact.source_fact_ids), query.source_fact_tokens)
        return Recall(facts=facts, source_facts={fact.id: fact for fact in sources})

    async def delete(self, bank: str, document_id: str) -> Deleted:
        """Forget a document, its facts, and every observation that rested on them alone."""
        check_bank(bank)
        check_document_id(document_id)
        self._check_open()
        home = self._banks.get(bank, _Bank())
        gone, home.candidates = home.documents.pop(document_id, None), None
        return Deleted(found=gone is not None, facts=len(gone.facts) if gone else 0)

    async def close(self) -> None:
        """Refuse every verb from now on. Idempotent."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise BackendRequestError("This backend is closed; nothing was done.", next_step="Make a new one.")

    def _store(self, home: _Bank, bank: str, item: RetainItem) -> int:
        known = home.documents.get(item.document_id)
        # An append gives the document's older facts the new tags and metadata, as a server does (capture a065).
        kept = known.facts if known is not None and item.update_mode is UpdateMode.APPEND else ()
        older = tuple(evolve(fact, tags=item.tags, metadata=item.metadata) for fact in kept)
        at = item.timestamp or (self._now().isoformat() if self._now else None)
        newer = tuple(
            Fact(
                id=_id("fact", bank, item.document_id, str(number), piece.text),
                text=piece.text,
                type=FactType.WORLD,
                document_id=item.document_id,
                context=item.context,
                tags=item.tags,
                metadata=item.metadata,
                mentioned_at=piece.at or at,
            )
            for number, piece in enumerate(cut(item.content), start=len(older))
        )
        home.documents[item.document_id] = _Document(older + newer, item.observation_scopes)
        home.candidates = None
        return len(newer)


def _id(*parts: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join(parts)))


def _ranked(home: _Bank, query: RecallQuery) -> Iterator[Fact]:
    asked = terms(query.text)
    floors = query.min_scores
    least = max(floors.final or 0.0, floors.keyword or 0.0) if floors else 0.0
    found: list[tuple[float, Fact]] = []
    for fact, words in home.searchable():
        score = len(asked & words) / max(len(asked), 1)
        wanted = score > 0 and score >= least and (query.types is None or fact.type in query.types)
        if wanted and groups_match(query.filter, fact.tags):
            found.append((score, fact))
    if query.prefer_observations:
        covered = {i for _, fact in found for i in fact.source_fact_ids}
        found = [(score, fact) for score, fact in found if fact.id not in covered]
    for score, fact in sorted(found, key=lambda each: -each[0]):
        yield evolve(fact, scores=Scores(final=score, keyword=score))


def _within(facts: Iterable[Fact], tokens: int) -> tuple[Fact, ...]:
    """As many as fit into the tokens, and at least one, as a server does (capture a159)."""
    kept: dict[str, Fact] = {}
    used = 0
    for fact in facts:
        if fact.id not in kept:
            used += -(-len(fact.text) // 4)
            if kept and used > tokens:
                break
            kept[fact.id] = fact
    return tuple(kept.values())
