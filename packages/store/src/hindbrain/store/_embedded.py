"""The embedded backend: the four verbs on files of this machine."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

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
from hindbrain.store._database import connect, writing
from hindbrain.store._facts import prepare
from hindbrain.store._paths import REGISTRY, file_name, prepare_folder
from hindbrain.store._schema import MIGRATIONS, migrate
from hindbrain.store._search import Asked, search
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
        self._root = root
        self._config = config or EmbeddedConfig()
        self._embedder = embedder
        self._clock = clock
        self._worker = Worker("hindbrain-store")
        self._open: OrderedDict[str, sqlite3.Connection] = OrderedDict()

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        """Store an item. The same operation id in the same bank changes nothing more.

        Raises:
            BackendRequestError: an id or the item's time is refused.
            ConflictError: another bank used the operation id.
            StoreError: the disk said no; nothing was stored.
        """
        check_bank(bank)
        operation = check_operation_id(operation_id)
        await self._worker.run(lambda job: self._retain(job, bank, item, operation))
        if self._embedder is not None:
            await self._embed(bank, self._embedder)
        return Retained(operation_id=operation, items=1, tokens=tokens(item.content))

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

    async def close(self) -> None:
        """Finish what was begun, close the files and end the thread."""
        await self._worker.close(self._close)

    def _connection(self, job: Job, name: str, steps: tuple[str, ...], *, make: bool) -> sqlite3.Connection | None:
        path = self._root / name
        connection = self._open.get(name)
        if connection is None:
            if not make and not path.exists():
                return None
            prepare_folder(self._root)
            connection = connect(path, wait=self._config.busy_timeout)
            try:
                migrate(connection, steps)
            except BaseException:
                connection.close()
                raise
            self._open[name] = connection
        self._open.move_to_end(name)
        while len(self._open) > self._config.most_banks:
            self._open.popitem(last=False)[1].close()
        job.uses(connection)
        return connection

    def _bank(self, job: Job, bank: str, *, make: bool = False) -> sqlite3.Connection | None:
        return self._connection(job, file_name(bank), MIGRATIONS, make=make)

    def _retain(self, job: Job, bank: str, item: RetainItem, operation_id: str) -> None:
        now = self._clock()
        prepared = prepare(item, now)
        registry = self._connection(job, REGISTRY, _registry.STEPS, make=True)
        assert registry is not None
        _registry.claim(registry, operation_id, bank)
        connection = self._bank(job, bank, make=True)
        assert connection is not None
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
            return answer(connection, asked.query, search(connection, asked, self._config))
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
            await self._worker.run(lambda job, rows=rows: self._add_vectors(job, bank, embedder.name, rows))

    def _lacking(self, job: Job, bank: str, model: str) -> list[tuple[int, str]]:
        connection = self._bank(job, bank)
        return [] if connection is None else _write.lacking_vectors(connection, model, _BATCH)

    def _add_vectors(self, job: Job, bank: str, model: str, rows: Sequence[tuple[int, bytes]]) -> None:
        connection = self._bank(job, bank)
        if connection is not None:
            with writing(connection):
                _write.add_vectors(connection, model, rows)

    def _close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()
