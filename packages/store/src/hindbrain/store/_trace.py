"""From a document back to the jobs and the session it was made of, as far as a state folder still knows."""

from __future__ import annotations

from attrs import frozen

from hindbrain.store._cursors import Book
from hindbrain.store._queue import DeadLetter, DurableQueue, Head, QueuedJob
from hindbrain.store._receipts import RetainReceipt, RetainReceipts


@frozen(kw_only=True)
class DocumentTrace:
    """What is known of one document of one bank.

    Attributes:
        jobs: its jobs that are still in the queue's log, sent or not, oldest first; each may name the range it covers.
        waiting: what of it is still to be sent; several jobs may be one by now.
        dead: its jobs that were given up.
        receipt: of its newest job that a backend took; None where no receipt is kept any more.
        session_id: of the session whose key the id names; None where no session here has it.
        lineage: the root of that session's chain of forks, known from its jobs, too.
    """

    jobs: tuple[Head, ...] = ()
    waiting: tuple[QueuedJob, ...] = ()
    dead: tuple[DeadLetter, ...] = ()
    receipt: RetainReceipt | None = None
    session_id: str | None = None
    lineage: str | None = None


def trace_of(queue: DurableQueue, book: Book, receipts: RetainReceipts, bank: str, document_id: str) -> DocumentTrace:
    """Look a document up in the parts of a state folder.

    Args:
        queue: its retain queue.
        book: all its cursors.
        receipts: its receipts.
        bank: the document's bank.
        document_id: the document; that of a session is ``pi-session:`` and the session's key.

    Raises:
        StoreError: the disk refused.
    """
    jobs = queue.jobs_of(bank, document_id)
    lineage, session_id = _session(book, document_id)
    return DocumentTrace(
        jobs=jobs,
        waiting=tuple(job for job in queue.waiting() if job.line == (bank, document_id)),
        dead=tuple(letter for letter in queue.dead() if (letter.bank, letter.document_id) == (bank, document_id)),
        receipt=receipts.latest(bank, document_id),
        session_id=session_id,
        lineage=lineage or next((job.covers.lineage for job in jobs if job.covers is not None), None),
    )


def _session(book: Book, document_id: str) -> tuple[str | None, str | None]:
    """The lineage and the session whose key is in the document's id."""
    parts = document_id.split(":")
    for lineage, known in book.lineages.items():
        for session_id, own in known.documents.items():
            if own in parts:
                return lineage, session_id
    return None, None
