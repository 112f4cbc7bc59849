"""From a document back to the jobs and the session it was made of, as far as a state folder still knows."""

from __future__ import annotations

from attrs import frozen

from hindbrain.contracts import Coverage
from hindbrain.store._cursors import Book
from hindbrain.store._queue import DeadLetter, DurableQueue, QueuedJob
from hindbrain.store._receipts import RetainReceipt, RetainReceipts


@frozen(kw_only=True)
class DocumentTrace:
    """What is known of one document of one bank.

    Attributes:
        waiting: its jobs that are still to be sent.
        dead: its jobs that were given up.
        receipt: of its newest job that a backend took; None where no receipt is kept any more.
        session_id: of the session whose key the id names; None where no session here has it.
        lineage: the root of that session's chain of forks.
        ranges: what of that lineage was retained for the bank, as far as the queue's log goes back, oldest first.
    """

    waiting: tuple[QueuedJob, ...] = ()
    dead: tuple[DeadLetter, ...] = ()
    receipt: RetainReceipt | None = None
    session_id: str | None = None
    lineage: str | None = None
    ranges: tuple[Coverage, ...] = ()


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
    lineage, session_id = _session(book, document_id)
    ranges = () if lineage is None else tuple(each for each in queue.covers(lineage) if each.bank == bank)
    return DocumentTrace(
        waiting=tuple(job for job in queue.waiting() if job.line == (bank, document_id)),
        dead=tuple(letter for letter in queue.dead() if (letter.bank, letter.document_id) == (bank, document_id)),
        receipt=receipts.latest(bank, document_id),
        session_id=session_id,
        lineage=lineage,
        ranges=ranges,
    )


def _session(book: Book, document_id: str) -> tuple[str | None, str | None]:
    """The lineage and the session whose key is in the document's id."""
    parts = document_id.split(":")
    for lineage, known in book.lineages.items():
        for session_id, own in known.documents.items():
            if own in parts:
                return lineage, session_id
    return None, None
