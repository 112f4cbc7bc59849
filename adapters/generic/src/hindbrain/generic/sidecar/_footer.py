"""What the host's footer says of memory, in a few words; None clears it."""

from __future__ import annotations

from hindbrain.generic._patch import ContextPatch
from hindbrain.generic._settled import SettledTurn

_AWAY = {"recall-failed", "backing-off"}


def found(patch: ContextPatch) -> str | None:
    """After a recall."""
    if patch.skipped in _AWAY:
        return "offline"
    if patch.skipped == "error":
        return "failed"
    items = len(patch.outcome.block.items)
    return f"recalled {items}" if patch.text and items else None


def kept(turn: SettledTurn) -> str | None:
    """After a turn was kept, and before it is sent."""
    if turn.skipped == "error":
        return "failed"
    return "queued" if turn.jobs else None
