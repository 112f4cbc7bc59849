"""``hindbrain receipts`` and ``hindbrain status``: what became of retains, in numbers only."""

from __future__ import annotations

from typing import Any

import attrs

from hindbrain.generic._cli._run import Options, run
from hindbrain.generic._cli._state import with_view
from hindbrain.generic._envelope import Envelope
from hindbrain.store import QueueCounts, RetainOutcome, StateView


def _numbers(outcome: RetainOutcome | None) -> dict[str, int | None]:
    return attrs.asdict(outcome if outcome is not None else RetainOutcome())


def receipts(options: Options, host: str, state_dir: str | None) -> None:
    """List the newest retain of each document, newest first, and their sums."""

    def ask(view: StateView | None) -> Envelope:
        found = () if view is None else view.receipts.all()
        totals = _numbers(None if view is None else view.receipts.totals())
        rows: list[dict[str, Any]] = [
            {
                "created_at": each.created_at,
                "bank": each.bank,
                "document_id": each.document_id,
                "update_mode": each.update_mode.value,
                "source": each.source.value,
                **_numbers(each.outcome),
            }
            for each in found
        ]
        lines = [
            f"{row['created_at']}  {row['document_id']}  items {row['items']}  tokens {row['tokens']}" for row in rows
        ]
        text = "\n".join(lines) or "(nothing was sent yet)"
        return Envelope(command="receipts", data={"receipts": rows, "totals": totals}, text=text)

    run("receipts", options, lambda settings: with_view(settings, host, state_dir, ask))


def overview(options: Options, host: str, state_dir: str | None) -> None:
    """Say what waits, and what the newest retains came to."""

    def ask(view: StateView | None) -> Envelope:
        queue = attrs.asdict(QueueCounts() if view is None else view.queue.counts())
        documents = 0 if view is None else len(view.receipts.all())
        outcome = None if view is None else view.receipts.totals()
        lines = [f"{name:12s} {value}" for name, value in queue.items() if value is not None]
        lines.append(f"{'documents':12s} {documents}")
        if outcome is not None:
            lines += [f"{name:12s} {value}" for name, value in _numbers(outcome).items() if value is not None]
        data = {"queue": queue, "documents": documents, "outcome": None if outcome is None else _numbers(outcome)}
        return Envelope(command="status", data=data, text="\n".join(lines))

    run("status", options, lambda settings: with_view(settings, host, state_dir, ask))
