"""The state folder of a host: everything a session must not lose, opened together and in the right order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias, TypeVar

from hindbrain.contracts import Backend, Branch, Entry, JsonValue, RetainJob
from hindbrain.store._cursors import Cursor, Cursors, Fingerprints, Move, Sight, legacy_fingerprint, look, move
from hindbrain.store._files import FileLayer, OsFileLayer, StateDir, disk_errors
from hindbrain.store._flush import Flusher, FlushPolicy, Gate
from hindbrain.store._last_recall import LastRecall, place_of
from hindbrain.store._lock import Hold, Lock
from hindbrain.store._queue import AsyncQueue, DurableQueue
from hindbrain.store._receipts import RetainReceipts
from hindbrain.store._records import SessionRecords
from hindbrain.store._seal import SealKey, seal_key
from hindbrain.store._state_file import StateFile
from hindbrain.store._suppressed import Suppressed
from hindbrain.store._worker import Worker

QUEUE = "retain-queue.jsonl"
RawMessages: TypeAlias = Iterable[tuple[str, Mapping[str, JsonValue]]]
T = TypeVar("T")


class HostState:
    """Queue, cursors, receipts and session records of one project, in one folder and behind one thread.

    The durable job is the cursor's move: on opening, the cursors are advanced from the queue's log, and while it is
    open they are moved in memory as jobs are kept. So a turn costs one write and one sync, and a crash between two
    files can neither lose nor repeat an entry. Build it with :meth:`open`; use it from one event loop.

    Source: decisions.md, "Durability"; architecture.md, "Files a user sees".
    """

    def __init__(
        self,
        worker: Worker,
        queue: DurableQueue,
        cursors: Cursors,
        *,
        records: SessionRecords,
        receipts: RetainReceipts,
        suppressed: Suppressed,
        state: StateDir,
        key: SealKey,
        notify: Callable[[str], None],
    ) -> None:
        self._worker = worker
        self._state = state
        self._key = key
        self._notify = notify
        self._cursors = cursors
        self._jobs = AsyncQueue(queue, worker)
        self._at: dict[tuple[str, str], Cursor] = {}
        self._prints = Fingerprints()
        self._sight: tuple[Branch, Cursor, Sight] | None = None
        self.queue = queue
        self.records = records
        self.receipts = receipts
        self.suppressed = suppressed

    @classmethod
    async def open(
        cls,
        folder: Path,
        *,
        seal_file: Path,
        within: Path | None = None,
        layer: FileLayer | None = None,
        notify: Callable[[str], None] = lambda _: None,
    ) -> HostState:
        """Open the folder, which is made where it is missing.

        Args:
            folder: such as ``<project>/.pi/hindsight``.
            seal_file: this user's key, such as ``<data>/seal.key``; outside every project.
            within: the project's root; no link between it and the folder is followed.
            layer: the disk; tests pass another.
            notify: told in one sentence what was put aside.

        Raises:
            StoreError: a link or another user's lies there, the key is broken, or the disk refused. Nothing is lost.
        """
        worker = Worker("hindbrain-state")
        disk = layer if layer is not None else OsFileLayer()
        try:
            return await worker.run(
                lambda _: cls._open(worker, disk, folder, seal_file=seal_file, within=within, notify=notify)
            )
        except BaseException:
            await worker.close(lambda: None)
            raise

    @classmethod
    def _open(
        cls,
        worker: Worker,
        layer: FileLayer,
        folder: Path,
        *,
        seal_file: Path,
        within: Path | None,
        notify: Callable[[str], None],
    ) -> HostState:
        with disk_errors(folder):
            state = StateDir.open(layer, folder, within=within)
        key = seal_key(layer, seal_file)
        queue: DurableQueue
        cursors = Cursors(state, key, log=lambda: queue.covers(), notify=notify)  # noqa: PLW0108  (the queue comes next)
        queue = DurableQueue.open(state.file(QUEUE), key=key, layer=layer, before_drop=cursors.advance_from)
        try:
            cursors.advance_from(queue.covers())
            records = SessionRecords(state, key, notify=notify)
            suppressed = Suppressed(state, key, notify=notify)
        except BaseException:
            queue.close()
            raise
        receipts = RetainReceipts(state, notify=notify)
        return cls(
            worker,
            queue,
            cursors,
            records=records,
            receipts=receipts,
            suppressed=suppressed,
            state=state,
            key=key,
            notify=notify,
        )

    async def new_entries(self, lineage: str, bank: str, branch: Branch) -> tuple[Entry, ...]:
        """The messages of the branch that were never kept for this bank."""
        cursor = await self._cursor(lineage, bank)
        sight = look(branch, cursor, self._prints)
        self._sight = (branch, cursor, sight)
        return sight.new

    async def cursor(self, lineage: str, bank: str) -> Cursor:
        """What is retained of the lineage for this bank, as far as this process knows."""
        return await self._cursor(lineage, bank)

    async def plan(self, lineage: str, bank: str, branch: Branch, entries: tuple[Entry, ...]) -> Move | None:
        """The cursor's move over these entries, for the job to carry."""
        cursor = await self._cursor(lineage, bank)
        # A turn asks what is new and moves over it at once: of the same branch and cursor nothing else can be seen.
        seen = self._sight
        sight = seen[2] if seen is not None and seen[0] is branch and seen[1] is cursor else None
        return move(cursor, branch, entries, self._prints, sight)

    async def keep(self, lineage: str, bank: str, moved: Move, job: RetainJob | None) -> None:
        """Keep the job durably, and only then count its entries.

        Without a job there was nothing worth keeping: the entries are counted in memory, and looked at once more if
        the process dies before :meth:`close`.

        Raises:
            StoreError: it is not durable, and nothing was counted.
        """
        if job is not None:
            await self._jobs.enqueue(job)
        self._at[lineage, bank] = moved.cursor

    async def enqueue(self, job: RetainJob) -> None:
        """Keep a job that stands for no entries of a session, durably.

        Raises:
            StoreError: it is not durable.
        """
        await self._jobs.enqueue(job)

    async def pass_over(self, lineage: str, bank: str, moved: Move, branch: Branch, entries: tuple[Entry, ...]) -> None:
        """Count entries that are never to be retained; durable on return.

        Raises:
            StoreError: it is not durable, and nothing was counted.
        """
        log = self.queue.covers
        await self._worker.run(lambda _: self._cursors.advance_from(log(lineage)))
        await self._worker.run(lambda _: self._cursors.advance(lineage, bank, branch, entries))
        self._at[lineage, bank] = moved.cursor

    async def run(self, work: Callable[[], T]) -> T:
        """Do blocking work of the folder's parts in the thread that owns the disk."""
        return await self._worker.run(lambda _: work())

    async def ask(self, use: Callable[[DurableQueue], T]) -> T:
        """Use the queue in the thread that owns the disk.

        Raises:
            StoreError: what the queue raises.
        """
        return await self._worker.run(lambda _: use(self.queue))

    def file(self, name: str, *, version: int = 1) -> StateFile:
        """A sealed file of the folder, for what has no form of its own here; use it with :meth:`run`."""
        return StateFile(self._state.layer, self._state.file(name), self._key, version)

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[Hold]:
        """Be the only process that does the work of this name, for as long as the block lasts.

        Renew what is given now and then, right before something takes effect.

        Raises:
            LockBusyError: another does it.
        """
        lock = Lock(self._state.layer, self._state.file(f"{name}.lock"))
        try:
            with lock.held(0) as hold:
                yield hold
        finally:
            lock.close()

    async def document_key(self, lineage: str, session_id: str, key: str) -> str:
        """The session's document key: the one it was given first, so that a moved file keeps its document."""
        return await self._worker.run(lambda _: self._cursors.document_key(lineage, session_id, key))

    async def take_over(
        self, sid: str, lineage: str, bank: str, recorded: Callable[[], tuple[Branch, RawMessages]]
    ) -> bool:
        """Let the cursor of an older program stand for a session that has none here yet; whether there was one.

        So nothing that program retained is retained again.

        Args:
            sid: the session's id of 16 hex digits, as that program made it.
            lineage: the session's lineage.
            bank: the bank the cursor is for.
            recorded: gives the session's entries, and their ids with the raw JSON of their messages; called in the
                disk's thread, and only where there is such a cursor.
        """

        def work() -> bool:
            old = self._cursors.old_session(sid)
            if old is None:
                return False
            branch, messages = recorded()
            prints = {entry_id: legacy_fingerprint(message) for entry_id, message in messages}
            self._cursors.adopt(lineage, bank, branch, old, prints)
            return True

        return await self.run(work)

    def flusher(self, backend: Backend, policy: FlushPolicy | None = None, *, may_merge: Gate | None = None) -> Flusher:
        """A flusher of this queue into a backend; ``may_merge`` is asked before several jobs become one."""
        return Flusher(
            self.queue, backend, self._worker, policy=policy, receipts=self.receipts, before_enqueue=may_merge
        )

    def last_recall(self, *, root: Path | None = None, named: str | None = None) -> LastRecall:
        """The file of the last recall; see ``place_of`` for where it lies. Use it with :meth:`run`.

        Raises:
            LastRecallPathError: the path is refused.
        """
        return LastRecall(self._state, place_of(self._state.path, root=root, named=named), notify=self._notify)

    async def close(self) -> None:
        """Write down where the cursors stand and let go of all files. Idempotent."""
        await self._worker.close(self._last)

    def _last(self) -> None:
        try:
            self._cursors.advance_from(self.queue.covers())
        finally:
            for part in (self.queue, self._cursors, self.records, self.receipts, self.suppressed):
                part.close()

    async def _cursor(self, lineage: str, bank: str) -> Cursor:
        key = (lineage, bank)
        if key not in self._at:
            self._at[key] = await self._worker.run(lambda _: self._cursors.cursor(lineage, bank))
        return self._at[key]
