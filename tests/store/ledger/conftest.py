"""The golden fact, receipts of it in every state, and a state folder for the ledger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from attrs import evolve

from hindbrain.store._files import OsFileLayer, StateDir
from hindbrain.store._ledger import Document, FactLedger, Ledger, Receipt, State, encode, new_receipt

Made: TypeAlias = Callable[..., Receipt]
Put: TypeAlias = Callable[..., None]

GOLDEN = Document(
    base_url="https://h.example.com",
    bank_id="bank-a",
    project_id="proj-926574b4279e",
    document_id="psc-cg-ee4e7fc0c92e36603c2c2ea1",
)
OPERATION = "93e33487-6c92-5880-9b29-dc86689d9c26"


def _made(
    revision: str = "7118d32517ce0216", *, document: str | None = None, at: int = 1_000, **fields: Any
) -> Receipt:
    place = GOLDEN if document is None else evolve(GOLDEN, document_id=document)
    place = evolve(place, **{name: fields.pop(name) for name in ("base_url", "bank_id") if name in fields})
    receipt = new_receipt(
        place, revision=revision, operation_id=OPERATION, kind="decision", title="Tag scoping", now=at
    )
    return evolve(receipt, **fields)


def _many(count: int, state: State, *, first: int = 1) -> tuple[Receipt, ...]:
    """So many receipts, each of a document of its own, changed at ``first``, ``first + 1``, …"""
    return tuple(_made(document=f"d{n}", at=n, state=state) for n in range(first, first + count))


@pytest.fixture
def golden() -> Document:
    return GOLDEN


@pytest.fixture
def made() -> Made:
    """A receipt of the golden fact: ``made(state=State.UNKNOWN, at=5)``, or of another ``document``."""
    return _made


@pytest.fixture
def many() -> Callable[..., tuple[Receipt, ...]]:
    """Receipts of many documents: ``many(500, State.FAILED)``."""
    return _many


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir.open(OsFileLayer(), tmp_path / "cache" / "smart-compact")


@pytest.fixture
def ledger(state: StateDir) -> FactLedger:
    return FactLedger(state)


@pytest.fixture
def put(ledger: FactLedger) -> Put:
    """Let the file hold these receipts: ``put(receipt, receipt)``."""

    def write(*receipts: Receipt) -> None:
        ledger.path.write_bytes(encode(Ledger(receipts)))

    return write
