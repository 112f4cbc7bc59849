"""What a case works with: a backend, fresh banks, and waiting that knows a server takes its time."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from hindbrain.contracts._backend import Backend
from hindbrain.contracts._values import Fact, FactType, Operation, OperationStatus, Recall, RecallQuery, RetainItem

_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25
RAW = (FactType.WORLD, FactType.EXPERIENCE)
"""What was retained itself, without the observations drawn from it."""


class ConformanceFailure(AssertionError):  # noqa: N818 - a failed check is reported as test frameworks report one
    """A backend broke the rule of a case; the message says how."""


async def fresh_bank() -> str:
    """Name a bank that nobody used before."""
    return f"conformance-{uuid.uuid4().hex[:16]}"


class Context:
    """The means of one case.

    Args:
        backend: the backend under test, fresh for each case.
        new_bank: names an unused bank; give one that cleans up where banks cost something.
        deadline: seconds one case may take in all.
    """

    def __init__(
        self, backend: Backend, *, new_bank: Callable[[], Awaitable[str]] = fresh_bank, deadline: float = 30.0
    ) -> None:
        self.backend = backend
        self.new_bank = new_bank
        self.deadline = deadline
        self.waiting_for = "the backend"
        self._run = uuid.uuid4()
        self._operations = 0

    def operation_id(self) -> str:
        """Give an operation id that no other call gave."""
        self._operations += 1
        return str(uuid.uuid5(self._run, str(self._operations)))

    async def retain(self, bank: str, content: str, *, document_id: str = "doc", **fields: Any) -> str:
        """Post one text under an operation id of its own and return that id."""
        operation_id = self.operation_id()
        item = RetainItem(content=content, document_id=document_id, **fields)
        await self.backend.retain(bank, item, operation_id=operation_id)
        return operation_id

    async def settle(self, bank: str, operation_id: str) -> Operation:
        """Wait until the operation is terminal; anything but completed is a failure."""
        self.waiting_for = "an operation to complete"
        pause = _FIRST_PAUSE
        while not (operation := await self.backend.status(bank, operation_id)).status.terminal:
            pause = await _rest(pause)
        if operation.status is not OperationStatus.COMPLETED:
            raise ConformanceFailure(f"a retain ended as {operation.status.value} instead of completed")
        return operation

    async def retain_and_settle(self, bank: str, content: str, **fields: Any) -> Operation:
        """Post one text and wait until it is completed."""
        return await self.settle(bank, await self.retain(bank, content, **fields))

    async def ask(self, bank: str, text: str, **fields: Any) -> Recall:
        """Recall once."""
        return await self.backend.recall(bank, RecallQuery(text=text, **fields))

    async def find(self, bank: str, text: str, words: Iterable[str], **fields: Any) -> Recall:
        """Recall until each of the words is in the text of some fact; a server may draw observations a little late."""
        wanted = frozenset(words)
        self.waiting_for = f"a recall to find {', '.join(sorted(wanted))}"
        pause = _FIRST_PAUSE
        while wanted - named(recall := await self.ask(bank, text, **fields), wanted):
            pause = await _rest(pause)
        return recall

    async def miss(self, bank: str, text: str, words: Iterable[str], **fields: Any) -> None:
        """Recall once; none of the words may be in the text of a fact."""
        found = named(await self.ask(bank, text, **fields), words)
        if found:
            raise ConformanceFailure(f"a recall found {', '.join(sorted(found))}, which it must not")


def named(recall: Recall, words: Iterable[str]) -> frozenset[str]:
    """Those of the words that the text of some fact holds."""
    return frozenset(word for word in words if any(says(fact, word) for fact in recall.facts))


def says(fact: Fact, word: str) -> bool:
    """Whether the fact's text holds the word, whatever its case."""
    return word.casefold() in fact.text.casefold()


async def _rest(pause: float) -> float:
    await asyncio.sleep(pause)
    return min(pause * 1.5, _LONGEST_PAUSE)
