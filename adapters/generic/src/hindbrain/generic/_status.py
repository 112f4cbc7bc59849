"""What memory is doing, for a host's footer."""

from __future__ import annotations

from enum import StrEnum

from hindbrain.generic._patch import ContextPatch


class MemoryStatus(StrEnum):
    """What automatic recall came to last. Source: spec/memory.md section 3.1."""

    IDLE = "idle"
    """Nothing was asked: not yet, not wanted, or given up by the user."""
    RECALLING = "recalling"
    RECALLED = "recalled"
    EMPTY = "recall-empty"
    FAILED = "recall-failed"
    WAITING = "backing-off"
    """After an outage some turns are not asked about."""


_SKIPS = {"recall-failed": MemoryStatus.FAILED, "error": MemoryStatus.FAILED, "backing-off": MemoryStatus.WAITING}


def status_of(patch: ContextPatch) -> MemoryStatus:
    """The status after a patch."""
    if patch.skipped is not None:
        return _SKIPS.get(patch.skipped, MemoryStatus.IDLE)
    if patch.text:
        return MemoryStatus.RECALLED
    return MemoryStatus.FAILED if patch.outcome.failures else MemoryStatus.EMPTY
