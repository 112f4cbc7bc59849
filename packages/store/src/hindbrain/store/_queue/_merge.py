"""Making one job of several for the same document. No I/O.

Source: decisions.md, "Durability" (coalescing); spec/memory.md section 7.5.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve

from hindbrain.contracts import Coverage, RetainJob, UpdateMode
from hindbrain.store._queue._line import derived_id
from hindbrain.store._queue._record import Merge


def merge_of(members: Sequence[tuple[str, str]]) -> Merge:
    """The merge of these jobs, each as its id and its operation id: the same members give the same merge."""
    ids = tuple(each for each, _ in members)
    operation = derived_id("merged operation", *(each for _, each in members))
    return Merge(derived_id("merge", *ids), operation, ids)


def may_merge(one: RetainJob, other: RetainJob) -> bool:
    """Whether the later job may be appended to the earlier without changing what the server makes of either."""
    a, b = one.item, other.item
    return (
        one.bank == other.bank
        and a.document_id == b.document_id
        and a.update_mode is b.update_mode is UpdateMode.APPEND
        and a.observation_scopes == b.observation_scopes
        and a.strategy == b.strategy
    )


def candidate(jobs: Sequence[RetainJob]) -> RetainJob:
    """What these jobs would become."""
    merge = merge_of([(job.id, job.operation_id) for job in jobs])
    return merged(jobs, merge.id, merge.operation_id)


def merged(jobs: Sequence[RetainJob], merge_id: str, operation_id: str) -> RetainJob:
    """One job with the content of all: id and operation id as given, the oldest's time, the newest's other fields.

    JSON arrays become one array, anything else is joined by a line break. Tags are those of all, in order.
    """
    newest = jobs[-1].item
    item = evolve(
        newest,
        content=_content([job.item.content for job in jobs]),
        tags=tuple(dict.fromkeys(tag for job in jobs for tag in job.item.tags)),
    )
    return RetainJob(
        id=merge_id,
        bank=jobs[0].bank,
        item=item,
        operation_id=operation_id,
        created_at=jobs[0].created_at,
        covers=_covers([job.covers for job in jobs]),
    )


def _content(texts: Sequence[str]) -> str:
    arrays = [_array(text) for text in texts]
    if any(array is None for array in arrays):
        return "\n".join(texts)
    whole = [each for array in arrays for each in array or ()]
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def _array(text: str) -> list[object] | None:
    if not text.lstrip().startswith("["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _covers(parts: Sequence[Coverage | None]) -> Coverage | None:
    """The range of all, where each part follows the one before; None where they cannot be one range."""
    ranges = [part for part in parts if part is not None]
    follows = all((a.lineage, a.bank, a.last_id) == (b.lineage, b.bank, b.after_id) for a, b in pairwise(ranges))
    if not ranges or len(ranges) < len(parts) or not follows:
        return None
    tail = tuple(each for part in ranges for each in part.tail)
    return evolve(ranges[-1], first_id=ranges[0].first_id, after_id=ranges[0].after_id, tail=tail[-200:])
