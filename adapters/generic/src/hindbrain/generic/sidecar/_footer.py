"""What the host's footer says of memory, in a few words; None clears it."""

from __future__ import annotations

from hindbrain.generic._patch import ContextPatch
from hindbrain.generic._settled import SettledTurn


def found(patch: ContextPatch) -> str | None:
    """After a recall."""
    if patch.skipped in {"recall-failed", "error", "backing-off"}:
        away = patch.skipped == "backing-off" or any(each.outage for each in patch.outcome.failures)
        return "offline" if away else "failed"
    items = len(patch.outcome.block.items)
    return f"recalled {items}" if patch.text and items else None


def kept(turn: SettledTurn) -> str | None:
    """After a turn was kept, and before it is sent."""
    if turn.skipped == "error":
        return "failed"
    return "queued" if turn.jobs else None
