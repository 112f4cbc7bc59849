"""What the workers ask of their surroundings: a ledger to read and to write, and a model."""

from __future__ import annotations

from typing import Protocol

from attrs import frozen

from hindbrain.contracts import Model
from hindbrain.observe._encode import Append
from hindbrain.observe._index import LedgerIndex


class Ledger(Protocol):
    """The ledger of the session that a run works for."""

    async def index(self) -> LedgerIndex:
        """The branch as it stands now. It may be the same object each time, and change when the session does."""
        ...

    async def append(self, append: Append, *, expect_ancestor: str) -> None:
        """Append an entry to the branch.

        Raises:
            BranchMovedError: ``expect_ancestor`` is not on the present branch; nothing was appended.
        """
        ...


@frozen(kw_only=True)
class WorkerModel:
    """A model for the workers. ``window`` and ``max_tokens`` are its own limits, None where nobody knows them."""

    model: Model
    window: int | None = None
    max_tokens: int | None = None
    name: str = ""


class ModelSource(Protocol):
    """Where the workers' model comes from."""

    async def resolve(self) -> WorkerModel | None:
        """The model of the next run; None where there is none, and then the user has been told."""
        ...
