"""The retain receipts on the disk: ``retain-receipts.json`` in the state folder."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from hindbrain.store._files import (
    StateDir,
    StateFileError,
    StateFileTooLargeError,
    atomic_replace,
    disk_errors,
    quarantine,
    read_file,
    remove_leftovers,
)
from hindbrain.store._flush import Delivery
from hindbrain.store._lock import Lock
from hindbrain.store._receipts._codec import decode, encode
from hindbrain.store._receipts._outcome import RetainOutcome, total
from hindbrain.store._receipts._receipt import RetainReceipt, find, record, source_of

NAME = "retain-receipts.json"
LIMIT = 4 << 20


def _now() -> datetime:
    return datetime.now(UTC)


class RetainReceipts:
    """What became of the newest retains of one project, shared with every other process.

    They tell, nothing rests on them: a file that cannot be read is empty, is put aside at the next ``keep``, and
    ``notify`` is told so once, in a sentence. Blocking: use it from the store's thread.

    Source: spec/memory.md section 8; seed 000, paragraph on retain outcomes.
    """

    def __init__(
        self,
        state: StateDir,
        *,
        notify: Callable[[str], None] = lambda _: None,
        now: Callable[[], datetime] = _now,
        wait: float = 5.0,
    ) -> None:
        self._layer = state.layer
        self._path = state.file(NAME)
        self._lock = Lock(state.layer, state.file(f"{NAME}.lock"))
        self._notify = notify
        self._now = now
        self._wait = wait
        self._told = False

    def record(self, delivery: Delivery) -> None:
        """Keep the receipt of a job from the queue: so this is what a ``Flusher`` notes its deliveries in.

        Raises:
            LockBusyError, StoreError: as ``keep``.
        """
        self.keep(RetainReceipt.of(delivery, source_of(delivery)))

    def keep(self, *receipts: RetainReceipt) -> None:
        """Keep these, the newest last, each in place of the older one of its document; durable on return.

        Raises:
            LockBusyError: another process did not let go in time. The receipts are as they were.
            StoreError: the disk refused. The receipts are as they were.
        """
        with self._lock.light(self._wait), disk_errors(self._path):
            known = self._read()
            if known is None:
                quarantine(self._layer, self._path, self._now())
            kept = known or ()
            for receipt in receipts:
                kept = record(kept, receipt)
            remove_leftovers(self._layer, self._path)
            atomic_replace(self._layer, self._path, encode(kept))
        self._told = False

    def all(self) -> tuple[RetainReceipt, ...]:
        """The newest retains, newest first.

        Raises:
            StoreError: the disk refused.
        """
        with disk_errors(self._path):
            return self._read() or ()

    def latest(self, bank: str, document_id: str) -> RetainReceipt | None:
        """The newest retain of a document, or None where none is known.

        Raises:
            StoreError: the disk refused.
        """
        return find(self.all(), bank, document_id)

    def totals(self) -> RetainOutcome | None:
        """The numbers of all receipts that are kept, added up; None where no backend told any.

        Raises:
            StoreError: the disk refused.
        """
        return total(receipt.outcome for receipt in self.all())

    def close(self) -> None:
        """Give the lock's descriptor back."""
        self._lock.close()

    def _read(self) -> tuple[RetainReceipt, ...] | None:
        """The receipts on the disk, or None where what lies there is not their file."""
        try:
            data = read_file(self._layer, self._path, LIMIT)
        except (StateFileError, StateFileTooLargeError):
            found = None
        else:
            found = () if data is None else decode(data)
        if found is None and not self._told:
            self._told = True
            self._notify(f"{NAME} could not be read; the results of earlier retains are not shown. It is kept aside.")
        return found
