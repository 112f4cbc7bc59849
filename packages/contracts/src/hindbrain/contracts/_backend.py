"""The four verbs: the only things the rest of hindbrain may ask of a memory."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from hindbrain.contracts._values import Deleted, Operation, Recall, RecallQuery, Retained, RetainItem


@runtime_checkable
class Backend(Protocol):
    """A memory. Implemented by the Hindsight client, the embedded store and the in-memory backend.

    Every method checks its ids first and raises :class:`~hindbrain.contracts.BackendRequestError` before anything is
    sent or stored; everything else it raises is a :class:`~hindbrain.contracts.BackendError`. Cancelling the caller
    cancels the work.
    """

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:
        """Accept one text for a bank, which comes to be if it does not exist.

        The same ``operation_id`` in the same bank is the same operation, whatever the item then says: nothing new is
        done. An id that another bank used is refused.
        """
        ...

    async def status(self, bank: str, operation_id: str) -> Operation:
        """Say where a retain stands. An id this bank does not know is ``not_found``, not an error."""
        ...

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        """Find facts, best first. A bank that does not exist, or a query without a word, finds nothing."""
        ...

    async def delete(self, bank: str, document_id: str) -> Deleted:
        """Delete one document and its facts; deleting it again finds nothing."""
        ...

    async def close(self) -> None:
        """Let go of connections and files. Idempotent; the four verbs fail afterwards."""
        ...
