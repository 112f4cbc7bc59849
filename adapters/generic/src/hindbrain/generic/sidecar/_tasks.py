"""What a host's todo list says, as its entries spell it: omp's own, and that of an extension many use with pi.

Source: spec/omp-host.md section 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hindbrain.contracts import TaskState, neutralise

_OPEN = frozenset({"pending", "in_progress", "blocked"})
_SHAPES = ("phases", "tasks")


def tasks_of(entries: Sequence[object]) -> TaskState:
    """The open tasks of the newest entry that shows a list; not available where none does.

    Args:
        entries: raw entries, oldest first.
    """
    for entry in reversed(entries):
        shown = _shown(entry)
        if shown is not None:
            return TaskState(available=True, open_tasks=tuple(_open(shown)))
    return TaskState(available=False)


def _shown(entry: object) -> Mapping[str, Any] | None:
    """The list that an entry shows: in the details of a tool's result, or in the data of a custom entry."""
    if not isinstance(entry, Mapping):
        return None
    message = entry.get("message")
    found = message.get("details") if isinstance(message, Mapping) else entry.get("data")
    if isinstance(message, Mapping) and message.get("isError") is True:
        return None
    if not isinstance(found, Mapping):
        return None
    return found if any(isinstance(found.get(shape), list) for shape in _SHAPES) else None


def _open(shown: Mapping[str, Any]) -> Iterator[str]:
    phases = shown.get("phases")
    lists = [each.get("tasks") for each in phases if isinstance(each, Mapping)] if isinstance(phases, list) else []
    for tasks in lists or [shown.get("tasks")]:
        for task in tasks if isinstance(tasks, list) else ():
            if isinstance(task, Mapping) and task.get("status") in _OPEN:
                words = task.get("content") or task.get("subject")
                if isinstance(words, str) and (line := neutralise(words)):
                    yield line
