"""The ledger on the disk: ``hindsight-receipts.json``, read, compared and written under its lock."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TypeVar

from attrs import evolve

from hindbrain.store._files import (
    StateDir,
    StateFileError,
    StateFileTooLargeError,
    atomic_replace,
    disk_errors,
    read_file,
    remove_leftovers,
)
from hindbrain.store._ledger._codec import FormError, decode, encode
from hindbrain.store._ledger._errors import (
    LedgerConflictError,
    LedgerFullError,
    LedgerTransitionError,
    LedgerUnreadableError,
)
from hindbrain.store._ledger._key import Document, Target
from hindbrain.store._ledger._ledger import Ledger
from hindbrain.store._ledger._receipt import Receipt, moved, new_receipt
from hindbrain.store._ledger._state import Event, State
from hindbrain.store._lock import Lock, LockBusyError, Owner

NAME = "hindsight-receipts.json"
LIMIT = 64 << 20

T = TypeVar("T")
Change = Callable[[Ledger], tuple[Ledger, T]]

_SEED_OWNER = re.compile(rb"([0-9]{1,10}):[0-9a-f]{16}\s*")


class FactLedger:
    """The receipts of confirmed facts, shared with every other process, and with the seed's tool where it runs.

    Reading takes no lock. A write takes it with ``wait`` seconds of patience: none by default, as the seed has it. All
    times are epoch milliseconds that the caller gives. Blocking: use it from the store's thread.

    Every method may raise LedgerUnreadableError; those that write LockBusyError, or StoreError where the disk refused.
    The file is then as it was, byte for byte, except where only its last sync failed: then the new state may be there,
    and is found at the next reading.

    Source: spec/facts.md section 4; decisions.md, "Durability"; seed 002, "Receipts".
    """

    def __init__(self, state: StateDir, *, lock: Lock | None = None, wait: float = 0.0) -> None:
        self._state = state
        self._layer = state.layer
        self._wait = wait
        self._lock = lock or Lock(state.layer, state.file(f"{NAME}.lock"))
        self.path = state.file(NAME)

    def read(self) -> Ledger:
        """All receipts as they are on the disk now; none where there is no file."""
        try:
            data = read_file(self._layer, self.path, LIMIT)
            return Ledger() if data is None else decode(data)
        except StateFileTooLargeError as error:
            raise LedgerUnreadableError(self.path, f"larger than {LIMIT} bytes") from error
        except StateFileError as error:
            raise LedgerUnreadableError(self.path, "no plain file of this user") from error
        except OSError as error:
            raise LedgerUnreadableError(self.path, "the disk refused") from error
        except FormError as error:
            raise LedgerUnreadableError(self.path, str(error)) from error

    def get(self, key: str) -> Receipt | None:
        """The receipt under a key, or None."""
        return self.read().get(key)

    def insert(
        self, document: Document, *, revision: str, operation_id: str, kind: str, title: str, now: int
    ) -> Receipt:
        """Record that a save is about to be sent, durably: send only when this returns. ``title`` is cut to 200.

        Raises:
            LedgerConflictError: there is a receipt under this key; another process saves the same.
            LedgerFullError: all slots are taken by open receipts.
        """

        def added(ledger: Ledger) -> tuple[Ledger, Receipt]:
            receipt = new_receipt(
                document,
                revision=revision,
                operation_id=operation_id,
                kind=kind,
                title=title,
                now=now,
                newest=ledger.newest(document),
            )
            there = ledger.get(receipt.key)
            if there is not None:
                raise LedgerConflictError(there.state)
            after = ledger.with_new(receipt)
            if after is None:
                raise LedgerFullError(self.path)
            return after, receipt

        return self._change(added)

    def update(
        self,
        key: str,
        expected: State | Collection[State],
        event: Event,
        now: int,
        *,
        detail: str | None = None,
        server_operation_id: str | None = None,
    ) -> Receipt:
        """Let an event happen to a receipt that is in an expected state; durable on return.

        ``detail`` is short and free of secrets; it is scrubbed and cut to 200 characters.

        Raises:
            LedgerConflictError: it is not there, or in another state: another process was first.
            LedgerTransitionError: the table does not allow it.
        """
        states = {expected} if isinstance(expected, State) else set(expected)

        def changed(ledger: Ledger) -> tuple[Ledger, Receipt]:
            receipt = ledger.get(key)
            if receipt is None or receipt.state not in states:
                raise LedgerConflictError(receipt.state if receipt else None)
            newest = ledger.newest(receipt.document)
            after = moved(receipt, event, now, detail=detail, server_operation_id=server_operation_id, newest=newest)
            if after is None:
                raise LedgerTransitionError(receipt.state, event)
            return ledger.with_changed([after]), after

        return self._change(changed)

    def stamp_deleted(self, checked: Iterable[Receipt], now: int, detail: str | None = None) -> tuple[Receipt, ...]:
        """Record that a document was deleted, on the receipts that were checked before: those and no other.

        One that changed since it was checked is left alone, so a save that lands meanwhile stays open. Returns those
        that were stamped.

        Source: seed 002, "Resolve safety"; decisions.md, "Durability".
        """
        seen = {receipt.key: receipt for receipt in checked}

        def stamped(ledger: Ledger) -> tuple[Ledger, tuple[Receipt, ...]]:
            same = (receipt for receipt in ledger.receipts if _is_same(receipt, seen.get(receipt.key)))
            after = [moved(receipt, Event.DELETED, now, detail=detail) for receipt in same]
            done = tuple(receipt for receipt in after if receipt is not None)
            return ledger.with_changed(done), done

        return self._change(stamped)

    def drain_foreign(self, target: Target, now: int) -> tuple[Receipt, ...]:
        """Fail the open receipts of other servers and banks after 24 hours, without asking anyone. Returns those.

        Source: seed 002, "Receipts".
        """
        ledger = self.read()
        if not ledger.foreign(target, now) and not ledger.from_the_future(target, now):
            return ()

        def drained(ledger: Ledger) -> tuple[Ledger, tuple[Receipt, ...]]:
            after = [moved(receipt, Event.ABANDONED, now) for receipt in ledger.foreign(target, now)]
            done = tuple(receipt for receipt in after if receipt is not None)
            begun = [evolve(receipt, updated_at=now) for receipt in ledger.from_the_future(target, now)]
            return ledger.with_changed([*done, *begun]), done

        return self._change(drained)

    def close(self) -> None:
        """Give the lock's descriptor back."""
        self._lock.close()

    def _change(self, change: Change[T]) -> T:
        with self._alone():
            before = self.read()
            after, result = change(before)
            if after != before:
                remove_leftovers(self._layer, self.path)
                atomic_replace(self._layer, self.path, encode(after))
            return result

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with disk_errors(self.path):
            # Whoever made the folder wider meanwhile: it is 0700 at every write.
            StateDir.open(self._layer, self._state.path)
            self._respect_seed_lock()
            with self._lock.held(self._wait):
                yield

    def _respect_seed_lock(self) -> None:
        """Refuse while the seed's tool holds its lock, alive or not: it knows no OS lock, and nobody removes its own.

        Source: seed 002, "Resolve safety"; spec/facts.md F14 and F32.
        """
        with suppress(StateFileTooLargeError, NotADirectoryError):
            found = _SEED_OWNER.fullmatch(read_file(self._layer, self._lock.folder / "owner", 4096) or b"")
            if found is not None:
                unknown = datetime.fromtimestamp(0, UTC)
                raise LockBusyError(self._lock.folder, Owner(int(found[1]), "this machine", unknown, ""))


def _is_same(receipt: Receipt, seen: Receipt | None) -> bool:
    return seen is not None and (receipt.state, receipt.sent_at) == (seen.state, seen.sent_at)
