"""A backend that remembers what it took, and takes each operation once."""

from __future__ import annotations

from attrs import define, field

from hindbrain.contracts import Deleted, Operation, OperationStatus, Recall, RecallQuery, Retained, RetainItem


@define
class Memory:
    """``took`` holds operation id and content, in order; ``asked`` every retain that arrived."""

    took: list[tuple[str, str]] = field(factory=list)
    asked: list[str] = field(factory=list)

    async def retain(self, bank: str, item: RetainItem, *, operation_id: str) -> Retained:  # noqa: ARG002 - the port's
        self.asked.append(operation_id)
        if all(operation_id != known for known, _ in self.took):
            self.took.append((operation_id, item.content))
        return Retained(operation_id=operation_id)

    async def status(self, bank: str, operation_id: str) -> Operation:  # noqa: ARG002 - the port's
        known = any(operation_id == each for each, _ in self.took)
        return Operation(
            operation_id=operation_id, status=OperationStatus.COMPLETED if known else OperationStatus.NOT_FOUND
        )

    async def recall(self, bank: str, query: RecallQuery) -> Recall:
        raise NotImplementedError

    async def delete(self, bank: str, document_id: str) -> Deleted:
        raise NotImplementedError

    async def close(self) -> None:
        pass
