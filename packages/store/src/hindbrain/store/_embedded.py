"""The embedded backend: the four verbs on files of this machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Self

from hindbrain.contracts import (
    Deleted,
    Embedder,
    Operation,
    OperationStatus,
    Recall,
    RecallQuery,
    Retained,
    RetainItem,
    check_bank,
    check_document_id,
    check_operation_id,
)
from hindbrain.store import _registry, _write
from hindbrain.store._answer import answer, tokens
from hindbrain.store._config import EmbeddedConfig
from hindbrain.store._connect import writing
from hindbrain.store._databases import OpenFiles
from hindbrain.store._errors import StoreError
from hindbrain.store._facts import prepare
from hindbrain.store._paths import REGISTRY, file_name
from hindbrain.store._schema import MIGRATIONS
from hindbrain.store._search import Asked, build_filter, search
from hindbrain.store._vectors import packed
from hindbrain.store._worker import Job, Worker

_BATCH = 64
_MOST_BATCHES = 64


def _utc_now() -> datetime:
    return datetime.now(UTC)


class EmbeddedBackend:
    """A memory in one SQLite database a bank, under one folder; see :class:`hindbrain.contracts.Backend`.

    A retain returns when its facts are on disk and can be found: its operation is ``completed`` at once. Text is
    scrubbed before it is written. All disk work happens in one thread; several processes may share the folder.

    Args:
        root: the folder; made, for its owner only, when something is retained.
        config: timeouts and depths.
        embedder: adds nearness in meaning to the ranking. A retain never fails because of it: vectors that could not
            be had are made up for by later retains.
        clock: gives the time of items that name none.
    """

    def __init__(
        self,
        root: Path,
        *,
        config: EmbeddedConfig | None = None,
        embedder: Embedder | None = None,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._config = config or EmbeddedConfig()
        self._embedder = embedder
        self._clock = clock
        self._worker = Worker("hindbrain-store")
        self._files = OpenFiles(root, wait=self._config.busy_timeout, most=self._config.most_banks)

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        """Store an item. The same operation id in the same bank changes nothing more.

        Raises:
            BackendRequestError: an id is refused.
            OperationConflictError: another bank used the operation id.
            StoreError: the disk said no; nothing was stored.
        """
        check_bank(bank)
        operation = check_operation_id(operation_id)
        await self._worker.run(lambda job: self._retain(job, bank, item, operation))
        if self._embedder is not None:
            with suppress(StoreError):  # what was asked for is stored; vectors can wait
                await self._embed(bank, self._embedder)
        return Retained(operation_id=operation, operation_ids=(operation,), items=1, tokens=tokens(item.content))

    async def status(self, bank: str, operation_id: str) -> Operation:
        """``completed`` with the number of facts stored, or ``not_found``."""
        check_bank(bank)
        operation = check_operation_id(operation_id)
        facts = await self._worker.run(lambda job: self._status(job, bank, operation))
        if facts is None:
            return Operation(operation_id=operation, status=OperationStatus.NOT_FOUND)
        return Operation(operation_id=operation, status=OperationStatus.COMPLETED, facts=facts)

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        """Facts for a question, best first; nothing where the bank does not exist.

        Raises:
            StoreError: the disk said no.
        """
        check_bank(bank)
        if not query.askable:
            return Recall()
        asked = Asked(query)
        if self._embedder is not None:
            try:
                vectors = await self._embedder.embed([query.text])
                asked = Asked(query, self._embedder.name, packed(vectors[0]))
            except Exception:  # noqa: BLE001  (any embedder's failure leaves the words to answer alone)
                asked = Asked(query)
        return await self._worker.run(lambda job: self._recall(job, bank, asked))

    async def delete(self, bank: str, document_id: str) -> Deleted:
        """Delete a document, its facts, and observations that rest on nothing else."""
        check_bank(bank)
        check_document_id(document_id)
        facts = await self._worker.run(lambda job: self._delete(job, bank, document_id))
        return Deleted(found=False) if facts is None else Deleted(found=True, facts=facts)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish what was begun, close the files and end the thread."""
        await self._worker.close(self._files.close)

    def _bank(self, job: Job, bank: str) -> sqlite3.Connection | None:
        return self._files.open(job, file_name(bank), MIGRATIONS)

    def _retain(self, job: Job, bank: str, item: RetainItem, operation_id: str) -> None:
        now = self._clock()
        prepared = prepare(item, now)
        _registry.claim(self._files.make(job, REGISTRY, _registry.STEPS), operation_id, bank)
        connection = self._files.make(job, file_name(bank), MIGRATIONS)
        with writing(connection):
            if _write.find_operation(connection, operation_id) is None:
                _write.retain(connection, prepared, operation_id=operation_id, now=now.isoformat())
            job.check()

    def _status(self, job: Job, bank: str, operation_id: str) -> int | None:
        connection = self._bank(job, bank)
        return None if connection is None else _write.find_operation(connection, operation_id)

    def _recall(self, job: Job, bank: str, asked: Asked) -> Recall:
        connection = self._bank(job, bank)
        if connection is None:
            return Recall()
        connection.execute("BEGIN")
        try:
            wanted = build_filter(connection, asked.query)
            if wanted is None:
                return Recall()
            return answer(connection, asked.query, wanted, search(connection, asked, wanted, self._config))
        finally:
            connection.execute("ROLLBACK")

    def _delete(self, job: Job, bank: str, document_id: str) -> int | None:
        connection = self._bank(job, bank)
        if connection is None:
            return None
        with writing(connection):
            facts = _write.delete(connection, document_id)
            job.check()
        if facts is not None:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return facts

    async def _embed(self, bank: str, embedder: Embedder) -> None:
        for _ in range(_MOST_BATCHES):
            lacking = await self._worker.run(lambda job: self._lacking(job, bank, embedder.name))
            if not lacking:
                return
            try:
                vectors = await embedder.embed([text for _, text in lacking])
                rows = [(fact, packed(vector)) for (fact, _), vector in zip(lacking, vectors, strict=True)]
            except Exception:  # noqa: BLE001  (the facts are stored; their vectors come with a later retain)
                return
            await self._worker.run(partial(self._add_vectors, bank=bank, model=embedder.name, rows=rows))

    def _lacking(self, job: Job, bank: str, model: str) -> list[tuple[int, str]]:
        connection = self._bank(job, bank)
        return [] if connection is None else _write.lacking_vectors(connection, model, _BATCH)

    def _add_vectors(self, job: Job, *, bank: str, model: str, rows: Sequence[tuple[int, bytes]]) -> None:
        connection = self._bank(job, bank)
        if connection is not None:
            with writing(connection):
                _write.add_vectors(connection, model, rows)
