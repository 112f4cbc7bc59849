"""Which of the waiting jobs become one. No I/O.

Source: decisions.md, "Durability" (coalescing happens at flush); spec/memory.md section 7.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindbrain.contracts import RetainJob, UpdateMode
from hindbrain.store._flush._policy import FlushPolicy
from hindbrain.store._queue import QueuedJob, may_merge

Group = tuple[QueuedJob, ...]


def candidates(jobs: Sequence[QueuedJob]) -> tuple[QueuedJob, ...]:
    """The jobs that might be merged: appends that were never sent, several to one document."""
    free = [job for job in jobs if not job.is_fixed and job.update_mode is UpdateMode.APPEND]
    lines = [job.line for job in free]
    return tuple(job for job in free if lines.count(job.line) > 1)


def groups(jobs: Sequence[QueuedJob], loaded: Mapping[str, RetainJob], policy: FlushPolicy) -> tuple[Group, ...]:
    """The jobs in the order in which they go out, those together that become one. ``loaded`` holds the candidates.

    Jobs of one document keep their order: only neighbours among them are joined.
    """
    found: list[list[QueuedJob]] = []
    newest: dict[tuple[str, str], list[QueuedJob]] = {}
    for job in jobs:
        group = newest.get(job.line)
        if group is not None and _joins(group, job, loaded, policy):
            group.append(job)
        else:
            newest[job.line] = group = [job]
            found.append(group)
    return tuple(tuple(group) for group in found)


def _joins(group: Sequence[QueuedJob], job: QueuedJob, loaded: Mapping[str, RetainJob], policy: FlushPolicy) -> bool:
    members = [loaded[each.id] for each in group if each.id in loaded]
    newcomer = loaded.get(job.id)
    if newcomer is None or len(members) < len(group) or len(group) >= policy.max_merge:
        return False
    length = sum(len(each.item.content) for each in (*members, newcomer))
    return length <= policy.max_merge_length and may_merge(members[-1], newcomer)
