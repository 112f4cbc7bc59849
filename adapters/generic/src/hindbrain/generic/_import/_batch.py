"""What an import makes durable together."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, evolve, field

from hindbrain.contracts import RetainJob
from hindbrain.generic._import._ledger import ImportLedger
from hindbrain.generic._import._record import PENDING, QUEUED, FileRecord, Imported
from hindbrain.store import HostState

MOST_BYTES = 1 << 20
MOST_JOBS = 64
MOST_FILES = 512


@define
class Batch:
    """Jobs, and what is known once they are in the queue: documents by id, files by path. All of one place."""

    jobs: list[RetainJob] = field(factory=list)
    documents: list[tuple[str, Imported]] = field(factory=list)
    files: list[tuple[str, FileRecord]] = field(factory=list)

    @property
    def is_full(self) -> bool:
        """Whether it is worth a write."""
        size = sum(len(job.item.content) for job in self.jobs)
        return size >= MOST_BYTES or len(self.jobs) >= MOST_JOBS or len(self.files) >= MOST_FILES

    async def commit(self, state: HostState, ledger: ImportLedger, place: str, before: Callable[[], None]) -> None:
        """Queue the jobs with one write and one sync, and only then count them as imported; then it is empty.

        That they are about to be queued is written down first: of a process that is killed in between nobody could tell
        else who brought what the cursors then know.

        Args:
            state: where the queue is.
            ledger: what is known of imports.
            place: where the documents go.
            before: called right before the write, to say that this process is alive.

        Raises:
            StoreError: it is not durable.
        """
        jobs, documents, files = self.jobs, self.documents, self.files
        if not (jobs or documents or files):
            return
        self.jobs, self.documents, self.files = [], [], []
        before()
        if jobs:
            for name, imported in documents:
                if imported.status == QUEUED:
                    ledger.put(place, name, evolve(imported, status=PENDING))
            await state.run(ledger.save)
            await state.ask(lambda queue: queue.append_many(jobs))
        for name, imported in documents:
            ledger.put(place, name, imported)
        for path, record in files:
            ledger.put_file(path, record)
        await state.run(ledger.save)
